"""The data sets: where they lie, where they come from, and a reader for each format."""
