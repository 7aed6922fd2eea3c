"""Claims of the papers as experiments that anyone can run (`unshortcut reproduce`)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
