"""Transforms that make views; one file each."""
