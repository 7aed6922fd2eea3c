"""Color jitter hurts a task that needs color, and LooC's color space keeps it (LooC, section 4)."""

from collections.abc import Sequence

from unshortcut.reproduction.claim import Axis, Scale, Variant
from unshortcut.reproduction.claims import _looc as looc
from unshortcut.reproduction.effects import Effect, difference, not_worse, won_back
from unshortcut.reproduction.measures.spaces import SpacesMeasure
from unshortcut.reproduction.registration import Registration

_MOCO = "method=moco"
_NO_JITTER = "method=moco-no-jitter"
_LOOC = "method=looc-color"
_INVARIANT = f"{_LOOC}:invariant"
_SPACE = f"{_LOOC}:color"


class LoocColor(looc.RecipeComparison):
    """MoCo with and without jitter, and the backbone and spaces of LooC with a space for color."""

    name = "looc-color"
    summary = "color jitter removes color from MoCo's features; LooC's color space keeps it"
    where = "leave-one-out contrastive learning, table 2"
    columns = (looc.COLOR, looc.TEST)
    measures = (*looc.MEASURES, SpacesMeasure())
    notes = (
        looc.SMALL_NOTE,
        "Color is the hue of the object, a label of shapes. The paper has no task that is only "
        "about color; ours stands next to iNat-1k, where it finds color preserved. A space is the "
        "hidden layer of its head, which is wider than the backbone; the invariant space has the "
        "same width. The paper claims that class accuracy is kept, with which *no effect* agrees "
        "too.",
    )
    registration = Registration(
        order=4,
        seeds=4,
        arms=(_MOCO, _LOOC, _INVARIANT, _SPACE),  # the last three are one training
        primary=difference("color", _LOOC, _MOCO, 1),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        rows = ("moco", "moco-no-jitter", "looc-color")
        return (looc.methods(*rows, "looc-color:invariant", "looc-color:color"),)

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return [
            difference("color", _MOCO, _NO_JITTER, -1),
            difference("color", _SPACE, _MOCO, 1),
            difference("color", _SPACE, _INVARIANT, 1),
            difference("color", _LOOC, _MOCO, 1),
            won_back("color", _NO_JITTER, _MOCO, _SPACE),
            not_worse("test", _LOOC, _MOCO),
        ]
