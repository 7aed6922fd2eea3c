"""Accuracy of a linear probe on every test set, and its shape bias on conflicting cues."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch

from unshortcut.data.shapes import Shapes
from unshortcut.inference.features import Features
from unshortcut.measuring.shape_bias import shape_bias
from unshortcut.models.load import load_model
from unshortcut.probes.base import Probe, ProbeResult, Score
from unshortcut.probes.linear import linear_accuracy
from unshortcut.probes.run import probe
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measure import Measure


@dataclass(frozen=True)
class LinearProbeMeasure(Measure):
    """A linear probe on the training data, with settings chosen on a part of them.

    Metrics, in percent: the accuracy on every test set and, for conflicting cues, `shape_bias`,
    `coverage`, and the accuracies on both labels, `conflict_shape` and `conflict_texture`.
    """

    name: ClassVar[str] = "linear_probe"
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    seeds: int = 3
    """Number of probes of one encoder, whose metrics are averaged."""

    def dependencies(self, evaluation: Evaluation) -> dict[str, Any]:
        tests = {name: test.fingerprint() for name, test in evaluation.tests.items()}
        return {"train": evaluation.train.fingerprint(), "tests": tests, "seeds": self.seeds}

    def compute(self, run: Path, evaluation: Evaluation) -> dict[str, float]:
        tests = evaluation.tests
        conflicts = {
            name: test
            for name, test in tests.items()
            if isinstance(test, Shapes) and test.split == "conflict"
        }
        kind = _WithBias(self.seeds, conflicts)
        found = probe(
            load_model(run), evaluation.train, kind, tests=tests, console=evaluation.console
        )
        return {name: score.mean for name, score in found.scores.items()}


@dataclass(frozen=True)
class _WithBias(Probe):
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
        scores = {name: Score(100 * result.mean(name)) for name in tests}
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
