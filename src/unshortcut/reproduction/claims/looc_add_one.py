"""Add-one views are worse than leave-one-out views (LooC, table E.1)."""

from collections.abc import Sequence
from typing import ClassVar

from unshortcut.reproduction.claim import Axis, Column, Scale, Variant
from unshortcut.reproduction.claims._looc import SMALL_NOTE, TEST, Rows, methods
from unshortcut.reproduction.effects import Effect, difference


class LoocAddOne(Rows):
    """A space for color or for rotation, by both ways to make its key; and MoCo."""

    name: ClassVar[str] = "looc-add-one"
    summary: ClassVar[str] = "views that add one augmentation teach less than those that leave one"
    where: ClassVar[str] = "leave-one-out contrastive learning, table E.1"
    columns: ClassVar[tuple[Column, ...]] = (
        TEST,
        Column("rotation", "rotation"),
        Column("color", "color"),
    )
    notes: ClassVar[tuple[str, ...]] = (
        SMALL_NOTE,
        "Add-one has no other keys as negatives, because its query and they lack the same: so the "
        "two ways differ in that too.",
        "Table E.1 has accuracy on ImageNet-100 alone; nothing is predicted of rotation and of "
        "color.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        rows = ("moco", "moco-rotation", "add-one-color", "add-one-rotation")
        return (methods(*rows, "looc-color", "looc-rotation"),)

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return [
            difference("test", "method=looc-color", "method=add-one-color", 1),
            difference("test", "method=looc-rotation", "method=add-one-rotation", 1),
            difference("test", "method=moco", "method=add-one-color", 1),
            difference("test", "method=moco-rotation", "method=add-one-rotation"),
        ]
