"""Image operations as pure functions on uint8 RGB arrays (H, W, 3)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
