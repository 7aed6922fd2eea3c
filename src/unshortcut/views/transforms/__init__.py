"""Transforms that make a view, one per file; a new file is found without registration."""
