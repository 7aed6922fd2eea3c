"""`--kind rotation`: predict by how many quarter turns an image was rotated; needs no labels.

This shows how much of the orientation an encoder has kept (LooC, table 1). Chance is 25 %.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from unshortcut.data.rotated import Rotated
from unshortcut.data.source import ImageSource
from unshortcut.probes.base import Extract, ProbeResult
from unshortcut.probes.kinds.linear import LinearProbe


@dataclass(frozen=True)
class RotationProbe(LinearProbe):
    """The linear probe on images that are each rotated by one random angle."""

    name: ClassVar[str] = "rotation"
    needs_labels: ClassVar[bool] = False

    def measure(
        self, extract: Extract, train: ImageSource, tests: Mapping[str, ImageSource]
    ) -> ProbeResult:
        rotated = {name: Rotated(source) for name, source in tests.items()}
        return super().measure(extract, Rotated(train), rotated)
