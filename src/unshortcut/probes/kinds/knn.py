"""`--kind knn`: nearest neighbors vote; k is chosen on the training features, one left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from unshortcut.inference.features import Features
from unshortcut.probes.knn import NEIGHBORS, TEMPERATURE, choose_k, knn_accuracy
from unshortcut.probes.probe import Probe, ProbeResult, Score


@dataclass(frozen=True)
class Knn(Probe):
    """Weighted kNN on cosine similarity; one k is used as it is, of several one is chosen."""

    name: ClassVar[str] = "knn"

    k: tuple[int, ...] = NEIGHBORS
    temperature: float = TEMPERATURE

    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        labels = train.required_labels()
        temperature = self.temperature
        k = self.k[0]
        if len(self.k) > 1:
            k, _ = choose_k(train.values, labels, k=self.k, temperature=temperature)
        scores = {}
        for name, test in tests.items():
            accuracy = knn_accuracy(
                train.values,
                labels,
                test.values,
                test.required_labels(),
                k=(k,),
                temperature=temperature,
            )
            scores[name] = Score(100 * accuracy[k])
        return ProbeResult(self.name, scores, {"k": k})
