"""The data that the encoders of an experiment are evaluated on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Console

from unshortcut.data.class_files import read_hierarchy
from unshortcut.data.open import open_data, splits
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.measuring.subjects.conflict import Conflict, open_conflict
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.probes.run import Data
from unshortcut.probes.training_views import FRESH
from unshortcut.reproduction.textures import textures_of

SHAPES_SPLITS = ("test", "conflict", "sketch", "silhouette", "texture", "stylized")
"""Splits of `shapes` that serve as test sets."""


@dataclass(frozen=True)
class Evaluation:
    """Data for the measures, opened on first use."""

    data: str | ImageSource
    """The training data; probes are fitted on them too, unless `probe_data` are given."""
    more_tests: Mapping[str, Data] = field(default_factory=dict)
    """Test sets with the same classes, by name, in addition to the usual ones or in their place."""
    transfer_data: Mapping[str, tuple[Data, Data]] = field(default_factory=dict)
    """By name: data to fit a probe on, and data to test it on."""
    probe_data: Data | None = None
    """Labeled data to fit probes on, if the training data have no labels."""
    protocol: str | None = None
    """Train linear probes by this protocol, on crops that are new in every epoch; by default they
    are solved for, which takes minutes instead of hours."""
    console: Console = field(default_factory=lambda: Console(stderr=True))
    conflict_data: Data | None = None
    """Cue-conflict stimuli, named SHAPE/SHAPE1-TEXTURE2.png."""
    hierarchy_file: str | Path | None = None
    """File with two columns: fine class and coarse class."""
    fitted: dict[Path, Subject] = field(default_factory=dict)
    """The last run with the classifier that was fitted for it, which several measures share."""

    @property
    def probe_settings(self) -> dict[str, Any]:
        """The settings of linear probes and rotation probes, besides the number of seeds."""
        return {} if self.protocol is None else {"protocol": self.protocol, "views": FRESH}

    @cached_property
    def train(self) -> ImageSource:
        """The images that probes are fitted on."""
        return open_data(self._labeled)

    @property
    def _labeled(self) -> Data:
        return self.data if self.probe_data is None else self.probe_data

    @cached_property
    def tests(self) -> dict[str, ImageSource]:
        """Test sets by name.

        For `shapes`, its splits; for other data, `test` (the split `test`, else `val`) and
        `texture`, textures synthesized from a part of it; and the test sets that were given.
        """
        given = {name: open_data(spec) for name, spec in self.more_tests.items()}
        if isinstance(self.train, Shapes):
            usual = {split: self._shapes(split) for split in SHAPES_SPLITS if split not in given}
            return {**usual, **given}
        found = {"test": self.test, **given}
        if "texture" not in found:
            found["texture"] = textures_of(found["test"], self.console)
        return found

    @cached_property
    def test(self) -> ImageSource:
        """The test set called `test` alone, for measures that need no other."""
        if "test" in self.more_tests:
            return open_data(self.more_tests["test"])
        return self._shapes("test") if isinstance(self.train, Shapes) else self._test_split()

    @cached_property
    def transfers(self) -> dict[str, tuple[ImageSource, ImageSource]]:
        for name in self.transfer_data:
            if name in self.tests:
                raise UsageError(f"'{name}' is a test set already; give the transfer another name")
        return {
            name: (open_data(fitted), open_data(tested))
            for name, (fitted, tested) in self.transfer_data.items()
        }

    @cached_property
    def conflict(self) -> Conflict | None:
        """The cue-conflict stimuli that were given; `shapes` has its own among its tests."""
        if self.conflict_data is None:
            return None
        if isinstance(self.train, Shapes):
            raise UsageError("shapes has a split of conflict stimuli; --conflict is for other data")
        return open_conflict(self.conflict_data)

    @cached_property
    def hierarchy(self) -> dict[str, str] | None:
        """Coarse class by fine class, if a file was given."""
        return None if self.hierarchy_file is None else read_hierarchy(self.hierarchy_file)

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
