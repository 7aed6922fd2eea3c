"""`--kind multilabel`: logistic regression for images that may show several classes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field
from rich.console import Console

from unshortcut.data.source import ImageSource
from unshortcut.fields import PositiveNumber
from unshortcut.inference.features import Features
from unshortcut.probes.base import Extract, Probe, ProbeResult
from unshortcut.probes.multilabels import check_multilabels, map_score, values_of
from unshortcut.probes.one_vs_rest import FOLDS, PENALTIES, fit_logistic
from unshortcut.progress import bar


@dataclass(frozen=True)
class MultiLabelProbe(Probe):
    """Mean average precision over the test set of one classifier per class.

    The penalty is chosen by cross-validation on the training features.
    """

    name: ClassVar[str] = "multilabel"
    needs_labels: ClassVar[bool] = False

    penalties: Annotated[tuple[PositiveNumber, ...], Field(min_length=1)] = PENALTIES
    """Candidates, relative to the total variance of the features."""
    folds: Annotated[int, Field(ge=2)] = FOLDS
    seed: int = 0
    """Random seed for the folds."""

    def measure(
        self, extract: Extract, train: ImageSource, tests: Mapping[str, ImageSource]
    ) -> ProbeResult:
        check_multilabels(train, tests, self.name)
        return super().measure(extract, train, tests)

    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        classes = () if train.multilabels is None else train.multilabels.classes
        values = values_of(train, classes, "train", self.name)
        with bar(Console(stderr=True), "cross-validation") as on_progress:
            found = fit_logistic(
                train.values,
                values,
                penalties=self.penalties,
                folds=self.folds,
                seed=self.seed,
                on_progress=on_progress,
            )
        scores = {
            name: map_score(
                found.classifiers.scores(test.values), values_of(test, classes, name, self.name)
            )
            for name, test in tests.items()
        }
        return ProbeResult(self.name, scores, {"penalty": found.penalty})
