"""Medium patches for photographs, large ones for sketches (NSN, figure 11)."""

import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from unshortcut.reproduction.claim import Axis, Claim, Column, Scale, Variant
from unshortcut.reproduction.claims import _patches
from unshortcut.reproduction.claims._negatives import ACCURACIES, ALPHA, COLUMNS, MOCO
from unshortcut.reproduction.effects import Effect, difference, slope
from unshortcut.reproduction.measure import Measure

_NONE = "none"
_RANGES = ("8-28", "16-28", _patches.USUAL, "28-72", "28-112", "72-112")


class NegativesPatchSize(Claim):
    """Ranges of the patch size, and no patch negatives for comparison."""

    name: ClassVar[str] = "negatives-patch-size"
    summary: ClassVar[str] = "very small and very large patches cost accuracy; sketches like large"
    where: ClassVar[str] = "non-semantic negatives, figure 11"
    recipes: ClassVar[Mapping[Scale, str]] = MOCO
    x: ClassVar[str] = "patch"
    columns: ClassVar[tuple[Column, ...]] = COLUMNS
    measures: ClassVar[tuple[Measure, ...]] = ACCURACIES
    notes: ClassVar[tuple[str, ...]] = (
        _patches.NOTE,
        "The papers print neither the ranges nor the numbers of figure 11, but two of table 6: the "
        "ranges here are a choice. They find that both large and small patches cost accuracy on "
        "the validation set, and that on sketches larger ones gain more.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (Axis("patch", (_NONE, *_RANGES), partial(_changes, scale=scale)),)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        printed = {
            _NONE: {"test": 77.88, "sketch": 28.24},
            "8-28": {"test": 78.58},
            _patches.USUAL: {"test": 79.35, "sketch": 31.76},
        }
        return printed.get(values["patch"], {})

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        ranges = {v.label: v.values["patch"] for v in variants if v.values["patch"] != _NONE}
        centers = {
            label: statistics.fmean(_patches.bounds(given)) for label, given in ranges.items()
        }
        usual = f"patch={_patches.USUAL}"
        found: list[Effect] = [
            difference("test", usual, label, 1) for label in ranges if label != usual
        ]
        found += [difference("sketch", label, f"patch={_NONE}") for label in ranges]
        if len(centers) > 1:
            found.append(slope("slope over the center of d", "sketch", centers, 1))
        return found


def _changes(value: str, scale: Scale) -> tuple[str, ...]:
    return (f"{ALPHA}=0",) if value == _NONE else _patches.changes(value, scale)
