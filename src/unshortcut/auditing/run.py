"""Run an audit: every measurement of every model.

Results are cached by what they depend on. A measurement that fails or does not apply gets a reason,
and the others go on.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape

from unshortcut.auditing.audit_log import AuditLog
from unshortcut.auditing.entries import measure, reason_of, settled
from unshortcut.auditing.findings import Entry, Findings, ModelInfo
from unshortcut.auditing.forecast import Forecast
from unshortcut.auditing.inputs import OptionalInputs, open_images, open_optional
from unshortcut.auditing.previous import read_previous
from unshortcut.auditing.request import AuditRequest
from unshortcut.auditing.subjects import SubjectFactory, load, with_prompts
from unshortcut.data.class_files import read_mapping
from unshortcut.errors import RunError, UnshortcutError, UsageError
from unshortcut.measurements.measurement import Measurement, measurements
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.load import LoadedModel, models_by_name
from unshortcut.models.prompts import check_templates
from unshortcut.result import public_text

T = TypeVar("T")


def run_audit(request: AuditRequest) -> Findings:
    """Make the measurements that a request asks for."""
    only = [request.only] if isinstance(request.only, str) else request.only
    chosen = measurements(only, request.profile)
    models = models_by_name(request.models)
    if not models:
        raise UsageError("an audit needs at least one model")
    previous = None if request.previous is None else read_previous(request.previous)
    if request.prompts:
        check_templates(request.prompts)
    log = AuditLog(request.console or Console(stderr=True))
    requested = len(models)
    baseline = None if request.baseline is None else _add_baseline(models, request.baseline)
    images = open_images(request.data, request.train)
    with log.warnings():
        inputs = open_optional(request)
    mapping = None if request.mapping is None else read_mapping(request.mapping)
    settings = settings_of(request)
    factory = SubjectFactory(
        images, inputs, request.classifier, mapping, settings, request.workers, log.console
    )

    def prepare(name: str) -> LoadedModel:
        return with_prompts(load(name, models[name], request), images, inputs, request.prompts)

    loaded = {name: _attempt(partial(prepare, name)) for name in models}
    if request.prompts and not any(getattr(one, "texts", None) for one in loaded.values()):
        raise UsageError(
            "prompts are for models of images and texts such as open_clip:NAME, and none of the "
            "models is one"
        )
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
        for one, entry in _measure_all(chosen, subject, inputs, log).items():
            entries[one][name] = entry
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
        previous=previous,
    )


def settings_of(request: AuditRequest) -> Settings:
    """The settings that a request asks for."""
    return Settings(
        request.profile, request.max_images, request.seed, request.aggregate, request.severities
    )


def _measure_all(
    chosen: Mapping[str, Measurement], subject: Subject, inputs: OptionalInputs, log: AuditLog
) -> dict[str, Entry]:
    """Every measurement of one model, with the time that it will take printed before it starts."""
    entries = {name: settled(one, subject, inputs) for name, one in chosen.items()}
    with log.warnings():
        planned = {name: one for name, one in chosen.items() if entries[name] is None}
        forecast = Forecast(subject, planned)
    log.total(forecast.left())
    found: dict[str, Entry] = {}
    for name, measurement in chosen.items():
        entry = entries[name]
        if entry is None:
            expected = forecast.of(name)
            log.start(measurement.title, expected, forecast.left())
            with log.warnings():
                entry = measure(measurement, subject, inputs, log.console)
            forecast.done(name, expected, entry.seconds)
        log.entry(measurement.title, entry)
        found[name] = entry
    return found


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
    prompts = subject.model.prompts if classifier is not None and classifier.prompted else ()
    return ModelInfo(description, shown.size, crop_share=shown.crop_share, prompts=prompts)
