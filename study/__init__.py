"""From a study file to results in MLflow: spec -> plan -> sweep -> trial -> tracking."""
