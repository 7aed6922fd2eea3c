"""One measurement of one model: out of the cache, or measured; whatever fails becomes a reason."""

import hashlib
import time
from typing import Any

from rich.console import Console

from unshortcut.auditing.findings import Entry
from unshortcut.auditing.result_cache import recall, remember
from unshortcut.errors import UnshortcutError
from unshortcut.measurements.measurement import Measurement
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.settings import Input
from unshortcut.measuring.subjects.opening import Given
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import bar
from unshortcut.result import public_text

_FRAME = 1
"""Raised when images, readouts or decisions would be others for the same inputs."""
_ASK: dict[Input, str] = {
    "conflict": "no stimuli with conflicting cues were given (--conflict)",
    "shifts": "no other domains were given (--shift)",
    "hierarchy": "no hierarchy of classes was given (--hierarchy)",
}


def measured(measurement: Measurement, subject: Subject, given: Given, console: Console) -> Entry:
    """One measurement of one model, out of the cache if it is there; whatever fails is told."""
    for needed in measurement.needs:
        if needed in given.faults and not given.has(needed):
            return Entry("failed", reason=public_text(given.faults[needed]))
        if not given.has(needed):
            return Entry("not applicable", reason=_ASK[needed])
    key = _key(measurement, subject, given)
    kind: type[Any] = measurement.result
    known = None if key is None else recall(kind, key)
    if known is not None:
        return Entry("done", known[0], seconds=known[1], cached=True)
    started = time.monotonic()
    try:
        with bar(console, f"  {measurement.title}") as on_progress:
            result = measurement.measure(subject, on_progress)
        # What is said of a result must not stop the page: it is tried while it can still be told.
        measurement.metrics(result, None)
        measurement.finding(result)
    except NotApplicable as reason:
        return Entry("not applicable", reason=public_text(str(reason)))
    except Exception as error:
        return Entry("failed", reason=public_text(reason_of(error)))
    seconds = time.monotonic() - started
    if key is not None:
        remember(key, result, seconds)
    return Entry("done", result, seconds=seconds)


def _key(measurement: Measurement, subject: Subject, given: Given) -> str | None:
    """What a result depends on; None where the model cannot be told from others."""
    model, classifier = subject.model, subject.classifier
    if model.fingerprint is None:
        return None
    parts = (
        _FRAME,
        measurement.name,
        measurement.version,
        model.fingerprint,
        model.preprocessing,
        None if classifier is None else classifier.identity,
        None if subject.head is None else subject.head.identity,
        subject.data.fingerprint(),
        subject.settings,
        given.identity(measurement.needs),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def reason_of(error: Exception) -> str:
    """Our own errors speak for themselves; others are named."""
    said = str(error).strip().splitlines()
    if isinstance(error, UnshortcutError):
        return str(error)
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
