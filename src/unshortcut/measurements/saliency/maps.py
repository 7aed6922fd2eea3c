"""Grad-CAM maps of a model's decisions, and how much of the area and edges of images they cover.

The dissertation on suppressing texture (sections 2.4 and 2.10, figures 2.9 to 2.17) finds by visual
inspection that the maps of models that recognize shape cover a larger area and include the outlines
of objects. Coverage puts numbers on both.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from unshortcut.inference.preprocessing import normalize
from unshortcut.measurements.saliency import gradcam
from unshortcut.measuring.estimates import UNKNOWN, Estimate
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.settings import Limit
from unshortcut.measuring.subjects.images import Pixels, Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress

MAX_IMAGES, MAX_SHOWN = Limit(quick=24, standard=96), 24
"""Limits on the images that are measured, and on those that are shown."""
_BATCH, TRIED = 16, 4
"""Images per batch, and images used to choose the layer."""
_SIDE, _OPACITY = 128, 0.65
"""Side of the pictures, and opacity of the color where a map is 1."""
LEVEL = 0.5
"""Positions with at least this share of the maximum of a map are salient."""
EDGES = 0.1
"""Share of the pixels of an image that count as edges."""
_FINEST = 64
"""Edges are found at about this image size in pixels, where fine texture is no longer visible."""

Map = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ExplainedDecision:
    """The decision on one image, and how much its map covers."""

    index: int
    """Index in the data, by which images of several models are matched."""
    truth: str
    decision: str
    area: float
    """Salient share of the area; NaN for an empty map."""
    edges: float
    """Salient share of the edges; NaN for an empty map."""

    @property
    def right(self) -> bool:
        return self.truth == self.decision

    @property
    def empty(self) -> bool:
        return math.isnan(self.area)


@dataclass(frozen=True)
class SaliencyPictures:
    """The pictures of one image."""

    index: int
    plain: Picture
    map: Picture


@dataclass(frozen=True)
class Coverages:
    """Means over the images whose maps are not empty; NaN if all are."""

    num_images: int
    area: Estimate
    edges: Estimate
    lift: Estimate
    """Edges divided by area: 1 for a map that ignores edges."""


@dataclass(frozen=True)
class SaliencyResult:
    """The saliency maps of one model."""

    layer: str
    side: int
    """Side of the maps before they are enlarged."""
    explained: str
    """The score whose gradient is used."""
    decisions: tuple[ExplainedDecision, ...]
    shown: tuple[SaliencyPictures, ...]
    coverages: Coverages
    total: int
    """Number of images available."""
    error: SaliencyPictures | None = None
    """The first wrong decision whose map is not empty."""

    @property
    def empty(self) -> float:
        """Share of empty maps."""
        return sum(one.empty for one in self.decisions) / len(self.decisions)


def saliency(subject: Subject, on_progress: OnProgress) -> SaliencyResult:
    """Explain the decision on each image, right or wrong."""
    gradcam.require_library()
    scores = gradcam.class_scores(subject.model, subject.decisions, subject.selection)
    module = subject.model.module
    assert module is not None  # or there would be no scores
    images = subject.labeled(MAX_IMAGES)
    labels = images.required_labels()
    decided = subject.probabilities(images).argmax(axis=1)
    tried = _tensor(subject, images, range(len(images))[:TRIED])
    layers = gradcam.find_layers(module, scores, tried)
    shown = set(images.some(MAX_SHOWN, subject.settings.seed).indices.tolist())
    decisions, pictures = [], []
    error: SaliencyPictures | None = None
    for start in range(0, len(images), _BATCH):
        rows = range(start, min(start + _BATCH, len(images)))
        inputs, classes = _tensor(subject, images, rows), decided[rows.start : rows.stop]
        maps = gradcam.grad_cam(module, scores, layers, inputs, classes)
        for row, one in zip(rows, maps, strict=True):
            pixels, index = images.pixels(row), int(images.indices[row])
            area, edge = coverage(one, pixels)
            truth, decision = images.classes[labels[row]], images.classes[decided[row]]
            decisions.append(ExplainedDecision(index, truth, decision, area, edge))
            if index in shown:
                pictures.append(_pictures(decisions[-1], pixels, one, images.identity(row)))
            if error is None and not (decisions[-1].right or decisions[-1].empty):
                error = _pictures(decisions[-1], pixels, one, images.identity(row))
                caption = f"'{truth}' taken for '{decision}'"
                error = replace(error, map=replace(error.map, caption=caption))
        on_progress(rows.stop, len(images))
    probe = "" if subject.decisions.kind == "head" else " in the linear probe"
    return SaliencyResult(
        ", ".join(layers.names) or "the model itself",
        layers.side,
        f"logit of the predicted class{probe}",
        tuple(decisions),
        tuple(pictures),
        coverages(decisions, subject.settings.seed),
        images.total,
        error,
    )


def coverages(decisions: Sequence[ExplainedDecision], seed: int = 0) -> Coverages:
    """Mean coverages over images; the lift is the ratio of the means."""
    known = [one for one in decisions if not one.empty]
    area, edges = (np.array([getattr(one, key) for one in known]) for key in ("area", "edges"))

    def lift(rows: NDArray[np.int64]) -> float:
        has = rows[~np.isnan(edges[rows])]
        return float(edges[has].mean() / area[has].mean()) if len(has) else math.nan

    def mean(values: NDArray[np.float64]) -> Estimate:
        return Estimate.mean(values[~np.isnan(values)], seed=seed)

    if not known:
        return Coverages(0, UNKNOWN, UNKNOWN, UNKNOWN)
    return Coverages(len(known), mean(area), mean(edges), Estimate.of(lift, len(known), seed=seed))


def salient(saliency: Map) -> Mask:
    """Where a map (S, S) has at least half its maximum; nowhere if the map is empty."""
    return (saliency >= LEVEL * saliency.max()) & (saliency.max() > 0)


def edges(pixels: Pixels) -> Mask:
    """The tenth of the pixels (S, S) with the largest gradient of brightness; never flat ones."""
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    smooth = cv2.GaussianBlur(gray, (0, 0), max(0.5, len(pixels) / _FINEST))
    dx_image, dy_image = (cv2.Sobel(smooth, cv2.CV_32F, dx, 1 - dx) for dx in (1, 0))
    gradient = np.hypot(dx_image, dy_image)
    return np.asarray(gradient > np.quantile(gradient, 1 - EDGES))


def coverage(saliency: Map, pixels: Pixels) -> tuple[float, float]:
    """Salient shares of the area and of the edges of an image; NaN if the map is empty.

    The second is NaN for a uniform image, too.
    """
    if not saliency.max() > 0:
        return float("nan"), float("nan")
    area, edge = salient(saliency), edges(pixels)
    return float(area.mean()), float(area[edge].mean()) if edge.any() else float("nan")


def overlay(pixels: Pixels, saliency: Map) -> Pixels:
    """The image (S, S, 3) under the map in colors, transparent where the map is 0."""
    colors = cv2.applyColorMap((255 * saliency).astype(np.uint8), cv2.COLORMAP_TURBO)[:, :, ::-1]
    weight = _OPACITY * saliency[:, :, None]
    return (pixels * (1 - weight) + colors * weight).round().astype(np.uint8)


def _pictures(
    decision: ExplainedDecision, pixels: Pixels, saliency: Map, identity: str
) -> SaliencyPictures:
    caption = f"'{decision.decision}'" + (", empty map" if decision.empty else "")
    mark = "good" if decision.right else "bad"
    plain = picture(pixels, identity, side=_SIDE)
    overlaid = picture(overlay(pixels, saliency), caption, mark, side=_SIDE)
    return SaliencyPictures(decision.index, plain, overlaid)


def _tensor(subject: Subject, images: Prepared, rows: Sequence[int]) -> torch.Tensor:
    """Normalized images (n, 3, S, S)."""
    pixels = torch.from_numpy(np.stack([images.pixels(row) for row in rows]))
    model = subject.model
    return normalize(pixels.permute(0, 3, 1, 2).to(model.device), model.preprocessing)
