"""`--kind linear`: a linear classifier, solved for over a grid or trained as in a paper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features
from unshortcut.probes.base import Extract, Probe, ProbeResult, Score
from unshortcut.probes.class_subset import Among, accuracy_among, among_name, marked
from unshortcut.probes.linear import LinearResult, linear_accuracy
from unshortcut.probes.matrices import Accuracy, Labeled, checked
from unshortcut.probes.protocol_training import Columns, Found, run_protocol
from unshortcut.probes.protocols import Protocol, protocol_named
from unshortcut.probes.training_views import CENTER_NOTE, COPIES, Views, train_on_views


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
    """Train as in a paper instead: `moco`, `nsn`, `looc`, `looc-inat`, `byol` or `mae`."""
    views: Views | None = None
    """What a protocol trains on: `fresh` for new random crops in every epoch, as in the papers; the
    number of cached copies with random crops, by default 10; or 0 for the center crop."""

    def shown(self, source: ImageSource, epoch: int = 0) -> ImageSource:
        """The images as the probe shows them in an epoch."""
        return source

    def measure(
        self, extract: Extract, train: ImageSource, tests: Mapping[str, ImageSource]
    ) -> ProbeResult:
        (result,) = self.measure_columns(extract, train, tests, [None])
        return result

    def measure_columns(
        self,
        extract: Extract,
        train: ImageSource,
        tests: Mapping[str, ImageSource],
        columns: Sequence[Columns | None],
    ) -> list[ProbeResult]:
        """`measure` for each choice of feature columns (None: all).

        All choices share the crops that a protocol trains on, whose features are expensive.
        """
        protocol, views = self._protocol(), COPIES if self.views is None else self.views
        held = {
            name: marked(extract(shown, name), shown, train)
            for name, source in tests.items()
            for shown in [self.shown(source)]
        }
        if protocol is None or views == 0:
            fitted = extract(self.shown(train), "train")
            return [
                self.run(
                    _part(fitted, one), {name: _part(test, one) for name, test in held.items()}
                )
                for one in columns
            ]
        found, note = train_on_views(
            protocol,
            extract,
            lambda epoch: self.shown(train, epoch),
            _labeled(held),
            views,
            among=_among(held),
            columns=columns,
            seeds=range(self.seeds),
            classes=len(self.shown(train).classes or ()) or None,
        )
        return [self._trained(protocol, one, views, note) for one in found]

    def run(self, train: Features, tests: Mapping[str, Features]) -> ProbeResult:
        """Fit on features that are the same in every epoch, such as those of center crops."""
        protocol, seeds = self._protocol(), range(self.seeds)
        labeled, held = (train.values, train.required_labels()), _labeled(tests)
        classes, among = len(train.classes or ()) or None, _among(tests)
        if protocol is not None:
            found = run_protocol(
                protocol, lambda epoch: labeled, held, among=among, seeds=seeds, classes=classes
            )
            return self._trained(protocol, found, 0, CENTER_NOTE)
        result = linear_accuracy(labeled, held, classes=classes, seeds=seeds)
        scores = {}
        for name in tests:
            scores[name] = Score.over(result.by_seed(name))
            if name in among:
                own = Score.over(_accuracies_among(result, held[name], among[name]))
                scores[among_name(name, among[name])] = own
        chosen = {"lr": result.chosen.lr, "weight_decay": result.chosen.weight_decay}
        return ProbeResult(self.name, scores, chosen)

    def _protocol(self) -> Protocol | None:
        if self.protocol is not None:
            return protocol_named(self.protocol)
        if self.views is not None:
            raise UsageError("views need a protocol, e.g. protocol nsn with views fresh")
        return None

    def _trained(self, protocol: Protocol, found: Found, views: Views, note: str) -> ProbeResult:
        scores = {name: Score.over(values) for name, values in found.items()}
        training = {"protocol": protocol.name, "views": views, "note": note}
        return ProbeResult(self.name, scores, training=training)


def _labeled(features: Mapping[str, Features]) -> dict[str, Labeled]:
    return {name: (one.values, one.required_labels()) for name, one in features.items()}


def _among(features: Mapping[str, Features]) -> dict[str, Among]:
    return {name: one.among for name, one in features.items() if one.among is not None}


def _accuracies_among(result: LinearResult, test: Labeled, among: Among) -> list[Accuracy]:
    rows, truth = checked(test, "test")
    return [accuracy_among(one.logits(rows), truth, among) for one in result.classifiers]


def _part(features: Features, columns: Columns | None) -> Features:
    """The features without the other columns."""
    if columns is None:
        return features
    chosen = columns(features.values.shape[1]).numpy()
    return replace(features, values=np.ascontiguousarray(features.values[:, chosen]))
