"""Running an audit: every measurement on every model, the findings, and requirements on them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
