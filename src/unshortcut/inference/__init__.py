"""From images to features or logits: decoded ahead in threads, normalized, run through a model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
