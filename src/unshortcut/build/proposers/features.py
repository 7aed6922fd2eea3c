"""`features`: boxes out of the feature map of any model, which needs no labels.

Cells of an object have features of their own, so that a main component of all cells of an image is
high or low there. The components are thresholded at several levels, and the connected parts give
boxes, which are ranked by how much the features inside differ from those around.
"""

from functools import lru_cache
from typing import Any, ClassVar

import cv2
import numpy as np
import torch

from unshortcut.arrays import ImageArray
from unshortcut.build.proposer import Proposals, Proposer
from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber, PositiveInt, Probability
from unshortcut.imaging.box_ranking import Map, contrast, suppress
from unshortcut.models.fine_maps import fine_map
from unshortcut.models.load import load_model
from unshortcut.models.loaded import LoadedModel
from unshortcut.parts import settings

_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Quantiles of a component at which it is thresholded, from both ends."""
_GRID = 64
"""Cells that a map is interpolated to along each side before it is thresholded."""
_RANKED = 16
"""Components that boxes are ranked by."""
_STEP = 32
"""Sides of images are multiples of it, as most networks need."""
_SHARES = (0.005, 0.8)
"""Smallest and largest area of a box, as a share of the image's."""


@settings
class FeatureBoxes(Proposer):
    """Boxes of cells with similar features."""

    name: ClassVar[str] = "features"

    model: str = ""
    """The model, as in `load_model`; a run, for example."""
    side: PositiveInt = 256
    """Side of the square that an image is resized to, unless it is smaller itself; a model that
    takes images of one size alone gets them."""
    cells: PositiveInt = 32
    """The deepest map with so many cells along a side is used."""
    components: PositiveInt = 4
    """Main components that are thresholded."""
    area: NonNegativeNumber = 0.25
    """Exponent of the area in the score: large boxes are preferred to small ones."""
    overlap: Probability = 0.5
    """Of two boxes that overlap by more (intersection over union), the better one is kept."""

    def check(self) -> None:
        if not self.model:
            raise UsageError("the method 'features' needs a model: give --model RUN")
        model_side(self.model)

    def identity(self) -> dict[str, Any]:
        return {"weights": _load(self.model).fingerprint}

    def propose(self, image: ImageArray, most: int) -> Proposals:
        height, width = image.shape[:2]
        cells = self._components(image)
        boxes = self._parts(cells)
        share = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) / cells[..., 0].size
        usable = (share >= _SHARES[0]) & (share <= _SHARES[1])
        boxes, share = boxes[usable], share[usable]
        if len(boxes) == 0:
            return Proposals(np.zeros((0, 4), np.float32), np.zeros(0, np.float32))
        scores = (contrast(cells, boxes) * share**self.area).astype(np.float32)
        corners = boxes.astype(np.float32)
        kept = suppress(corners, scores, most, self.overlap)
        full = np.array([width / cells.shape[1], height / cells.shape[0]] * 2, dtype=np.float32)
        return Proposals(corners[kept] * full, scores[kept])

    def _components(self, image: ImageArray) -> Map:
        """(h, w, C): the main components of the cells' unit features, interpolated."""
        side = min(self.side, max(128, -(-max(image.shape[:2]) // _STEP) * _STEP))
        side = model_side(self.model) or side
        larger = side > max(image.shape[:2])
        how = cv2.INTER_LINEAR if larger else cv2.INTER_AREA
        pixels = torch.from_numpy(cv2.resize(image, (side, side), interpolation=how))
        (cells,) = fine_map(_load(self.model), pixels.permute(2, 0, 1)[None], self.cells)
        rows = cells.flatten(1).T.numpy().astype(np.float64)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        left, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        count = min(_RANKED, len(values))
        found = (left[:, :count] * values[:count]).reshape(*cells.shape[1:], count)
        size = max(_GRID, cells.shape[2]), max(_GRID, cells.shape[1])
        resized = cv2.resize(found.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)
        return resized.reshape(size[1], size[0], count)

    def _parts(self, cells: Map) -> np.ndarray:
        """(n, 4): boxes of the connected parts of each component above or below each level."""
        found: list[np.ndarray] = []
        for number in range(min(self.components, cells.shape[2])):
            for component in (cells[..., number], -cells[..., number]):
                for level in np.quantile(component, _LEVELS):
                    above = (component > level).astype(np.uint8)
                    _, _, stats, _ = cv2.connectedComponentsWithStats(above, connectivity=4)
                    x, y, w, h = stats[1:, :4].T
                    found.append(np.stack([x, y, x + w, y + h], axis=1))
        return np.unique(np.concatenate(found), axis=0).astype(np.int64)


@lru_cache(maxsize=2)
def model_side(spec: str) -> int | None:
    """The only side of images that a model takes, as many ViTs do; None if it takes others too.

    Raises `UsageError` for a model without a feature map.
    """
    model = _load(spec)
    own = model.preprocessing.size

    def try_side(side: int) -> None:
        fine_map(model, torch.zeros(1, 3, side, side, dtype=torch.uint8), cells=1)

    try:
        try_side(own + _STEP)
    except (AssertionError, RuntimeError, ValueError):
        try_side(own)
        return own
    return None


@lru_cache(maxsize=2)
def _load(spec: str) -> LoadedModel:
    return load_model(spec)
