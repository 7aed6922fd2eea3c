"""Pure functions on arrays: geometry, colour, blur; nothing here knows torch modules."""
