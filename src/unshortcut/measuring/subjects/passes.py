"""Many passes over the same images, told as one progress."""

from unshortcut.progress import OnProgress


def part_of(on_progress: OnProgress, number: int, passes: int) -> OnProgress:
    """What one of so many equal passes, counted from 0, is to call with (done, total) of its own.

    >>> part_of(print, 2, 5)(3, 10)
    23 50
    """
    return lambda done, total: on_progress(number * total + done, passes * total)
