"""`--kind linear`: a linear classifier, solved for over a grid or trained as in a paper."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from unshortcut.inference.features import Features
from unshortcut.probes.base import Probe, ProbeResult, Score
from unshortcut.probes.class_subset import among_name, masked
from unshortcut.probes.linear import linear_accuracy
from unshortcut.probes.matrices import accuracy, checked
from unshortcut.probes.protocols import protocol_named, run_protocol


@dataclass(frozen=True)
class LinearProbe(Probe):
    """Mean accuracy and standard deviation over seeds.

    Each seed chooses its learning rate and weight decay on a held-out part of the training
    features. A test set with fewer classes has a second score, among its own classes.
    """

    name: ClassVar[str] = "linear"

    seeds: Annotated[int, Field(ge=1)] = 3
    """Number of repetitions, with random seeds 0, 1, …"""
    protocol: str | None = None
    """Train as in a paper instead: `moco`, `nsn`, `looc` or `mae`."""

    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        labeled = (train.values, train.required_labels())
        held = {name: (test.values, test.required_labels()) for name, test in tests.items()}
        among = {name: test.among for name, test in tests.items() if test.among is not None}
        accuracies: Mapping[str, Sequence[float]]
        if self.protocol is not None:
            protocol = protocol_named(self.protocol)
            classes = len(train.classes or ()) or None
            runs = [
                run_protocol(protocol, labeled, held, seed=seed, classes=classes, among=among)
                for seed in range(self.seeds)
            ]
            accuracies = {name: [run[name] for run in runs] for name in runs[0]}
            chosen: dict[str, float | str] = {"protocol": protocol.name}
        else:
            result = linear_accuracy(
                labeled, held, classes=len(train.classes or ()) or None, seeds=range(self.seeds)
            )
            accuracies = dict(result.accuracies) | {
                among_name(name, left): [
                    accuracy(masked(one.logits(rows), left).argmax(1), truth)
                    for one in result.classifiers
                ]
                for name, left in among.items()
                for rows, truth in [checked(held[name], name)]
            }
            chosen = {"lr": result.chosen.lr, "weight_decay": result.chosen.weight_decay}
        scores = {name: _score(values) for name, values in accuracies.items()}
        return ProbeResult(self.name, scores, chosen)


def _score(accuracies: Sequence[float]) -> Score:
    std = 100 * statistics.stdev(accuracies) if len(accuracies) > 1 else None
    return Score(100 * statistics.fmean(accuracies), std)
