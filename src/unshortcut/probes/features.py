"""Features of a frozen model: computed once, in eval mode, cached by content of model and data."""

import hashlib
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
_VERSION = 1  # raised when the same inputs would give other features

OnProgress = Callable[[int, int], None]
"""Told (images done, images in all)."""


@dataclass(frozen=True)
class Features:
    """Features of a data set, with its labels where it has any."""

    values: NDArray[np.float32]
    """(N, D)."""
    labels: NDArray[np.int64] | None
    classes: tuple[str, ...] | None

    def required_labels(self) -> NDArray[np.int64]:
        """The labels, or a `UsageError`."""
        if self.labels is None:
            raise UsageError("the data have no labels")
        return self.labels


def compute_features(
    model: LoadedModel,
    source: ImageSource,
    *,
    workers: int = 0,
    cache: bool = True,
    on_progress: OnProgress | None = None,
) -> Features:
    """Features of every image of a source, in its order."""
    path = cache_folder() / "features" / f"{_key(model, source)}.npy" if cache else None
    if path is not None and (known := _read(path, len(source))) is not None:
        if on_progress:
            on_progress(len(source), len(source))
        return Features(known, source.labels, source.classes)
    values = _compute(model, source, workers, on_progress)
    if path is not None:
        _write(path, values)
    return Features(values, source.labels, source.classes)


def _compute(
    model: LoadedModel, source: ImageSource, workers: int, on_progress: OnProgress | None
) -> NDArray[np.float32]:
    view = EvaluationView(model.preprocessing.size, model.preprocessing.crop_share)
    loader = DataLoader(
        KeyedDataset(source, view, seed=0),
        batch_sampler=[
            [(0, index) for index in range(start, min(start + _BATCH, len(source)))]
            for start in range(0, len(source), _BATCH)
        ],
        num_workers=workers,
        collate_fn=collate,
    )
    parts: list[NDArray[np.float32]] = []
    done = 0
    for batch in loader:
        if batch["failures"]:
            identity, reason = batch["failures"][0]
            raise RunError(f"'{identity}' cannot be read: {reason}")
        with torch.no_grad():
            features = model.features(normalise(batch["views"]["image"], model.preprocessing))
        if not torch.isfinite(features).all():
            raise RunError(f"the features of '{model.name}' are not finite")
        parts.append(features.float().flatten(1).cpu().numpy())
        done += len(parts[-1])
        if on_progress:
            on_progress(done, len(source))
    return np.concatenate(parts)


def normalise(images: torch.Tensor, preprocessing: Preprocessing) -> torch.Tensor:
    """uint8 (N, 3, H, W) to the normalised floats that a model takes."""
    mean = torch.tensor(preprocessing.mean).view(1, 3, 1, 1)
    std = torch.tensor(preprocessing.std).view(1, 3, 1, 1)
    return (images.float() / 255 - mean) / std


def _key(model: LoadedModel, source: ImageSource) -> str:
    text = f"{_VERSION} {model.fingerprint} {source.fingerprint()} {model.preprocessing!r}"
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path, count: int) -> NDArray[np.float32] | None:
    if not path.exists():
        return None
    try:
        values: NDArray[np.float32] = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError):
        return None
    return values if len(values) == count else None


def _write(path: Path, values: NDArray[np.float32]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_open(path) as file:
        np.save(file, values)
