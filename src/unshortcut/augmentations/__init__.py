"""Augmentations, one per file; `discovery` finds them by name."""
