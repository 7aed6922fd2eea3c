"""Rotation as an augmentation costs MoCo what it knew of angles, and LooC not (LooC, table 1)."""

from collections.abc import Sequence
from typing import ClassVar

from unshortcut.reproduction.claim import Axis, Column, Scale, Variant
from unshortcut.reproduction.claims._looc import ROTATION, SMALL_NOTE, TEST, Rows, methods
from unshortcut.reproduction.effects import EQUAL, Effect, difference, holds

_MOCO = "method=moco"
_ROTATED = "method=moco-rotation"
_SAME = "method=moco-same-rotation"
_LOOC = "method=looc-rotation"


class LoocRotation(Rows):
    """MoCo without rotation, with it, with the same angle for both views; and LooC."""

    name: ClassVar[str] = "looc-rotation"
    summary: ClassVar[str] = "rotation costs MoCo its accuracy on angles; LooC keeps it"
    where: ClassVar[str] = "leave-one-out contrastive learning, table 1"
    columns: ClassVar[tuple[Column, ...]] = (ROTATION, TEST)
    notes: ClassVar[tuple[str, ...]] = (
        SMALL_NOTE,
        "Rotation: by which of four quarter turns an image was turned, so chance is 25 %. LooC "
        f"keeps what MoCo has where the interval lies above -{EQUAL:g} points.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (methods("moco", "moco-rotation", "moco-same-rotation", "looc-rotation"),)

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return [
            difference("rotation", _ROTATED, _MOCO, -1),
            difference("rotation", _SAME, _MOCO, -1),
            difference("rotation", _LOOC, _ROTATED, 1),
            difference("rotation", _LOOC, _SAME, 1),
            holds("rotation", _LOOC, _MOCO),
            difference("test", _ROTATED, _MOCO, -1),
            difference("test", _SAME, _MOCO, -1),
            holds("test", _LOOC, _MOCO),
            holds("test", _LOOC, _ROTATED),
        ]
