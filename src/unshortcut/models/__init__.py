"""Encoders, projection heads, momentum copies, queues, and loading a model by its name."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
