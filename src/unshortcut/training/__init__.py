"""From a recipe to a trained, exported encoder; exact resume."""
