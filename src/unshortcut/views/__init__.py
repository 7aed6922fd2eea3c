"""Augmentations, the makers of named views, and the plan that puts them together."""
