"""Views: the transforms of a method, and the plan that combines them with augmentations."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
