"""Splits that are joined in a spec, as in `flowers102@train+val`."""

from collections.abc import Collection

from unshortcut.errors import UsageError


def joined_parts(split: str, known: Collection[str]) -> tuple[str, ...] | None:
    """The splits that a joined split consists of; None for a single split.

    A data set may have a split of that very name, such as `train+unlabeled` of STL-10. A name with
    an unknown part is left to the data set, whose error message lists the splits.

    >>> joined_parts("train+val", ("train", "val", "test"))
    ('train', 'val')
    """
    if "+" not in split or split in known:
        return None
    parts = tuple(split.split("+"))
    if not set(parts) <= set(known):
        return None
    if len(set(parts)) < len(parts):
        raise UsageError(f"'{split}' names a split twice")
    return parts
