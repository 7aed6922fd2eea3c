"""Features of a frozen model: computed once, in eval mode, cached by content of model and data."""

import hashlib
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.arrays import ImageArray
from unshortcut.data.failures import Failure
from unshortcut.data.regions import MultiLabels
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.files import atomic_open, cache_folder
from unshortcut.inference.forward import FeatureModel, run_features
from unshortcut.inference.preprocessing import stack
from unshortcut.inference.reading import Unreadable, read_batches
from unshortcut.progress import OnProgress
from unshortcut.views.evaluation import RandomCropView, View

Computed = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Features (N, D) and positions of the images in the source (N,)."""

_VERSION = 3  # raised when the same inputs would give other files
_MIN_BATCH, _MAX_BATCH, _BATCH_PIXELS = 64, 256, 64 * 224 * 224


@dataclass(frozen=True)
class Features:
    """Features of the readable images of a data set, with labels if it has any."""

    values: NDArray[np.float32]  # (N, D)
    labels: NDArray[np.int64] | None  # (N,)
    classes: tuple[str, ...] | None
    indices: NDArray[np.int64]  # (N,), positions of the images in the source
    identities: tuple[str, ...] | None = None
    """Names of the images, such as their paths in the data set; given by `embed`."""
    unreadable: tuple[Failure, ...] = ()  # images that were left out, with the reasons
    among: NDArray[np.int64] | None = None
    """Labels of the classes of a test set that has fewer of them than the training data."""
    multilabels: MultiLabels | None = None
    """The classes that each of the N images shows, for images that may show several."""

    def required_labels(self) -> NDArray[np.int64]:
        """The labels, or a `UsageError`."""
        if self.labels is None:
            raise UsageError("the data have no labels")
        return self.labels


def compute_features(
    model: FeatureModel,
    source: ImageSource,
    *,
    workers: int | None = None,
    crops_of: int | None = None,
    cache: bool = True,
    max_unreadable: float | None = None,
    on_progress: OnProgress | None = None,
) -> Features:
    """Compute the features of every readable image of a source, in its order.

    Args:
        workers: number of threads that decode images, by default that of the available cores;
            the features are the same for any number.
        crops_of: an epoch, to use random resized crops and flips keyed by it instead of the center
            crop.
        cache: take the features from the cache if they are there, and store them if not.
        max_unreadable: largest share of unreadable images that is allowed; by default any share,
            as long as one image can be read. Unreadable images are left out with a warning.
        on_progress: called with (images done, images in all).
    """
    unreadable = Unreadable(len(source), max_unreadable)
    path = None
    if cache and model.fingerprint is not None:
        path = cache_folder() / "features" / f"{_key(model, source, crops_of)}.npz"
    known = _read(path, source, unreadable) if path is not None else None
    if known is None:
        known = _compute(model, source, crops_of, unreadable, workers, on_progress)
        if path is not None:
            try:
                _write(path, known, unreadable)
            except OSError as error:
                warnings.warn(f"the features could not be cached: {error}", stacklevel=2)
    elif on_progress:
        on_progress(len(source), len(source))
    values, indices = known
    labels = None if source.labels is None else source.labels[indices]
    shown = None if source.multilabels is None else source.multilabels.take(indices)
    failures = tuple(unreadable.failures.values())
    return Features(values, labels, source.classes, indices, unreadable=failures, multilabels=shown)


def batch_size(size: int) -> int:
    """Images in a batch: 256 small ones, fewer of larger ones, for the sake of memory."""
    return max(_MIN_BATCH, min(_MAX_BATCH, _BATCH_PIXELS // size**2))


def view_reader(source: ImageSource, view: View, epoch: int = 0) -> Callable[[int], ImageArray]:
    """A function that reads the image at a position of a source as an evaluation view shows it."""
    return lambda index: view(source.image(index), 0, epoch, index)["image"]


def _compute(
    model: FeatureModel,
    source: ImageSource,
    crops_of: int | None,
    unreadable: Unreadable,
    workers: int | None,
    on_progress: OnProgress | None,
) -> Computed:
    parts: list[Tensor] = []
    kept: list[int] = []
    view: View = model.preprocessing.view
    if crops_of is not None:
        view = RandomCropView(model.preprocessing.size)
    for positions, images in read_batches(
        view_reader(source, view, crops_of or 0),
        source.identity,
        unreadable,
        batch_size=batch_size(model.preprocessing.size),
        workers=workers,
        on_progress=on_progress,
    ):
        parts.append(run_features(model, stack(images)).float())
        kept += positions
    values = np.concatenate([part.numpy() for part in parts])
    return values, np.array(kept, dtype=np.int64)


def _key(model: FeatureModel, source: ImageSource, crops_of: int | None) -> str:
    text = f"{_VERSION} {model.fingerprint} {source.cache_key()} {model.preprocessing!r}"
    if crops_of is not None:
        text += f" crops of epoch {crops_of}"
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path, source: ImageSource, unreadable: Unreadable) -> Computed | None:
    try:
        with np.load(path, allow_pickle=False) as stored:
            values, indices = stored["values"], stored["indices"]
            failures = zip(stored["unreadable"].tolist(), stored["reasons"].tolist(), strict=True)
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile):
        return None
    for index, reason in failures:
        unreadable.add(index, Failure(source.identity(index), reason))
    unreadable.report()
    return values, indices


def _write(path: Path, computed: Computed, unreadable: Unreadable) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    failures = unreadable.failures
    with atomic_open(path, shared=True) as file:
        np.savez(
            file,
            values=computed[0],
            indices=computed[1],
            unreadable=np.array(list(failures), dtype=np.int64),
            reasons=np.array([failure.reason for failure in failures.values()], dtype=np.str_),
        )
