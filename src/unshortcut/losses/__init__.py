"""Losses, as pure functions of similarities or predictions and as settings for a recipe."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
