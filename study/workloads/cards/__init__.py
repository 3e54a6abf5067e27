"""The cards of the workloads that come with the package, a file a family."""
