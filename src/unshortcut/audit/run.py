"""An audit: every measurement of every model, each kept by what it depends on.

One that fails is told with its reason, one that does not apply likewise, and the rest goes on.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from unshortcut.audit.class_names import read_mapping
from unshortcut.audit.classifier import Kind
from unshortcut.audit.errors import NotApplicable
from unshortcut.audit.findings import Entry, Findings, ModelFacts
from unshortcut.audit.measurement import Input, Measurement, measurements
from unshortcut.audit.models import Model, by_name
from unshortcut.audit.opening import Data, Given, Images, open_given, open_images
from unshortcut.audit.results import recall, remember
from unshortcut.audit.settings import Settings
from unshortcut.audit.subject import Subject
from unshortcut.audit.subjects import Deciding, load, needs_readout, subject_of
from unshortcut.errors import UnshortcutError, UsageError
from unshortcut.models.load import LoadedModel
from unshortcut.progress import bar
from unshortcut.result import public_name

_ASK: dict[Input, str] = {
    "conflict": "no stimuli with conflicting cues were given (--conflict)",
    "shifts": "no other domains were given (--shift)",
    "hierarchy": "no hierarchy of classes was given (--hierarchy)",
}


def examine(
    models: Sequence[Model] | Mapping[str, Model],
    data: Data,
    *,
    conflict: Data | None = None,
    shifts: Sequence[Data] | Mapping[str, Data] = (),
    hierarchy: str | Path | None = None,
    mapping: str | Path | None = None,
    only: Sequence[str] = (),
    baseline: Model | None = None,
    readout: Kind | None = None,
    train: Data | None = None,
    settings: Settings | None = None,
    size: int | None = None,
    mean: tuple[float, float, float] | None = None,
    std: tuple[float, float, float] | None = None,
    classes: Sequence[str] | None = None,
    console: Console | None = None,
    command: str = "",
) -> Findings:
    """Measure models; the arguments are those of `unshortcut.audit`."""
    chosen = measurements(only)
    settings = settings or Settings()
    console = console or Console(stderr=True)
    named = dict(models) if isinstance(models, Mapping) else by_name(models)
    reference = None
    if baseline is not None:
        reference = next((name for name, model in named.items() if model == baseline), None)
        if reference is None:
            (reference,) = by_name([baseline])
            named[reference] = baseline
    if not named:
        raise UsageError("an audit needs at least one model")
    images = open_images(data, train)
    given = open_given(conflict, shifts, hierarchy)
    rules = Deciding(readout, None if mapping is None else read_mapping(mapping), settings)
    loaded, faults = _load_all(named, size, mean, std, classes)
    if any(needs_readout(model, images.measured, rules) for model in loaded.values()):
        images = images.halved(settings.seed)
    facts: dict[str, ModelFacts] = {}
    entries: dict[str, dict[str, Entry]] = {name: {} for name in chosen}
    for name in named:
        found: Subject | UnshortcutError
        if name in faults:
            found = faults[name]
        else:
            found = _subject(name, loaded.pop(name), images, given, rules, console)
        if isinstance(found, UnshortcutError):
            facts[name] = ModelFacts("nothing", 0, str(found))
            console.print(f"[bold red]{escape(name)}[/]: {escape(str(found))}", highlight=False)
            for one in chosen:
                entries[one][name] = Entry("failed", reason=str(found))
            faults[name] = found
            continue
        facts[name] = _facts(found)
        console.print(
            f"[b]{escape(name)}[/]: decided by {escape(facts[name].decides)}", highlight=False
        )
        for one, measurement in chosen.items():
            entries[one][name] = _measured(measurement, found, given, console)
    if len(faults) == len(named):
        raise next(iter(faults.values()))
    if mapping is not None:
        given = replace(given, names={**given.names, "mapping": public_name(str(mapping))})
    return Findings(
        chosen,
        facts,
        entries,
        images.name,
        len(images.measured),
        settings,
        given.names,
        reference,
        command,
    )


def _load_all(
    named: Mapping[str, Model],
    size: int | None,
    mean: tuple[float, float, float] | None,
    std: tuple[float, float, float] | None,
    classes: Sequence[str] | None,
) -> tuple[dict[str, LoadedModel], dict[str, UnshortcutError]]:
    """Models that can be loaded, and what is wrong with the others."""
    loaded: dict[str, LoadedModel] = {}
    faults: dict[str, UnshortcutError] = {}
    for name, model in named.items():
        try:
            loaded[name] = load(model, size=size, mean=mean, std=std, classes=classes)
        except UnshortcutError as error:
            faults[name] = error
    return loaded, faults


def _subject(
    name: str,
    model: LoadedModel,
    images: Images,
    given: Given,
    rules: Deciding,
    console: Console,
) -> Subject | UnshortcutError:
    """A model that is ready to be measured, or why it cannot be."""
    try:
        return subject_of(name, model, images, given, rules, console)
    except UnshortcutError as error:
        return error


def _facts(subject: Subject) -> ModelFacts:
    decides = "nothing: it has no head, and the data have no labels"
    if subject.classifier is not None:
        decides = subject.classifier.description
    return ModelFacts(decides, subject.model.preprocessing.size)


def _measured(measurement: Measurement, subject: Subject, given: Given, console: Console) -> Entry:
    """One measurement of one model, out of the cache if it is there; whatever fails is told."""
    label = f"  {measurement.title}"
    for needed in measurement.needs:
        if needed in given.faults and not given.has(needed):
            return _told(Entry("failed", reason=given.faults[needed]), label, console)
        if not given.has(needed):
            return _told(Entry("not applicable", reason=_ASK[needed]), label, console)
    key = _key(measurement, subject, given)
    kind: type[Any] = measurement.result
    known = None if key is None else recall(kind, key)
    if known is not None:
        return _told(Entry("done", known[0], seconds=known[1], cached=True), label, console)
    started = time.monotonic()
    try:
        with bar(console, label) as on_progress:
            result = measurement.measure(subject, on_progress)
    except NotApplicable as reason:
        return _told(Entry("not applicable", reason=str(reason)), label, console)
    except Exception as error:
        return _told(Entry("failed", reason=_reason(error)), label, console)
    seconds = time.monotonic() - started
    if key is not None:
        remember(key, result, seconds)
    return _told(Entry("done", result, seconds=seconds), label, console)


def _key(measurement: Measurement, subject: Subject, given: Given) -> str | None:
    """What a result depends on; None where the model cannot be told from others."""
    model, classifier = subject.model, subject.classifier
    if model.fingerprint is None:
        return None
    parts = (
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


def _reason(error: Exception) -> str:
    """Our own errors speak for themselves; others are named."""
    said = str(error).strip().splitlines()
    if isinstance(error, UnshortcutError):
        return str(error)
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__


def _told(entry: Entry, label: str, console: Console) -> Entry:
    """The entry, after a line on the console; a terminal has had a bar for what was measured."""
    if entry.status != "done":
        colour = "red" if entry.status == "failed" else "yellow"
        said = f"[{colour}]{entry.status}[/]: {escape(entry.reason)}"
    elif entry.cached:
        said = "known already"
    elif console.is_terminal:
        return entry
    else:
        said = f"{entry.seconds:.1f} s"
    console.print(f"{label}: {said}", highlight=False)
    return entry
