"""Named views of an image: the transforms that make them, and the plan that combines them."""
