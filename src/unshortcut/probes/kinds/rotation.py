"""`--kind rotation`: by which quarter turn an image was turned, read off linearly; needs no labels.

LooC, table 1: how much of the orientation an encoder has kept. Chance is 25 %.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from unshortcut.data.source import ImageSource
from unshortcut.data.turned import Turned, Turns
from unshortcut.probes.kinds.linear import Linear
from unshortcut.probes.probe import Extract, ProbeResult


@dataclass(frozen=True)
class Rotation(Linear):
    """The linear probe on turned images, of the training data and of the tests alike."""

    name: ClassVar[str] = "rotation"
    needs_labels: ClassVar[bool] = False

    turns: Turns = "one"
    """`one` random turn an image, as in the paper, or `all` four of each."""

    def measure(
        self, extract: Extract, train: ImageSource, tests: Mapping[str, ImageSource]
    ) -> ProbeResult:
        turned = {name: Turned(source, self.turns) for name, source in tests.items()}
        return super().measure(extract, Turned(train, self.turns), turned)
