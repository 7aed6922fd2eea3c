"""Pretrain vision encoders that do not take shortcuts, and audit what any model relies on.

>>> import unshortcut
>>> run = unshortcut.pretrain("moco-v2-shapes", out="runs/shapes")  # doctest: +SKIP
>>> result = unshortcut.probe(run.folder, data="shapes", kind="knn")  # doctest: +SKIP
>>> unshortcut.audit(run.folder, data="shapes", out="report.html")  # doctest: +SKIP

Names are imported on first use, because torch is slow to load; `__init__.pyi` lists them.
"""

import sys

import lazy_loader

if sys.platform == "win32":
    raise ImportError("unshortcut runs on Linux and macOS; on Windows, use WSL.")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
