"""Scenes whose objects are squares of one color, and a model that sees only mean colors."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from torch import Tensor, nn

from tests.measuring.made import Arrays, subject_of
from unshortcut.data.regions import MultiLabels, Regions
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.ball_head import BallHead

SIDE = 24
COLORS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}
PLACES = ((1, 1), (1, 17), (17, 1), (17, 17), (9, 9))


class Painted(Arrays):
    """Images with squares of 6 × 6 pixels on black.

    scenes: the colors of the squares of each image; one in capitals is out of context.
    """

    def __init__(self, scenes: Sequence[Sequence[str]], *, marked: bool = True) -> None:
        pixels = np.zeros((len(scenes), SIDE, SIDE, 3), np.uint8)
        self.scenes, self.marked = scenes, marked
        shown = np.zeros((len(scenes), len(COLORS)), np.int8)
        for index, names in enumerate(scenes):
            for name, (top, left) in zip(names, PLACES, strict=False):
                pixels[index, top : top + 6, left : left + 6] = COLORS[name.lower()]
                shown[index, list(COLORS).index(name.lower())] = 1
        super().__init__(pixels, None, None)
        self.box_classes = tuple(COLORS)
        self.multilabels = MultiLabels(tuple(COLORS), shown)

    def regions(self, index: int) -> Regions:
        names = self.scenes[index]
        corners = [(left, top, left + 6, top + 6) for top, left in PLACES[: len(names)]]
        return Regions.of_boxes(
            np.array(corners, dtype=np.float32),
            np.array([list(COLORS).index(name.lower()) for name in names]),
            odd=np.array([name.isupper() for name in names]) if self.marked else None,
        )


def mean_colors(images: Tensor) -> Tensor:
    """Features (N, 3) of images (N, 3, S, S)."""
    return images.mean(dim=(2, 3))


def painted_subject(source: Painted, curvature: float | None = 0.5) -> Subject:
    """The model has a ball, into which its features are mapped, if there is a curvature."""
    subject = subject_of(None, source, features=mean_colors)
    ball = None if curvature is None else BallHead(nn.Identity(), curvature)
    return replace(subject, model=replace(subject.model, ball=ball))
