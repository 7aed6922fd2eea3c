"""Batches of views: what a loader hands to a method, and how samples are stacked to one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.arrays import ImageArray
from unshortcut.data.regions import Regions
from unshortcut.data.source import Image


class Views(dict[str, ImageArray]):
    """Named views of one image, uint8 (h, w, 3), with metadata and what is annotated in them."""

    def __init__(
        self,
        views: Mapping[str, ImageArray],
        metadata: Mapping[str, NDArray[np.bool_]] | None = None,
        regions: Regions | None = None,
    ) -> None:
        super().__init__(views)
        self.metadata = dict(metadata or {})
        """(k,) bool by view, from its transform."""
        self.regions = regions
        """Boxes and mask in pixels of the views, which then all have the same size."""


MakeViews = Callable[[Image, int, int, int], Mapping[str, ImageArray]]
"""(image, seed, epoch, index) to named views, uint8 (h, w, 3), or to `Views`.

(seed, epoch, index) is the key, and does not change if a bad image is replaced by another."""


class LoadedBatch(TypedDict):
    """A batch of n images, as a method receives it."""

    views: dict[str, Tensor]
    """uint8 (n, 3, h, w), stored channels last."""
    index: Tensor
    """(n,) int64: indices in the source."""
    label: Tensor
    """(n,) int64, -1 without a label."""
    trusted: Tensor | None
    """(n,) bool: whether a label is known to be right; None if the source says nothing of it."""
    metadata: dict[str, Tensor]
    """(n, k) bool by view, from its transform."""
    multilabel: Tensor | None
    """(n, C) int8: 1 shown, 0 not shown, -1 unknown; None without such labels."""
    regions: list[Regions] | None
    """The annotation of each image, in pixels of its view before padding; None without any."""
    sizes: Tensor
    """(n, 2): height and width of the first view of each image before padding."""
    failures: list[tuple[str, str]]
    """(identity, reason) of the images that were replaced."""


@dataclass(frozen=True)
class LoadedSample:
    """The views of one image; `index` and `label` are those of the image that was used."""

    views: Mapping[str, ImageArray]
    index: int
    label: int
    failures: list[tuple[str, str]]
    metadata: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    multilabel: NDArray[np.int8] | None = None
    regions: Regions | None = None
    trusted: bool | None = None


def collate(samples: list[LoadedSample]) -> LoadedBatch:
    """Stack samples; views stay uint8 and are channels last in memory.

    Views of different sizes are padded with black, at the bottom and at the right.
    """
    stacked = {
        name: pad_and_stack([one.views[name] for one in samples]) for name in samples[0].views
    }
    shown = [one.multilabel for one in samples if one.multilabel is not None]
    regions = [one.regions for one in samples if one.regions is not None]
    trusted = [one.trusted for one in samples if one.trusted is not None]
    return LoadedBatch(
        views={name: torch.from_numpy(v).permute(0, 3, 1, 2) for name, (v, _) in stacked.items()},
        index=torch.tensor([sample.index for sample in samples], dtype=torch.int64),
        label=torch.tensor([sample.label for sample in samples], dtype=torch.int64),
        trusted=torch.tensor(trusted) if trusted else None,
        metadata={
            name: torch.from_numpy(np.stack([sample.metadata[name] for sample in samples]))
            for name in samples[0].metadata
        },
        multilabel=torch.from_numpy(np.stack(shown)) if shown else None,
        regions=regions or None,
        sizes=next(iter(stacked.values()))[1],
        failures=[failure for sample in samples for failure in sample.failures],
    )


def pad_and_stack(views: list[ImageArray]) -> tuple[ImageArray, Tensor]:
    """Views as (n, h, w, 3), padded to the largest height and width, and their sizes (n, 2)."""
    sizes = np.array([view.shape[:2] for view in views], dtype=np.int64)
    height, width = sizes.max(axis=0)
    if (sizes == sizes[0]).all():
        return np.stack(views), torch.from_numpy(sizes)
    padded = np.zeros((len(views), height, width, 3), dtype=np.uint8)
    for row, view in zip(padded, views, strict=True):
        row[: view.shape[0], : view.shape[1]] = view
    return padded, torch.from_numpy(sizes)
