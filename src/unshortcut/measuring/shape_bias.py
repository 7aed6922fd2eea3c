"""Shape bias: whether decisions on images whose cues conflict follow the shape or the texture.

Of all decisions that name either the shape's class or the texture's class of a stimulus, the bias
is the share that names the shape's (Geirhos et al. 2019). Stimuli whose two cues agree tell
nothing and are left out. A bias means little where few decisions name either cue, so coverage
always goes with it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.errors import UsageError
from unshortcut.measuring.estimates.statistics import bootstrap, wilson

Classes = NDArray[np.integer]


@dataclass(frozen=True)
class ShapeBias:
    """Counts of decisions on stimuli whose cues conflict, and what follows from them."""

    shape: int
    """Decisions for the class of the shape."""
    texture: int
    """Decisions for the class of the texture."""
    conflicts: int
    """Stimuli whose cues conflict."""

    @property
    def bias(self) -> float:
        """shape / (shape + texture), 0 to 1; NaN where no decision names either cue."""
        named = self.shape + self.texture
        return self.shape / named if named else float("nan")

    @property
    def coverage(self) -> float:
        """The share of the conflicts whose decision names one of the two cues."""
        return (self.shape + self.texture) / self.conflicts

    @property
    def shape_accuracy(self) -> float:
        """Accuracy (0 to 1) on the conflicts where the shape is the label."""
        return self.shape / self.conflicts

    @property
    def texture_accuracy(self) -> float:
        """Accuracy (0 to 1) on the conflicts where the texture is the label."""
        return self.texture / self.conflicts


def shape_bias(decisions: Classes, shapes: Classes, textures: Classes) -> ShapeBias:
    """The shape bias of decisions (N,) on stimuli with shape labels (N,) and texture labels (N,).

    All three count the same classes.
    """
    lengths = {len(decisions), len(shapes), len(textures)}
    if len(lengths) > 1:
        raise UsageError(
            f"shape bias wants a decision, a shape and a texture for each stimulus, got "
            f"{len(decisions)}, {len(shapes)} and {len(textures)}"
        )
    conflict = shapes != textures
    if not conflict.any():
        raise UsageError("shape bias wants stimuli whose shape and texture conflict; there is none")
    return ShapeBias(
        shape=int((conflict & (decisions == shapes)).sum()),
        texture=int((conflict & (decisions == textures)).sum()),
        conflicts=int(conflict.sum()),
    )


def by_shape(decisions: Classes, shapes: Classes, textures: Classes) -> dict[int, ShapeBias]:
    """The shape bias on the stimuli of each class of shape, where any of them conflicts."""
    conflicting = np.unique(shapes[shapes != textures]).tolist()
    chosen = {shape: shapes == shape for shape in conflicting}
    return {
        shape: shape_bias(decisions[rows], shapes[rows], textures[rows])
        for shape, rows in chosen.items()
    }


def bias_interval(
    decisions: Classes, shapes: Classes, textures: Classes, *, seed: int = 0
) -> tuple[float, float]:
    """The 95 % interval of the bias: the bootstrap over conflicting stimuli.

    Where all decisions follow the same cue every resample has the same bias, which says nothing of
    how few they may be: there it is Wilson's.
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
