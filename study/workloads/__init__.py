"""The studied tasks: what each one trains on, with which model, loss, metric and optimizer."""
