"""An audit: every measurement of every model, each kept by what it depends on.

One that fails is told with its reason, one that does not apply likewise, and the rest goes on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.markup import escape

from unshortcut.auditing.console_log import Telling
from unshortcut.auditing.entries import measured, reason_of
from unshortcut.auditing.findings import Entry, Findings, ModelInfo
from unshortcut.errors import RunError, UnshortcutError, UsageError
from unshortcut.measurements.measurement import measurements
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.class_names import read_mapping
from unshortcut.measuring.subjects.classifier import Kind
from unshortcut.measuring.subjects.making import Deciding, Stated, load, needs_readout, subject_of
from unshortcut.measuring.subjects.models import by_name
from unshortcut.measuring.subjects.opening import Data, open_given, open_images
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.load import LoadedModel, ModelLike
from unshortcut.result import public_name, public_text

T = TypeVar("T")


def examine(
    models: Sequence[ModelLike] | Mapping[str, ModelLike],
    data: Data,
    *,
    conflict: Data | None = None,
    shifts: Sequence[Data] | Mapping[str, Data] = (),
    hierarchy: str | Path | None = None,
    mapping: str | Path | None = None,
    only: Sequence[str] = (),
    baseline: ModelLike | None = None,
    readout: Kind | None = None,
    train: Data | None = None,
    settings: Settings | None = None,
    size: int | None = None,
    mean: tuple[float, float, float] | None = None,
    std: tuple[float, float, float] | None = None,
    crop: float | None = None,
    classes: Sequence[str] | None = None,
    console: Console | None = None,
    command: str = "",
) -> Findings:
    """Measure models; the arguments are those of `unshortcut.audit`."""
    chosen = measurements([only] if isinstance(only, str) else only)
    settings = settings or Settings()
    console = console or Console(stderr=True)
    named = dict(models) if isinstance(models, Mapping) else by_name(models)
    if not named:
        raise UsageError("an audit needs at least one model")
    asked = len(named)
    reference = None if baseline is None else _with_baseline(named, baseline)
    told = Telling(console)
    images = open_images(data, train)
    with told.warnings():
        given = open_given(conflict, shifts, hierarchy)
    rules = Deciding(readout, None if mapping is None else read_mapping(mapping), settings)
    if mapping is not None:
        given = replace(given, names={**given.names, "mapping": public_name(str(mapping))})
    stated = Stated(size, mean, std, crop, None if classes is None else tuple(classes))
    loaded: dict[str, LoadedModel] = {}
    faults: dict[str, UnshortcutError] = {}
    for name, model in named.items():
        made = _attempt(partial(load, model, stated))
        if isinstance(made, UnshortcutError):
            faults[name] = made
        else:
            loaded[name] = made
    if any(needs_readout(model, images.measured, rules) for model in loaded.values()):
        images = images.halved(settings.seed)
    metadata: dict[str, ModelInfo] = {}
    entries: dict[str, dict[str, Entry]] = {name: {} for name in chosen}
    for name in named:
        ready: Subject | UnshortcutError
        if name in faults:
            ready = faults[name]
        else:
            with told.warnings():
                ready = _attempt(
                    partial(subject_of, name, loaded.pop(name), images, given, rules, console)
                )
        if isinstance(ready, UnshortcutError):
            faults[name] = ready
            metadata[name] = ModelInfo("nothing", 0, error=public_text(str(ready)))
            if len(named) > 1:  # a lone model's fault is the error of the whole
                told.say(f"[bold red]{escape(name)}[/]: {escape(str(ready))}")
            for one in chosen:
                entries[one][name] = Entry("failed", reason=metadata[name].error)
            continue
        metadata[name] = _model_info(ready)
        told.say(f"[b]{escape(name)}[/]: decided by {escape(metadata[name].decides)}")
        for one, measurement in chosen.items():
            with told.warnings():
                entry = measured(measurement, ready, given, console)
            entries[one][name] = entry
            told.entry(measurement.title, entry)
    if len(faults) == len(named):
        raise next(iter(faults.values()))
    return Findings(
        measurements=chosen,
        models=metadata,
        entries=entries,
        data=images.name,
        images=len(images.measured),
        settings=settings,
        given=given.names,
        baseline=reference,
        baseline_added=len(named) > asked,
        warnings=tuple(told.warned),
        command=command,
    )


def _with_baseline(named: dict[str, ModelLike], baseline: ModelLike) -> str:
    """The name of the baseline, which joins the models where it is none of them."""
    for name, model in named.items():
        if model == baseline:
            return name
    (name,) = by_name([baseline])
    while name in named:
        name = f"{name} (baseline)"
    named[name] = baseline
    return name


def _attempt(action: Callable[[], T]) -> T | UnshortcutError:
    """What an action gives, or what is wrong with it, whatever that is."""
    try:
        return action()
    except UnshortcutError as error:
        return error
    except Exception as error:  # a stranger's model may raise anything
        return RunError(reason_of(error))


def _model_info(subject: Subject) -> ModelInfo:
    decides = "nothing: it has no head, and the data have no labels"
    if subject.classifier is not None:
        decides = subject.classifier.description
    shown = subject.model.preprocessing
    return ModelInfo(decides, shown.size, crop_share=shown.crop_share)
