"""Pure functions from similarities or predictions to a loss: no modules, no state, no ranks."""
