"""How copies are made: all that their bytes depend on, besides the image and its path."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.build.encoding import Wanted, encode, format_of
from unshortcut.build.operation import OPERATIONS, Operation
from unshortcut.data import tree
from unshortcut.data.copies import copy_name
from unshortcut.parts import part_to_mapping
from unshortcut.randomness import generator
from unshortcut.result import public_name

_SMALL = 32


@dataclass(frozen=True)
class Copying:
    """The operation, and how its results are named and encoded."""

    operation: Annotated[Operation, OPERATIONS]
    format: Wanted = "keep"
    quality: Annotated[int, Field(ge=1, le=100)] = 95
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] = 0
    double: bool = False
    """Whether the originals lie beside the copies."""

    def copy(self, image: ImageArray, path: str) -> ImageArray:
        """The copy of the image at a path inside the data set."""
        return self.operation.apply(image, generator(self.seed, self.operation.name, path))

    def file_name(self, path: str) -> str:
        """The path of an image's copy in a tree."""
        kind = format_of(path, self.format)
        return copy_name(self._marked(path), kind)

    def member_name(self, key: str, ending: str) -> str:
        """The name of an image's copy in a shard, where nothing may stand before the ending."""
        marked = self.marked_key(key)
        name = f"{marked}.{ending}"
        kind = format_of(name, self.format)
        return name if copy_name(name, kind) == name else copy_name(marked, kind)

    def marked_key(self, key: str) -> str:
        """The key of a copy's sample in a shard."""
        return f"{key}-{self.operation.name}" if self.double else key

    def encode(self, image: ImageArray, name: str) -> bytes:
        """The file of a copy called `name`."""
        return encode(image, format_of(name, "keep"), self.quality)

    def warm_up(self) -> None:
        """Make one small copy: compiles before workers are forked, and shows wrong settings."""
        self.operation.apply(np.zeros((_SMALL, _SMALL, 3), np.uint8), generator(0))

    def parameters(self) -> dict[str, Any]:
        """The plain form of all of it, without folders that only its owner knows."""
        settings = part_to_mapping(self.operation)
        return {
            "operation": {
                key: public_name(value) if isinstance(value, str) else value
                for key, value in settings.items()
            },
            "format": self.format,
            "quality": self.quality,
            "seed": self.seed,
            "double": self.double,
        }

    def _marked(self, path: str) -> str:
        """`cat/1.jpg` as `cat/1-anisotropic.jpg`, where the original has its own name."""
        if not self.double:
            return path
        ending = tree.extension(path)
        stem = path[: len(path) - len(ending) - 1] if ending else path
        return f"{stem}-{self.operation.name}{path[len(stem) :]}"
