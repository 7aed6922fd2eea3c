"""Probing a model on a data set: features once, then a readout on them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from unshortcut.data.open import DataSpec, open_data, splits
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.files import atomic_open
from unshortcut.models.load import LoadedModel, load_model
from unshortcut.probes.features import Features, compute_features
from unshortcut.probes.probe import PROBES, Probe, ProbeResult
from unshortcut.progress import bar

Data = str | Path | ImageSource
Model = str | Path | LoadedModel


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
        data: labelled images; the readout is fitted on its `train` split.
        kind: `linear`, `knn` or another file of the probes folder; or a probe of your own.
        tests: what to test on, by name or not; by default `data`'s `test` split, or else `val`.
        settings: those of the probe, e.g. `seeds=5`.
    """
    chosen = kind if isinstance(kind, Probe) else PROBES.build({"name": kind, **settings})
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    train = _labelled(open_data(data), str(data))
    if not isinstance(tests, Mapping):
        tests = _named(list(tests) or _default_tests(data))
    test_sources = {name: _labelled(open_data(spec), name) for name, spec in tests.items()}
    for name, source in test_sources.items():
        _require_same_classes(train, source, name)
    console = console or Console(stderr=True)

    def extract(source: ImageSource, name: str) -> Features:
        return _features(loaded, source, name, console, workers)

    return chosen.measure(extract, train, test_sources)


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
    features = _features(loaded, source, "images", console or Console(stderr=True), workers)
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


def _features(
    model: LoadedModel, source: ImageSource, name: str, console: Console, workers: int
) -> Features:
    with bar(console, f"features of {name}") as on_progress:
        return compute_features(model, source, workers=workers, on_progress=on_progress)


def _labelled(source: ImageSource, spec: str) -> ImageSource:
    if source.labels is None:
        raise UsageError(f"'{spec}' has no labels: a probe needs class folders")
    return source


def _default_tests(data: Data) -> list[Data]:
    if isinstance(data, ImageSource):
        raise UsageError("say on which data to test")
    known = splits(data)
    for split in ("test", "val"):
        if split in known:
            return [f"{DataSpec.parse(data).where}@{split}"]
    raise UsageError(f"'{data}' has no 'test' or 'val' split; say on which data to test with --on")


def _named(tests: Sequence[Data]) -> dict[str, Data]:
    """Test data by their short names, or by their full ones where the short ones repeat."""
    short = [_name(spec) for spec in tests]
    names = short if len(set(short)) == len(short) else [str(spec) for spec in tests]
    return dict(zip(names, tests, strict=True))


def _name(spec: Data) -> str:
    if isinstance(spec, ImageSource):
        return type(spec).__name__
    parsed = DataSpec.parse(spec)
    return parsed.split or Path(parsed.where).name


def _require_same_classes(train: ImageSource, test: ImageSource, name: str) -> None:
    if train.classes != test.classes:
        missing = sorted(set(test.classes or ()) ^ set(train.classes or ()))
        raise UsageError(
            f"'{name}' has other classes than the training data: {', '.join(missing[:5])}"
        )
