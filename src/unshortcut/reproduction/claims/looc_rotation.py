"""Rotation as an augmentation removes rotation from MoCo's features, not from LooC's (table 1)."""

from collections.abc import Sequence

from unshortcut.reproduction.claim import Axis, Scale, Variant
from unshortcut.reproduction.claims import _looc as looc
from unshortcut.reproduction.effects import Effect, difference, not_worse
from unshortcut.reproduction.registration import Registration

_MOCO = "method=moco"
_ROTATED = "method=moco-rotation"
_SAME = "method=moco-same-rotation"
_LOOC = "method=looc-rotation"


class LoocRotation(looc.RecipeComparison):
    """MoCo without rotation, with it, with the same angle for both views; and LooC."""

    name = "looc-rotation"
    summary = "augmenting with rotation costs MoCo its accuracy on rotation; LooC keeps it"
    where = "leave-one-out contrastive learning, table 1"
    columns = (looc.ROTATION, looc.TEST)
    notes = (
        looc.SMALL_NOTE,
        "Rotation: which of four multiples of 90 degrees an image was rotated by; chance is 25 %. "
        "Where the paper claims that LooC keeps an accuracy, *no effect* agrees with it too.",
    )
    registration = Registration(
        order=3,
        seeds=4,
        arms=(_MOCO, _ROTATED, _LOOC),
        primary=difference("rotation", _LOOC, _ROTATED, 1),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (looc.methods("moco", "moco-rotation", "moco-same-rotation", "looc-rotation"),)

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return [
            difference("rotation", _ROTATED, _MOCO, -1),
            difference("rotation", _SAME, _MOCO, -1),
            difference("rotation", _LOOC, _ROTATED, 1),
            difference("rotation", _LOOC, _SAME, 1),
            not_worse("rotation", _LOOC, _MOCO),
            difference("test", _ROTATED, _MOCO, -1),
            difference("test", _SAME, _MOCO, -1),
            not_worse("test", _LOOC, _MOCO),
            not_worse("test", _LOOC, _ROTATED),
        ]
