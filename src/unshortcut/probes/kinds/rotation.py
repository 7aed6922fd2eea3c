"""`--kind rotation`: by which quarter turn an image was turned, read off linearly; needs no labels.

LooC, table 1: how much of the orientation an encoder has kept. Chance is 25 %.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from unshortcut.data.rotated import Rotated
from unshortcut.data.source import ImageSource
from unshortcut.probes.kinds.linear import Linear
from unshortcut.probes.probe import Extract, ProbeResult


@dataclass(frozen=True)
class Rotation(Linear):
    """The linear probe on images of training data and tests, each turned by one random turn."""

    name: ClassVar[str] = "rotation"
    needs_labels: ClassVar[bool] = False

    def measure(
        self, extract: Extract, train: ImageSource, tests: Mapping[str, ImageSource]
    ) -> ProbeResult:
        turned = {name: Rotated(source) for name, source in tests.items()}
        return super().measure(extract, Rotated(train), turned)
