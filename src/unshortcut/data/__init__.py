"""Image sources (folders, tar files, shards, named data sets, `shapes`), decoding and loading."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
