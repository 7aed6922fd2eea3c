"""Evaluate a model on a data set with a probe."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from unshortcut.data.open import open_data
from unshortcut.errors import UsageError
from unshortcut.files import atomic_open
from unshortcut.models.load import ModelLike, as_model
from unshortcut.probes.base import PROBES, Probe, ProbeResult
from unshortcut.probes.features import Features
from unshortcut.probes.prepare import Data, features_of, prepare_probe


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
        data: images to fit on (the `train` split by default); labeled unless `kind` is `rotation`.
        kind: `linear`, `knn`, `fewshot`, `rotation`, the name of another file in `probes/kinds`, or
            an instance of `Probe`.
        tests: data sets to test on, optionally by name; by default the `test` split of `data`, or
            else `val`.
        workers: number of workers that decode images; by default one per available core.
        settings: settings of the probe, e.g. `seeds=5`.
    """
    chosen = kind if isinstance(kind, Probe) else PROBES.build({"name": kind, **settings})
    prepared = prepare_probe(
        model,
        data,
        tests=tests,
        needs_labels=chosen.needs_labels,
        console=console,
        workers=workers,
    )
    return chosen.measure(prepared.extract, prepared.train, prepared.tests)


def embed(
    model: ModelLike,
    data: Data,
    out: str | Path,
    *,
    console: Console | None = None,
    workers: int = 0,
) -> Features:
    """Write the features of a data set to `out`, an `.npz` file.

    It holds `features` (N, D), `identities` (N,) and, where there are any, `labels` (N,) and
    `classes`; `numpy.load` reads it.
    """
    out = Path(out)
    if out.suffix != ".npz":
        raise UsageError(f"--out wants an .npz file, got '{out}'")
    loaded = as_model(model)
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
