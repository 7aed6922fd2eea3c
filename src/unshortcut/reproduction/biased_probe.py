"""The linear probe that also measures shape bias, on test sets with conflicting cues."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import torch

from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ImageSource
from unshortcut.inference.features import Features
from unshortcut.measuring.shape_bias import shape_bias
from unshortcut.probes.base import Probe, ProbeResult, Score
from unshortcut.probes.linear import linear_accuracy


def conflicts_in(tests: Mapping[str, ImageSource]) -> dict[str, Shapes]:
    """The test sets with a shape label and a texture label."""
    shapes = {name: test for name, test in tests.items() if isinstance(test, Shapes)}
    return {name: test for name, test in shapes.items() if test.split == "conflict"}


@dataclass(frozen=True)
class ProbeWithBias(Probe):
    """The linear probe, whose predictions are also compared with both labels of each image."""

    name: ClassVar[str] = "linear, with shape bias"

    seeds: int
    conflicts: Mapping[str, Shapes] = field(default_factory=dict)
    """Test sets with a shape label and a texture label."""

    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        held = {name: (test.values, test.required_labels()) for name, test in tests.items()}
        result = linear_accuracy(
            (train.values, train.required_labels()),
            held,
            classes=len(train.classes or ()) or None,
            seeds=range(self.seeds),
        )
        scores = {name: Score.over(result.by_seed(name)) for name in tests}
        for name, source in self.conflicts.items():
            rows, shown = torch.from_numpy(tests[name].values), tests[name].indices
            shapes, textures = source.shape_labels[shown], source.texture_labels[shown]
            found = [
                shape_bias(one.predict(rows).numpy(), shapes, textures)
                for one in result.classifiers
            ]
            shares = {
                "shape_bias": [one.bias for one in found],
                "coverage": [one.coverage for one in found],
                f"{name}_shape": [one.shape_accuracy for one in found],
                f"{name}_texture": [one.texture_accuracy for one in found],
            }
            scores |= {key: Score(100 * statistics.fmean(one)) for key, one in shares.items()}
        return ProbeResult(self.name, scores)
