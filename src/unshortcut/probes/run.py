"""Evaluate a model on a data set with a probe."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from unshortcut.models.load import ModelLike
from unshortcut.probes.base import PROBES, Probe, ProbeResult
from unshortcut.probes.prepare import Data, prepare_probe


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
    """Evaluate the frozen features of a model, by default with a linear probe.

    Args:
        model: a spec as in `load_model`, or a loaded model.
        data: images to fit on (the `train` split by default), with one label each. `rotation` needs
            no labels; `multilabel` needs to know which classes each image shows, and `svm` uses
            this if it is known.
        kind: `linear`, `knn`, `fewshot`, `rotation`, `multilabel`, `svm`, the name of another file
            in `probes/kinds`, or an instance of `Probe`.
        tests: data sets to test on, optionally by name; by default the `test` split of `data`, or
            else `val`.
        workers: number of workers that decode images; by default one per available core.
        settings: settings of the probe, e.g. `seeds=5`.
    """
    chosen = kind if isinstance(kind, Probe) else PROBES.build({"name": kind, **settings})
    prepared = prepare_probe(
        model, data, tests=tests, needs_labels=chosen.needs_labels, console=console, workers=workers
    )
    return chosen.measure(prepared.extract, prepared.train, prepared.tests)
