"""A task that needs color loses under jitter, and is kept by LooC's space for it (LooC, 4)."""

from collections.abc import Sequence
from typing import ClassVar

from unshortcut.reproduction.claim import Axis, Column, Scale, Variant
from unshortcut.reproduction.claims._looc import COLOR, MEASURES, SMALL_NOTE, TEST, Rows, methods
from unshortcut.reproduction.effects import EQUAL, Effect, WonBack, difference, holds
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.spaces import Spaces

_MOCO = "method=moco"
_NO_JITTER = "method=moco-no-jitter"
_LOOC = "method=looc-color"
_INVARIANT = f"{_LOOC}:invariant"
_SPACE = f"{_LOOC}:color"


class LoocColor(Rows):
    """MoCo with and without jitter, and LooC with a space for color: its backbone, its spaces."""

    name: ClassVar[str] = "looc-color"
    summary: ClassVar[str] = "jitter costs MoCo what it knew of color; LooC's color space keeps it"
    where: ClassVar[str] = "leave-one-out contrastive learning, table 2"
    columns: ClassVar[tuple[Column, ...]] = (COLOR, TEST)
    measures: ClassVar[tuple[Measure, ...]] = (*MEASURES, Spaces())
    notes: ClassVar[tuple[str, ...]] = (
        SMALL_NOTE,
        "Color: the hue of the object, a label of shapes. The paper has no task of color alone; "
        "beside ours stands iNat-1k, where it finds color preserved. A space is the hidden "
        "layer of its head, which is wider than the backbone; the invariant one is as wide. "
        f"Accuracy on classes holds where the interval lies above -{EQUAL:g} points.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        rows = ("moco", "moco-no-jitter", "looc-color")
        return (methods(*rows, "looc-color:invariant", "looc-color:color"),)

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return [
            difference("color", _MOCO, _NO_JITTER, -1),
            difference("color", _SPACE, _MOCO, 1),
            difference("color", _SPACE, _INVARIANT, 1),
            difference("color", _LOOC, _MOCO, 1),
            WonBack("color", _NO_JITTER, _MOCO, _SPACE),
            holds("test", _LOOC, _MOCO),
        ]
