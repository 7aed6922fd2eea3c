"""What a model relies on: one file a measurement in `measurements/`, and what they rest on.

The package can be called: `unshortcut.audit(model, data)` is `unshortcut.report.audit.audit`.
"""

import importlib
import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """The function and the package share a name, and importing the package must not hide it."""

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        return importlib.import_module("unshortcut.report.audit").audit(*arguments, **settings)


sys.modules[__name__].__class__ = _Callable
