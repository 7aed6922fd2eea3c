"""Training: from a recipe to a trained, exported encoder, with exact resuming."""
