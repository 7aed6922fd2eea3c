"""Add-one views are worse than leave-one-out views (LooC, table E.1)."""

from collections.abc import Sequence

from unshortcut.reproduction.claim import Axis, MeasureColumn, Scale, Variant
from unshortcut.reproduction.claims._looc import SMALL_NOTE, TEST, RecipeComparison, methods
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.registration import Registration


class LoocAddOne(RecipeComparison):
    """A space for color or for rotation, with both kinds of views for its key, and MoCo."""

    name = "looc-add-one"
    summary = "views that add one augmentation teach less than views that leave one out"
    where = "leave-one-out contrastive learning, table E.1"
    columns = (TEST, MeasureColumn("rotation", "rotation"), MeasureColumn("color", "color"))
    notes = (
        SMALL_NOTE,
        "Add-one does not use the other keys as negatives, because they lack the same augmentation "
        "as its query, so the two strategies differ in that too.",
        "Table E.1 only has accuracy on ImageNet-100; nothing is predicted for rotation and color.",
    )
    registration = Registration(
        order=15,
        seeds=4,
        arms=("method=moco", "method=looc-color", "method=add-one-color"),
        primary=difference("test", "method=looc-color", "method=add-one-color", 1),
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
