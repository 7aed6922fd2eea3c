"""Probing a model on a data set: features once, then a readout on them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from unshortcut.data.open import open_data
from unshortcut.errors import UsageError
from unshortcut.files import atomic_open
from unshortcut.models.load import LoadedModel, load_model
from unshortcut.probes.bench import Data, Model, bench, features_of
from unshortcut.probes.features import Features
from unshortcut.probes.probe import PROBES, Probe, ProbeResult


def probe(
    model: Model,
    data: Data,
    kind: str | Probe = "linear",
    *,
    tests: Sequence[Data] | Mapping[str, Data] = (),
    console: Console | None = None,
    workers: int = 0,
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


def embed(
    model: Model, data: Data, out: str | Path, *, console: Console | None = None, workers: int = 0
) -> Features:
    """Write the features of a data set to `out`, an `.npz` file.

    It holds `features` (N, D), `identities` (N,) and, where there are any, `labels` (N,) and
    `classes`; `numpy.load` reads it.
    """
    out = Path(out)
    if out.suffix != ".npz":
        raise UsageError(f"--out wants an .npz file, got '{out}'")
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    source = open_data(data)
    features = features_of(loaded, source, "images", console or Console(stderr=True), workers)
    arrays: dict[str, Any] = {
        "features": features.values,
        "identities": np.array([source.identity(int(i)) for i in features.indices]),
    }
    if features.labels is not None:
        arrays["labels"] = features.labels
        arrays["classes"] = np.array(features.classes)
    out.parent.mkdir(parents=True, exist_ok=True)
    with atomic_open(out) as file:
        np.savez(file, **arrays)
    return features
