"""`selective_search`: similar neighboring regions are merged step by step (Uijlings et al., 2013).

The merging is OpenCV's. Its own order of the boxes is random, so boxes are ranked here: by how much
the colors inside differ from those around, times the square root of how often about the same box
comes up under the different color spaces and similarities.
"""

from typing import ClassVar, Literal

import cv2
import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.build.proposer import Proposals, Proposer
from unshortcut.errors import UsageError
from unshortcut.fields import PositiveInt, Probability
from unshortcut.imaging.box_ranking import color_histograms, contrast, overlaps, suppress
from unshortcut.parts import settings

_SAME = 0.6
"""Overlap from which two boxes count as the same."""
_SHARES = (0.004, 0.85)
"""Smallest and largest area of a box, as a share of the image's."""


@settings
class SelectiveSearch(Proposer):
    """Boxes of regions of similar color and texture."""

    name: ClassVar[str] = "selective_search"

    side: PositiveInt = 160
    """The longest side that images are reduced to, for speed; small objects are lost below it."""
    mode: Literal["single", "fast", "quality"] = "fast"
    """OpenCV's strategies: one color space and similarity, a few, or many."""
    overlap: Probability = 0.5
    """Of two boxes that overlap by more (intersection over union), the better one is kept."""

    def check(self) -> None:
        if not hasattr(cv2, "ximgproc"):
            raise UsageError(
                "selective_search needs OpenCV's contrib build: pip install "
                "opencv-contrib-python-headless; the method 'features' needs none"
            )

    def propose(self, image: ImageArray, most: int) -> Proposals:
        height, width = image.shape[:2]
        scale = min(1.0, self.side / max(height, width))
        size = max(1, round(width * scale)), max(1, round(height * scale))
        small = cv2.resize(image, size, interpolation=cv2.INTER_AREA) if scale < 1 else image
        boxes = self._regions(np.ascontiguousarray(small))
        if len(boxes) == 0:
            return Proposals(np.zeros((0, 4), np.float32), np.zeros(0, np.float32))
        corners = boxes.astype(np.float32)
        repeated = (overlaps(corners, corners) > _SAME).sum(axis=1)
        scores = contrast(color_histograms(small), boxes, histograms=True) * np.sqrt(repeated)
        kept = suppress(corners, scores.astype(np.float32), most, self.overlap)
        full = np.array([width / size[0], height / size[1]] * 2, dtype=np.float32)
        return Proposals(corners[kept] * full, scores[kept].astype(np.float32))

    def _regions(self, image: ImageArray) -> np.ndarray:
        """(n, 4) boxes in pixels of the image, of neither a speck nor everything."""
        search = cv2.ximgproc.segmentation.createSelectiveSearchSegmentation()
        search.setBaseImage(cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
        if self.mode == "single":
            search.switchToSingleStrategy()
        elif self.mode == "fast":
            search.switchToSelectiveSearchFast()
        else:
            search.switchToSelectiveSearchQuality()
        found = np.asarray(search.process(), dtype=np.int64).reshape(-1, 4)
        boxes = np.concatenate([found[:, :2], found[:, :2] + found[:, 2:]], axis=1)
        share = found[:, 2:].prod(axis=1) / (image.shape[0] * image.shape[1])
        return boxes[(share >= _SHARES[0]) & (share <= _SHARES[1])]
