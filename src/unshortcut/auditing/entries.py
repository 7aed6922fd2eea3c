"""One measurement of one model: from the cache, or made now; an error becomes a reason."""

import hashlib
import time
from typing import Any

from rich.console import Console

from unshortcut.auditing.findings import Entry
from unshortcut.auditing.inputs import OptionalInputs
from unshortcut.auditing.result_cache import recall, remember
from unshortcut.errors import UnshortcutError
from unshortcut.measurements.measurement import Measurement
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.settings import Input
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import bar
from unshortcut.result import public_text

_CACHE_VERSION = 1
"""Increased when images, classifiers or decisions change for the same inputs."""
_MISSING: dict[Input, str] = {
    "conflict": "no images with conflicting cues were given (--conflict)",
    "shifts": "no images of other domains were given (--shift)",
    "hierarchy": "no hierarchy of classes was given (--hierarchy)",
    "corrupted": "no corrupted images were given (--corrupted)",
}


def settled(measurement: Measurement, subject: Subject, inputs: OptionalInputs) -> Entry | None:
    """The outcome of a measurement that need not be made: it is cached or lacks an input."""
    for needed in measurement.needs:
        if not inputs.has(needed):
            if needed in inputs.errors:
                return Entry("failed", reason=public_text(inputs.errors[needed]))
            return Entry("not applicable", reason=_MISSING[needed])
    for used in measurement.uses:
        if used in inputs.errors:
            return Entry("failed", reason=public_text(inputs.errors[used]))
    key = _key(measurement, subject, inputs)
    result_type: type[Any] = measurement.result
    known = None if key is None else recall(result_type, key)
    return None if known is None else Entry("done", known[0], seconds=known[1], cached=True)


def measure(
    measurement: Measurement, subject: Subject, inputs: OptionalInputs, console: Console
) -> Entry:
    """Make one measurement of one model, and cache its result; never raises."""
    key = _key(measurement, subject, inputs)
    started = time.monotonic()
    try:
        with bar(console, f"  {measurement.title}") as on_progress:
            result = measurement.measure(subject, on_progress)
        # The page needs both: if they fail, it is reported here.
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


def reason_of(error: Exception) -> str:
    """The message of our own errors; the type and the first line of others."""
    lines = str(error).strip().splitlines()
    if isinstance(error, UnshortcutError):
        return str(error)
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _key(measurement: Measurement, subject: Subject, inputs: OptionalInputs) -> str | None:
    """A digest of what a result depends on; None where the model has no fingerprint."""
    model, classifier = subject.model, subject.classifier
    if model.fingerprint is None:
        return None
    parts = (
        _CACHE_VERSION,
        measurement.name,
        measurement.version,
        model.fingerprint,
        model.preprocessing,
        None if classifier is None else classifier.identity,
        None if subject.head is None else subject.head.identity,
        subject.data.cache_key(),
        subject.settings,
        inputs.fingerprint((*measurement.needs, *measurement.uses)),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()
