"""The demo on the embedded data: a classifier that cheats, and encoders that cheat less."""

from unshortcut.demonstration.run import Demo, demo

__all__ = ["Demo", "demo"]
