"""What the encoders of an experiment are measured on: labeled images, and sets to test on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rich.console import Console

from unshortcut.data.open import open_data, splits
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.probes.run import Data
from unshortcut.reproduction.textures import textures_of

SHAPES_SPLITS = ("test", "conflict", "sketch", "silhouette", "texture", "stylized")
"""The splits of `shapes` that its encoders are tested on."""


@dataclass(frozen=True)
class Evaluation:
    """Data to measure on, opened when a measurement asks for them."""

    data: str | ImageSource
    """What is trained on; readouts are fitted on it, unless there are other data for them."""
    more_tests: Mapping[str, Data] = field(default_factory=dict)
    """Further test sets with the same classes, by name, or others in place of the usual ones."""
    transfer_data: Mapping[str, tuple[Data, Data]] = field(default_factory=dict)
    """By name: data that a readout is fitted on, and data that it is tested on."""
    readout: Data | None = None
    """Labeled data that readouts are fitted on, where those that are trained on are not such."""
    console: Console = field(default_factory=lambda: Console(stderr=True))

    @cached_property
    def train(self) -> ImageSource:
        """What readouts are fitted on."""
        return open_data(self._labeled)

    @property
    def _labeled(self) -> Data:
        return self.data if self.readout is None else self.readout

    @cached_property
    def tests(self) -> dict[str, ImageSource]:
        """Test sets by name.

        Of `shapes` its splits; of other data `test` (the split `test`, or else `val`) and
        `texture`, a part of it that is texturized here; and whatever was given.
        """
        given = {name: open_data(spec) for name, spec in self.more_tests.items()}
        if isinstance(self.train, Shapes):
            usual = {split: self._shapes(split) for split in SHAPES_SPLITS if split not in given}
            return {**usual, **given}
        found = {"test": given["test"] if "test" in given else self._test_split(), **given}
        if "texture" not in found:
            found["texture"] = textures_of(found["test"], self.console)
        return found

    @cached_property
    def transfers(self) -> dict[str, tuple[ImageSource, ImageSource]]:
        for name in self.transfer_data:
            if name in self.tests:
                raise UsageError(f"'{name}' is a test set already; give the transfer another name")
        return {
            name: (open_data(fitted), open_data(tested))
            for name, (fitted, tested) in self.transfer_data.items()
        }

    def _shapes(self, split: str) -> Shapes:
        train = self.train
        assert isinstance(train, Shapes)
        return Shapes(split, size=train.size, seed=train.seed, palette=train.palette)

    def _test_split(self) -> ImageSource:
        known = splits(self._labeled)
        for split in ("test", "val"):
            if split in known:
                return open_data(self._labeled, split=split)
        raise UsageError("the data have no 'test' or 'val' split; give one with --test test=DATA")
