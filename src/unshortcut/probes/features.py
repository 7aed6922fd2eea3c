"""Features of a frozen model: computed once, in eval mode, cached by content of model and data."""

import hashlib
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader

from unshortcut.data.loader import KeyedDataset, collate
from unshortcut.data.source import ImageSource
from unshortcut.errors import RunError, UsageError
from unshortcut.files import atomic_open, cache_folder
from unshortcut.models.card import Preprocessing
from unshortcut.models.load import LoadedModel
from unshortcut.views.evaluation import EvaluationView

_BATCH = 256
_MAX_BAD = 0.1
_VERSION = 2  # raised when the same inputs would give other features

OnProgress = Callable[[int, int], None]
"""Told (images done, images in all)."""


@dataclass(frozen=True)
class Features:
    """Features of a data set, with its labels where it has any."""

    values: NDArray[np.float32]
    """(N, D)."""
    labels: NDArray[np.int64] | None
    """(N,)."""
    classes: tuple[str, ...] | None
    indices: NDArray[np.int64]
    """(N,) positions in the source: all of them, but for the images that cannot be read."""

    def required_labels(self) -> NDArray[np.int64]:
        """The labels, or a `UsageError`."""
        if self.labels is None:
            raise UsageError("the data have no labels")
        return self.labels


def compute_features(
    model: LoadedModel,
    source: ImageSource,
    *,
    workers: int | None = None,
    cache: bool = True,
    most_bad: float = _MAX_BAD,
    on_progress: OnProgress | None = None,
) -> Features:
    """Features of every image of a source, in its order.

    Images that cannot be read are left out with a warning; a larger share of them than `most_bad`,
    a tenth, is an error.
    """
    path = None
    if cache and model.fingerprint is not None:
        path = cache_folder() / "features" / f"{_key(model, source)}.npz"
    known = _read(path) if path is not None else None
    if known is None:
        known = _compute(model, source, workers, most_bad, on_progress)
        if path is not None:
            try:
                _write(path, *known)
            except OSError as error:
                warnings.warn(f"features are not kept for the next time: {error}", stacklevel=2)
    elif on_progress:
        on_progress(len(source), len(source))
    values, indices = known
    labels = None if source.labels is None else source.labels[indices]
    return Features(values, labels, source.classes, indices)


def _compute(
    model: LoadedModel,
    source: ImageSource,
    workers: int | None,
    most_bad: float,
    on_progress: OnProgress | None,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    view = EvaluationView(model.preprocessing.size, model.preprocessing.crop_share)
    starts = range(0, len(source), _BATCH)
    wanted = [range(start, min(start + _BATCH, len(source))) for start in starts]
    loader = DataLoader(
        KeyedDataset(source, view, seed=0),
        batch_sampler=[[(0, index) for index in batch] for batch in wanted],
        num_workers=workers or 0,
        collate_fn=collate,
    )
    parts: list[NDArray[np.float32]] = []
    kept: list[NDArray[np.int64]] = []
    failures: list[tuple[str, str]] = []
    for batch, expected in zip(loader, wanted, strict=True):
        failures += batch["failures"]
        readable = batch["index"].numpy() == np.array(expected)  # the rest are replacements
        images = normalize(batch["views"]["image"].to(model.device), model.preprocessing)
        with torch.no_grad():
            features = model.features(images).float().flatten(1).cpu()
        if not torch.isfinite(features).all():
            raise RunError(f"the features of '{model.name}' are not finite")
        parts.append(features.numpy()[readable])
        kept.append(batch["index"].numpy()[readable])
        if on_progress:
            on_progress(expected[-1] + 1, len(source))
    indices = np.concatenate(kept)
    _judge(len(source) - len(indices), len(source), most_bad, failures)
    return np.concatenate(parts), indices


def _judge(bad: int, count: int, most_bad: float, failures: list[tuple[str, str]]) -> None:
    if not bad:
        return
    identity, reason = failures[0]
    said = f"{bad} of {count} images cannot be read, the first is '{identity}': {reason}"
    if bad > most_bad * count:
        raise UsageError(said)
    warnings.warn(f"{said}; they are left out", stacklevel=2)


def normalize(images: torch.Tensor, preprocessing: Preprocessing) -> torch.Tensor:
    """uint8 (N, 3, H, W) to the normalized floats that a model takes."""
    mean = torch.tensor(preprocessing.mean, device=images.device).view(1, 3, 1, 1)
    std = torch.tensor(preprocessing.std, device=images.device).view(1, 3, 1, 1)
    return (images.float() / 255 - mean) / std


def _key(model: LoadedModel, source: ImageSource) -> str:
    text = f"{_VERSION} {model.fingerprint} {source.fingerprint()} {model.preprocessing!r}"
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> tuple[NDArray[np.float32], NDArray[np.int64]] | None:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return stored["values"], stored["indices"]
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile):
        return None


def _write(path: Path, values: NDArray[np.float32], indices: NDArray[np.int64]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_open(path, shared=True) as file:
        np.savez(file, values=values, indices=indices)
