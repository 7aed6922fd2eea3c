"""`--kind knn`: weighted k-nearest-neighbor classification."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.inference.features import Features
from unshortcut.probes.base import Probe, ProbeResult, Score
from unshortcut.probes.class_subset import among_name, position_in
from unshortcut.probes.knn import NEIGHBORS, TEMPERATURE, choose_k, knn_top_accuracy


@dataclass(frozen=True)
class KNNProbe(Probe):
    """Weighted kNN with cosine similarity.

    If several values of k are given, the best one is chosen by leave-one-out accuracy on the
    training features.
    """

    name: ClassVar[str] = "knn"

    k: tuple[int, ...] = NEIGHBORS
    temperature: float = TEMPERATURE

    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        fitted = train.values, train.required_labels()
        classes = len(train.classes or ()) or int(fitted[1].max()) + 1
        k = self.k[0]
        if len(self.k) > 1:
            k, _ = choose_k(*fitted, k=self.k, temperature=self.temperature)
        scores = {}
        for name, test in tests.items():
            tested = test.values, test.required_labels()
            found = knn_top_accuracy(
                *fitted, *tested, k=k, classes=classes, temperature=self.temperature
            )
            scores[name] = Score.of(found)
            if test.among is not None:  # the nearest among the training images of its classes
                own = np.isin(fitted[1], test.among)
                found = knn_top_accuracy(
                    fitted[0][own],
                    position_in(test.among, fitted[1][own]),
                    tested[0],
                    position_in(test.among, tested[1]),
                    k=k,
                    classes=len(test.among),
                    temperature=self.temperature,
                )
                scores[among_name(name, test.among)] = Score.of(found)
        return ProbeResult(self.name, scores, {"k": k})
