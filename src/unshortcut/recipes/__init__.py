"""Recipes: the schema, loading and listing, and one YAML file per run in a folder per group."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
