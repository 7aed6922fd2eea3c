"""Recipes: the schema, and one YAML file a run."""
