"""Pure functions on images: geometry, color, filters, textures and corruptions."""
