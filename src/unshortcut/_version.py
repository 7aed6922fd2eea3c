"""The installed version, as `unshortcut.__version__`."""

from unshortcut.result import package_version

__version__ = package_version()
