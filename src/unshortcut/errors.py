"""Errors that speak to the user: the command line prints their text and nothing else.

`UsageError` is a wrong input (exit status 2); `RunError` is a run that failed (exit status 1).
"""

from collections.abc import Iterable
from difflib import get_close_matches

_MANY, _NEAREST = 200, 8
"""Names that are too many to list, and how many of them are listed then."""


class UnshortcutError(Exception):
    """Base of the errors whose message is one clear sentence for the user."""

    exit_status = 1


class UsageError(UnshortcutError):
    """The user asked for something that cannot be: a wrong path, key, value or combination."""

    exit_status = 2


class RunError(UnshortcutError):
    """The request was right, and the run failed."""


class InterruptedRunError(UnshortcutError):
    """The run was stopped by a signal, after its state had been saved."""

    def __init__(self, message: str, signal_number: int) -> None:
        super().__init__(message)
        self.exit_status = 128 + signal_number


def unknown(kind: str, given: str, known: Iterable[str]) -> UsageError:
    """An error for a name that is not known: what is allowed, and the nearest known name.

    >>> str(unknown("method", "moko", ["moco", "simclr"]))
    "unknown method 'moko'; did you mean 'moco'? Known: moco, simclr"
    """
    names = sorted(known)
    near = get_close_matches(given, names, n=_NEAREST, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    if len(names) > _MANY:
        listed = f"{', '.join(near or names[:_NEAREST])}, … ({len(names)} in all)"
    else:
        listed = ", ".join(names)
    return UsageError(f"unknown {kind} '{given}'{hint} Known: {listed}")
