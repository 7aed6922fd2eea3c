"""The base of proposers, which find boxes of objects in an image without labels."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.parts import PartOf


class Proposals(NamedTuple):
    """Boxes of an image, best first."""

    boxes: FloatArray
    """(n, 4): x0, y0, x1, y1 in pixels."""
    scores: FloatArray
    """(n,), comparable within an image."""


class Proposer(ABC):
    """A class whose fields are its settings (see `parts.settings`), found by its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def propose(self, image: ImageArray, most: int) -> Proposals:
        """At most so many boxes of an image, uint8 (h, w, 3)."""

    def check(self) -> None:
        """Raise `UsageError` if it cannot work here; called before workers start."""
        return

    def identity(self) -> dict[str, Any]:
        """What the boxes depend on besides the settings, such as the weights of a model."""
        return {}


PROPOSERS = PartOf("unshortcut.build.proposers", Proposer, "method")


def make_proposer(name: str, settings: dict[str, Any]) -> Proposer:
    """A proposer by name, with validated settings."""
    made: Proposer = PROPOSERS.build({"name": name, **settings})
    return made
