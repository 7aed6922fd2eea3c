"""Ranges of the patches' side d, in pixels of a 224-pixel view as in the paper (NSN, C.3)."""

from unshortcut.errors import UsageError
from unshortcut.reproduction.claim import Scale

USUAL = "16-72"
"""The range of the paper's tables, which is the recipes' default at any size of the view."""
_SIDE: dict[Scale, int] = {"small": 64, "paper": 224}
NOTE = (
    "Ranges of the patch size are in pixels of a 224-pixel view; at the small scale they are "
    f"{_SIDE['small']} / {_SIDE['paper']} of that."
)


def bounds(range_of_sizes: str) -> tuple[int, int]:
    """`16-72` as numbers."""
    low, dash, high = range_of_sizes.partition("-")
    if not dash or not low.isdigit() or not high.isdigit() or not 1 <= int(low) <= int(high):
        raise UsageError(f"a range of patch sizes is such as {USUAL}, not '{range_of_sizes}'")
    return int(low), int(high)


def changes(range_of_sizes: str, scale: Scale) -> tuple[str, ...]:
    """The changes to a recipe that a range stands for."""
    if range_of_sizes == USUAL:
        return ()
    low, high = (max(1, round(d * _SIDE[scale] / 224)) for d in bounds(range_of_sizes))
    return (f"method.negatives.patch.patch=[{low},{high}]",)
