"""Models with several embedding spaces (LooC): loading, probing subsets, choosing among them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
