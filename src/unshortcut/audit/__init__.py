"""What a model relies on: one file a measurement."""
