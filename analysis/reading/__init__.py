"""Trial runs out of an MLflow store: by its public API, by SQL where that is quicker, and from a cache."""
