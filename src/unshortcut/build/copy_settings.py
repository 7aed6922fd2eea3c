"""Settings of a copy: everything its bytes depend on, besides the image and its path."""

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from unshortcut.arrays import ImageArray
from unshortcut.build.encoding import OutputFormat, encode, format_of
from unshortcut.build.operation import OPERATIONS, Operation
from unshortcut.data import tree
from unshortcut.data.copies import copy_name
from unshortcut.parts import part_to_mapping, settings
from unshortcut.randomness import generator
from unshortcut.result import public_name

_SMALL = 32


@settings
class CopySettings:
    """The operation, and how its results are named and encoded."""

    name = "the copy's settings"

    operation: Annotated[Operation, OPERATIONS]
    format: OutputFormat = "keep"
    quality: Annotated[int, Field(ge=1, le=100)] = 95
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] = 0
    keep_originals: bool = False
    """Whether the originals are written next to the copies."""

    def copy(self, image: ImageArray, path: str) -> ImageArray:
        """The copy of the image at a path inside the data set."""
        return self.operation.apply(image, generator(self.seed, self.operation.name, path))

    def file_name(self, path: str) -> str:
        """Path of an image's copy in a tree."""
        return copy_name(self._marked(path), format_of(path, self.format))

    def member_name(self, key: str, ending: str) -> str:
        """Name of an image's copy in a shard: key, dot, extension and nothing between."""
        marked = self.marked_key(key)
        name = f"{marked}.{ending}"
        kind = format_of(name, self.format)
        return name if copy_name(name, kind) == name else copy_name(marked, kind)

    def marked_key(self, key: str) -> str:
        """Key of a copy's sample in a shard."""
        return f"{key}-{self.operation.name}" if self.keep_originals else key

    def encode(self, image: ImageArray, name: str) -> bytes:
        """Content of the file `name` of a copy."""
        return encode(image, format_of(name, "keep"), self.quality)

    def warm_up(self) -> None:
        """Copy one small image, to compile before workers are forked and to find bad settings."""
        self.operation.apply(np.zeros((_SMALL, _SMALL, 3), np.uint8), generator(0))

    def parameters(self) -> dict[str, Any]:
        """All settings as plain values, without private paths."""
        operation = {
            key: public_name(value) if isinstance(value, str) else value
            for key, value in part_to_mapping(self.operation).items()
        }
        return {**vars(self), "operation": operation}

    def _marked(self, path: str) -> str:
        """`cat/1.jpg` as `cat/1-anisotropic.jpg` if the original keeps its name."""
        if not self.keep_originals:
            return path
        ending = tree.extension(path)
        stem = path[: len(path) - len(ending) - 1] if ending else path
        return f"{stem}-{self.operation.name}{path[len(stem) :]}"
