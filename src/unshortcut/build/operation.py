"""What an operation is: it makes the copy of one image, the same one for the same key."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.parts import PartOf


class Operation(ABC):
    """A frozen dataclass whose fields are its settings, found by its `name`."""

    name: ClassVar[str]
    """What the command line calls it, and what a doubled set adds to the names of copies."""

    @abstractmethod
    def apply(self, image: ImageArray, rng: np.random.Generator) -> ImageArray:
        """The copy of an image, uint8 (h, w, 3) to uint8 (h', w', 3); never changes its input.

        Whatever is random comes from `rng`, and images of any size from 1 × 1 on are accepted.
        """


OPERATIONS = PartOf("unshortcut.build.operations", Operation, "method")


def make_operation(name: str, settings: dict[str, Any]) -> Operation:
    """An operation by name, its settings validated."""
    made: Operation = OPERATIONS.build({"name": name, **settings})
    return made
