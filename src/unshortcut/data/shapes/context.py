"""Which shapes occur together in the scenes with context, and how many objects these have."""

from collections.abc import Sequence

from unshortcut.data.shapes.outlines import SHAPE_NAMES

GROUPS: dict[str, tuple[str, ...]] = {
    "landscape": ("drop", "house", "mushroom", "tree"),
    "emblems": ("arrow", "crescent", "crown", "heart"),
}
"""The shapes of a scene with context are all of one group."""

ODD = "context-odd"
"""The split in which one object of each scene is of the other group."""

CONTEXTS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("context-train", "context-val", "context-test"), (1, 5)),
    ODD: (3, 5),
}
"""The splits with context, and the fewest and the most objects of their scenes.

In `context-odd` they are at least three, since of two it cannot be said which one is odd.
"""


def group_of(shape: int) -> Sequence[int]:
    """The shapes that occur together with a shape, itself included."""
    return next(group for group in _NUMBERS if shape in group)


def other_group(shape: int) -> Sequence[int]:
    """The shapes that do not occur together with a shape."""
    return next(group for group in _NUMBERS if shape not in group)


_NUMBERS = tuple(tuple(SHAPE_NAMES.index(name) for name in group) for group in GROUPS.values())
