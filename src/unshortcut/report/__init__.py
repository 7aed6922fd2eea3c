"""The result of an audit for people: one HTML page, or a table in a terminal."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
