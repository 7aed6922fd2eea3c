"""A task that needs colour loses under jitter, and is kept by LooC's space for it (LooC, 4)."""

from collections.abc import Sequence
from typing import ClassVar

from unshortcut.reproduction.claim import Axis, Column, Scale, Variant
from unshortcut.reproduction.claims._looc import COLOUR, MEASURES, SMALL_NOTE, TEST, Rows, methods
from unshortcut.reproduction.effects import EQUAL, Effect, WonBack, difference, holds
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.spaces import Spaces

_MOCO = "method=moco"
_NO_JITTER = "method=moco-no-jitter"
_LOOC = "method=looc-color"
_INVARIANT = f"{_LOOC}:invariant"
_SPACE = f"{_LOOC}:color"


class LoocColor(Rows):
    """MoCo with and without jitter, and LooC with a space for colour: its backbone, its spaces."""

    name: ClassVar[str] = "looc-color"
    summary: ClassVar[str] = (
        "jitter costs MoCo what it knew of colour; LooC's colour space keeps it"
    )
    where: ClassVar[str] = "leave-one-out contrastive learning, table 2"
    columns: ClassVar[tuple[Column, ...]] = (COLOUR, TEST)
    measures: ClassVar[tuple[Measure, ...]] = (*MEASURES, Spaces())
    notes: ClassVar[tuple[str, ...]] = (
        SMALL_NOTE,
        "Colour: the hue of the object, a label of shapes. The paper has no task of colour alone; "
        "beside ours stands iNat-1k, where it finds colour preserved. A space is the hidden "
        "layer of its head, which is wider than the backbone; the invariant one is as wide. "
        f"Accuracy on classes holds where the interval lies above -{EQUAL:g} points.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        rows = ("moco", "moco-no-jitter", "looc-color")
        return (methods(*rows, "looc-color:invariant", "looc-color:color"),)

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return [
            difference("colour", _MOCO, _NO_JITTER, -1),
            difference("colour", _SPACE, _MOCO, 1),
            difference("colour", _SPACE, _INVARIANT, 1),
            difference("colour", _LOOC, _MOCO, 1),
            WonBack("colour", _NO_JITTER, _MOCO, _SPACE),
            holds("test", _LOOC, _MOCO),
        ]
