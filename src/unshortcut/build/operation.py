"""The base of operations, each of which makes a changed copy of an image."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from unshortcut.arrays import ImageArray
from unshortcut.parts import PartOf
from unshortcut.randomness import Rng


class Operation(ABC):
    """A class whose fields are its settings (see `parts.settings`), found by its `name`."""

    name: ClassVar[str]
    """Its name in the command line, and the suffix of copies that lie next to their originals."""

    @abstractmethod
    def apply(self, image: ImageArray, rng: Rng) -> ImageArray:
        """The changed copy, uint8 (h', w', 3), of an image, uint8 (h, w, 3) of any size.

        Must not change its input; all randomness comes from `rng`.
        """


OPERATIONS = PartOf("unshortcut.build.operations", Operation, "method")


def make_operation(name: str, settings: dict[str, Any]) -> Operation:
    """An operation by name, with validated settings."""
    made: Operation = OPERATIONS.build({"name": name, **settings})
    return made
