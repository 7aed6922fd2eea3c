"""Properties of images besides their content: how files were made, and numbers of their pixels."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
