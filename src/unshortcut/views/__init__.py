"""Augmentations, the transforms of named views, and the plan that puts them together."""
