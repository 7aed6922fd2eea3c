"""Run an audit: every measurement of every model.

Results are cached by what they depend on. A measurement that fails or does not apply gets a reason,
and the others go on.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape

from unshortcut.auditing.entries import measure, reason_of
from unshortcut.auditing.findings import Entry, Findings, ModelInfo
from unshortcut.auditing.inputs import open_images, open_optional
from unshortcut.auditing.request import AuditRequest
from unshortcut.auditing.subjects import SubjectFactory, load
from unshortcut.data.class_files import read_mapping
from unshortcut.errors import RunError, UnshortcutError, UsageError
from unshortcut.measurements.measurement import measurements
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.load import LoadedModel, models_by_name
from unshortcut.result import public_text

T = TypeVar("T")


def run_audit(request: AuditRequest) -> Findings:
    """Make the measurements that a request asks for."""
    chosen = measurements([request.only] if isinstance(request.only, str) else request.only)
    models = models_by_name(request.models)
    if not models:
        raise UsageError("an audit needs at least one model")
    log = _AuditLog(request.console or Console(stderr=True))
    requested = len(models)
    baseline = None if request.baseline is None else _add_baseline(models, request.baseline)
    images = open_images(request.data, request.train)
    with log.warnings():
        inputs = open_optional(request)
    mapping = None if request.mapping is None else read_mapping(request.mapping)
    settings = Settings(
        request.full, request.max_images, request.seed, request.aggregate, request.severities
    )
    factory = SubjectFactory(
        images, inputs, request.classifier, mapping, settings, request.workers, log.console
    )
    loaded = {name: _attempt(partial(load, name, one, request)) for name, one in models.items()}
    if any(factory.needs_fit(one) for one in loaded.values() if isinstance(one, LoadedModel)):
        factory = replace(factory, images=images.halved(request.seed))
    info: dict[str, ModelInfo] = {}
    entries: dict[str, dict[str, Entry]] = {name: {} for name in chosen}
    errors: list[UnshortcutError] = []
    for name in models:
        subject: Subject | UnshortcutError | LoadedModel = loaded.pop(name)
        if isinstance(subject, LoadedModel):
            with log.warnings():
                subject = _attempt(partial(factory.make, name, subject))
        if isinstance(subject, UnshortcutError):
            errors.append(subject)
            info[name] = ModelInfo("", 0, error=public_text(str(subject)))
            if len(models) > 1:  # the error of a single model is the error of the audit
                log.print(f"[bold red]{escape(name)}[/]: {escape(str(subject))}")
            for one in chosen:
                entries[one][name] = Entry("failed", reason=info[name].error)
            continue
        info[name] = _model_info(subject)
        log.print(f"[b]{escape(name)}[/]: classified by {escape(info[name].classifier)}")
        for one, measurement in chosen.items():
            with log.warnings():
                entries[one][name] = measure(measurement, subject, inputs, log.console)
            log.entry(measurement.title, entries[one][name])
    if len(errors) == len(models):
        raise errors[0]
    return Findings(
        measurements=chosen,
        models=info,
        entries=entries,
        data=images.name,
        num_images=len(factory.images.test),
        settings=settings,
        inputs=inputs.names,
        baseline=baseline,
        baseline_added=len(models) > requested,
        warnings=tuple(log.collected),
        command=request.command or request.command_line(),
    )


def _add_baseline(models: dict[str, Any], baseline: Any) -> str:
    """The name of the baseline, which is added to the models unless it is one of them."""
    for name, model in models.items():
        if model is baseline or (isinstance(baseline, str | Path) and model == baseline):
            return name
    (name,) = models_by_name([baseline])
    while name in models:
        name = f"{name} (baseline)"
    models[name] = baseline
    return name


def _attempt(action: Callable[[], T]) -> T | UnshortcutError:
    """The result of an action, or its error, whatever that is."""
    try:
        return action()
    except UnshortcutError as error:
        return error
    except Exception as error:  # a user's model may raise anything
        return RunError(reason_of(error))


def _model_info(subject: Subject) -> ModelInfo:
    shown, classifier = subject.model.preprocessing, subject.classifier
    missing = "nothing: the model has no head, and the data have no labels"
    description = classifier.description if classifier else missing
    return ModelInfo(description, shown.size, crop_share=shown.crop_share)


class _AuditLog:
    """Prints progress to a console and collects warnings."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.collected: list[str] = []

    def print(self, text: str) -> None:
        self.console.print(text, highlight=False)

    def entry(self, title: str, entry: Entry) -> None:
        """Print how a measurement ended; a terminal has shown a progress bar if it was made."""
        if entry.status != "done":
            color = "red" if entry.status == "failed" else "yellow"
            self.print(f"  {title}: [{color}]{entry.status}[/]: {escape(entry.reason)}")
        elif entry.cached:
            self.print(f"  {title}: cached")
        elif not self.console.is_terminal:
            self.print(f"  {title}: {entry.seconds:.1f} s")

    @contextmanager
    def warnings(self) -> Iterator[None]:
        """Collect the warnings of this package, each once; those of libraries are dropped."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for one in caught:
            text = public_text(str(one.message))
            ours = Path(one.filename).is_relative_to(Path(__file__).parents[1])
            if ours and issubclass(one.category, UserWarning) and text not in self.collected:
                self.collected.append(text)
                self.print(f"  [yellow]warning[/]: {escape(text)}")
