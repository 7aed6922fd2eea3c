"""Shape bias: whether decisions on cue-conflict images follow the shape or the texture.

Among all decisions for either the class of the shape or the class of the texture, the bias is the
share of those for the shape (Geirhos et al. 2019). Images whose two cues agree are left out. If few
decisions name either cue the bias means little, so it is always reported with its coverage.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.errors import UsageError
from unshortcut.intervals import bootstrap, wilson

Classes = NDArray[np.integer]


@dataclass(frozen=True)
class CueCounts:
    """Counts of the decisions on cue-conflict images, and the measures that follow from them."""

    shape: int  # decisions for the class of the shape
    texture: int  # decisions for the class of the texture
    conflicts: int  # images whose cues conflict

    @property
    def bias(self) -> float:
        """shape / (shape + texture), from 0 to 1; NaN if no decision names either cue."""
        named = self.shape + self.texture
        return self.shape / named if named else float("nan")

    @property
    def coverage(self) -> float:
        """The share of conflicts whose decision names one of the two cues."""
        return (self.shape + self.texture) / self.conflicts

    @property
    def shape_accuracy(self) -> float:
        """Accuracy (0 to 1) on the conflicts if the shape is the label."""
        return self.shape / self.conflicts

    @property
    def texture_accuracy(self) -> float:
        """Accuracy (0 to 1) on the conflicts if the texture is the label."""
        return self.texture / self.conflicts


def shape_bias(decisions: Classes, shapes: Classes, textures: Classes) -> CueCounts:
    """The shape bias of decisions (N,), given the labels (N,) of shapes and textures."""
    lengths = {len(decisions), len(shapes), len(textures)}
    if len(lengths) > 1:
        raise UsageError(
            "shape bias needs one decision, one shape and one texture per image, got "
            f"{len(decisions)}, {len(shapes)} and {len(textures)}"
        )
    conflict = shapes != textures
    if not conflict.any():
        raise UsageError("shape bias needs images whose shape and texture conflict; there are none")
    return CueCounts(
        shape=int((conflict & (decisions == shapes)).sum()),
        texture=int((conflict & (decisions == textures)).sum()),
        conflicts=int(conflict.sum()),
    )


def by_shape(decisions: Classes, shapes: Classes, textures: Classes) -> dict[int, CueCounts]:
    """The counts for each shape class that has an image whose cues conflict."""
    conflicting = np.unique(shapes[shapes != textures]).tolist()
    rows = {shape: shapes == shape for shape in conflicting}
    return {
        shape: shape_bias(decisions[own], shapes[own], textures[own]) for shape, own in rows.items()
    }


def bias_interval(
    decisions: Classes, shapes: Classes, textures: Classes, *, seed: int = 0
) -> tuple[float, float]:
    """The 95 % interval of the bias, by a bootstrap over the conflicting images.

    If all decisions follow the same cue, every resample has the same bias, however few they are:
    then it is Wilson's interval.
    """
    conflict = shapes != textures
    shape = (decisions == shapes)[conflict]
    named = shape | (decisions == textures)[conflict]
    counts = shape.sum(), named.sum()
    if counts[0] in (0, counts[1]):
        return wilson(int(counts[0]), int(counts[1]))

    def bias(rows: NDArray[np.int64]) -> float:
        total = named[rows].sum()
        return float(shape[rows].sum() / total) if total else float("nan")

    return bootstrap(bias, len(named), seed=seed)
