"""Probing a model on a data set: features once, then a readout on them."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from unshortcut.models.load import ModelLike
from unshortcut.probes.bench import Data, bench
from unshortcut.probes.probe import PROBES, Probe, ProbeResult


def probe(
    model: ModelLike,
    data: Data,
    kind: str | Probe = "linear",
    *,
    tests: Sequence[Data] | Mapping[str, Data] = (),
    console: Console | None = None,
    workers: int | None = None,
    **settings: Any,
) -> ProbeResult:
    """How well a readout of frozen features does.

    Args:
        model: a spec as in `load_model`, or a loaded model.
        data: images, labeled unless the kind is `rotation`; the readout is fitted on its `train`
            split.
        kind: `linear`, `knn`, `rotation`, `fewshot` or another file of `probes/kinds`; or a probe
            of your own.
        tests: what to test on, by name or not; by default `data`'s `test` split, or else `val`.
        settings: those of the probe, e.g. `seeds=5`.
    """
    chosen = kind if isinstance(kind, Probe) else PROBES.build({"name": kind, **settings})
    ready = bench(
        model,
        data,
        tests=tests,
        needs_labels=chosen.needs_labels,
        console=console,
        workers=workers,
    )
    return chosen.measure(ready.extract, ready.train, ready.tests)
