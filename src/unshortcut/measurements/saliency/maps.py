"""Where a model looks when it decides: Grad-CAM of some images, how much of them it covers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from unshortcut.inference.preprocessing import normalize
from unshortcut.measurements.saliency.coverage import Map, coverage
from unshortcut.measurements.saliency.gradcam import grad_cam, require_library
from unshortcut.measurements.saliency.layers import find_layers
from unshortcut.measurements.saliency.scores import class_scores, explained
from unshortcut.measuring.estimates.estimate import UNKNOWN, Estimate
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.subjects.images import Pixels, Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress

IMAGES, SHOWN = 96, 24
"""That are measured, and of them that have pictures, at most."""
_BATCH, _TRIED = 16, 4
"""Images that are explained at a time, and that choose the layer."""
_SIDE, _STRONGEST = 160, 0.65
"""Of the pictures, and how much of a color hides the image where a map is highest."""


@dataclass(frozen=True)
class Looked:
    """What a model looked at in one image."""

    index: int
    """In the data, by which images of several models are matched."""
    truth: str
    decision: str
    area: float
    edges: float
    """Shares that are salient; NaN for an empty map."""

    @property
    def right(self) -> bool:
        return self.truth == self.decision

    @property
    def empty(self) -> bool:
        return math.isnan(self.area)


@dataclass(frozen=True)
class Shown:
    """The pictures of one image."""

    index: int
    plain: Picture
    map: Picture


@dataclass(frozen=True)
class Coverages:
    """Over images whose maps are not empty; NaN where all are."""

    images: int
    area: Estimate
    edges: Estimate
    lift: Estimate
    """Edges over area: 1 where the map does not care for edges."""


@dataclass(frozen=True)
class SaliencyResult:
    """What a model looks at."""

    layer: str
    side: int
    """Of the maps before they are enlarged."""
    explained: str
    looked: tuple[Looked, ...]
    shown: tuple[Shown, ...]
    coverages: Coverages
    total: int
    """Images that could have been taken."""

    @property
    def empty(self) -> float:
        """Share of maps that are empty."""
        return sum(one.empty for one in self.looked) / len(self.looked)


def saliency(subject: Subject, on_progress: OnProgress) -> SaliencyResult:
    """Explain what is decided for each image, right or wrong."""
    require_library()
    scores = class_scores(subject.model, subject.decisions, subject.selection)
    module = subject.model.module
    assert module is not None  # or there would be no scores
    images = subject.labeled(IMAGES)
    labels = images.required_labels()
    decided = subject.probabilities(images).argmax(axis=1)
    layers = find_layers(module, scores, _tensor(subject, images, range(len(images))[:_TRIED]))
    shown = set(images.some(SHOWN, subject.settings.seed).indices.tolist())
    looked, pictures = [], []
    for start in range(0, len(images), _BATCH):
        rows = range(start, min(start + _BATCH, len(images)))
        maps = grad_cam(
            module, scores, layers, _tensor(subject, images, rows), decided[rows.start : rows.stop]
        )
        for row, one in zip(rows, maps, strict=True):
            pixels, index = images.pixels(row), int(images.indices[row])
            area, edge = coverage(one, pixels)
            truth, decision = images.classes[labels[row]], images.classes[decided[row]]
            looked.append(Looked(index, truth, decision, area, edge))
            if index in shown:
                mark = "good" if truth == decision else "bad"
                plain = picture(pixels, images.identity(row), side=_SIDE)
                caption = f"'{decision}'" + (", empty map" if looked[-1].empty else "")
                pictures.append(
                    Shown(index, plain, picture(overlay(pixels, one), caption, mark, side=_SIDE))
                )
        on_progress(rows.stop, len(images))
    return SaliencyResult(
        ", ".join(layers.names) or "the model itself",
        layers.side,
        explained(subject.decisions),
        tuple(looked),
        tuple(pictures),
        coverages(looked, subject.settings.seed),
        images.total,
    )


def coverages(looked: Sequence[Looked], seed: int = 0) -> Coverages:
    """Means over images; the lift is that of the means."""
    known = [one for one in looked if not one.empty]
    area, edges = (np.array([getattr(one, key) for one in known]) for key in ("area", "edges"))

    def lift(rows: NDArray[np.int64]) -> float:
        has = rows[~np.isnan(edges[rows])]
        return float(edges[has].mean() / area[has].mean()) if len(has) else math.nan

    def mean(values: NDArray[np.float64]) -> Estimate:
        return Estimate.mean(values[~np.isnan(values)], seed=seed)

    if not known:
        return Coverages(0, UNKNOWN, UNKNOWN, UNKNOWN)
    return Coverages(len(known), mean(area), mean(edges), Estimate.of(lift, len(known), seed=seed))


def overlay(pixels: Pixels, saliency: Map) -> Pixels:
    """The image (S, S, 3) with the map in colors, from clear where it is 0 to strong at 1."""
    colors = cv2.applyColorMap((255 * saliency).astype(np.uint8), cv2.COLORMAP_TURBO)[:, :, ::-1]
    weight = _STRONGEST * saliency[:, :, None]
    return (pixels * (1 - weight) + colors * weight).round().astype(np.uint8)


def _tensor(subject: Subject, images: Prepared, rows: Sequence[int]) -> torch.Tensor:
    """Normalized images (n, 3, S, S)."""
    pixels = torch.from_numpy(np.stack([images.pixels(row) for row in rows]))
    model = subject.model
    return normalize(pixels.permute(0, 3, 1, 2).to(model.device), model.preprocessing)
