"""`--kind svm`: linear support vector machines, for images with one label or several."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Annotated, ClassVar

import numpy as np
import torch
from pydantic import Field
from rich.console import Console
from torch import Tensor

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.fields import PositiveNumber
from unshortcut.inference.features import Features
from unshortcut.probes.base import Extract, Probe, ProbeResult, Score
from unshortcut.probes.class_subset import accuracy_among, among_name, matched_tests
from unshortcut.probes.matrices import top_accuracy
from unshortcut.probes.multilabels import check_multilabels, map_score, values_of
from unshortcut.probes.svm import COSTS, FOLDS, POSITIVE_WEIGHT, fit_svms, unit_rows
from unshortcut.progress import bar


@dataclass(frozen=True)
class SVMProbe(Probe):
    """One machine per class on features of unit length, as in DenseCL's benchmark on VOC07.

    Scores are mean average precisions if the training data say which classes each image shows, and
    accuracies if each image has one label.
    """

    name: ClassVar[str] = "svm"
    needs_labels: ClassVar[bool] = False

    costs: Annotated[tuple[PositiveNumber, ...], Field(min_length=1)] = COSTS
    """Candidates for the weight of the loss, of which each class chooses one."""
    positive_weight: PositiveNumber = POSITIVE_WEIGHT
    """Weight of the images that show a class, relative to those that do not."""
    folds: Annotated[int, Field(ge=2)] = FOLDS

    def measure(
        self, extract: Extract, train: ImageSource, tests: Mapping[str, ImageSource]
    ) -> ProbeResult:
        if train.multilabels is not None:
            check_multilabels(train, tests, self.name)
        else:
            tests, problem = matched_tests("train", train, tests)
            if problem is not None:
                raise UsageError(problem)
        return super().measure(extract, train, tests)

    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        if train.multilabels is None:
            labels = train.required_labels()
            count = len(train.classes or ()) or int(labels.max()) + 1
            values = (labels[:, None] == np.arange(count)).astype(np.int8)
        else:
            values = values_of(train, train.multilabels.classes, "train", self.name)
        with bar(Console(stderr=True), "support vector machines") as on_progress:
            found = fit_svms(
                train.values,
                values,
                costs=self.costs,
                positive_weight=self.positive_weight,
                folds=self.folds,
                on_progress=on_progress,
            )
        scores: dict[str, Score] = {}
        for name, test in tests.items():
            outputs = found.classifiers.scores(unit_rows(test.values))
            if train.multilabels is None:
                scores |= _accuracies(outputs, test, name)
            else:
                truth = values_of(test, train.multilabels.classes, name, self.name)
                scores[name] = map_score(outputs, truth)
        return ProbeResult(self.name, scores, {"cost (median over classes)": median(found.costs)})


def _accuracies(outputs: Tensor, test: Features, name: str) -> dict[str, Score]:
    """The accuracy of outputs (N, C), and that among the classes of a test set with fewer."""
    labels = torch.from_numpy(test.required_labels())
    scores = {name: Score.of(top_accuracy(outputs, labels))}
    if test.among is not None:
        own = Score.of(accuracy_among(outputs, labels, test.among))
        scores[among_name(name, test.among)] = own
    return scores
