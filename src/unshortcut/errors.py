"""Errors for users: the command line prints their message without a traceback."""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST, _NEAREST = 40, 5
"""Up to `_MOST` known names are listed in an error; of more names, only the nearest."""


class UnshortcutError(Exception):
    """Base class of errors whose message is one sentence for the user."""

    exit_status = 1


class UsageError(UnshortcutError):
    """A wrong path, key, value or combination of them (exit status 2)."""

    exit_status = 2


class RunError(UnshortcutError):
    """A run that failed although its inputs were valid (exit status 1)."""


class InterruptedRunError(UnshortcutError):
    """A run that was stopped by a signal, after its state was saved."""

    def __init__(self, message: str, signal_number: int) -> None:
        super().__init__(message)
        self.exit_status = 128 + signal_number


def unknown(kind: str, given: str, known: Iterable[str]) -> UsageError:
    """An error for an unknown name that suggests the nearest known names.

    >>> str(unknown("method", "moko", ["moco", "simclr"]))
    "unknown method 'moko'; did you mean 'moco'? Known: moco, simclr"
    """
    names = sorted(known)
    near = get_close_matches(given, names, n=_NEAREST, cutoff=0.0)
    close = get_close_matches(given, near, n=1, cutoff=0.5)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    listed = f"Known: {', '.join(names)}"
    if len(names) > _MOST:
        listed = f"Nearest of {len(names)}: {', '.join(near)}"
    return UsageError(f"unknown {kind} '{given}'{hint} {listed}")
