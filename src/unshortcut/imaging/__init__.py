"""Pure functions on arrays: geometry, color, blur; nothing here knows torch modules."""
