"""Run an inspection: read every image once, then test properties, search for copies, and more."""

import shlex
from pathlib import Path
from typing import Any

from rich.console import Console

from unshortcut.auditing.audit_log import AuditLog
from unshortcut.auditing.request import AuditRequest
from unshortcut.data.naming import Data, data_name
from unshortcut.data.open import DataSpec, open_data, splits
from unshortcut.data.source import ImageSource
from unshortcut.inspection.association import Associations, associate
from unshortcut.inspection.collection import Collection
from unshortcut.inspection.feature_pairs import collection_features, feature_pairs
from unshortcut.inspection.findings import Inspection, ModelFindings
from unshortcut.inspection.near_copies import NearCopies, find_copies
from unshortcut.inspection.use import PropertyUse, TrainingValues, measure_use
from unshortcut.inspection.with_model import (
    AccuracyWithout,
    Examined,
    accuracy_without,
    label_errors,
    leaked_images,
    load_examined,
    refit_without,
)
from unshortcut.measuring.errors import NotApplicable
from unshortcut.progress import bar
from unshortcut.properties.reading import inspect_source
from unshortcut.result import public_name, unique_names

SPLITS = ("train", "val", "test")
"""Splits that are inspected, as far as the data have them."""
MAX_USED = 6
"""Number of properties whose use by the model is measured."""


def run_inspection(
    data: Data, against: Data | None, request: AuditRequest | None, *, seed: int,
    workers: int | None, use_images: int, console: Console,
) -> Inspection:  # fmt: skip
    """Inspect data.

    Args:
        against: further data in which copies are searched for, such as a test set.
        request: the model and how it is loaded, as for an audit; None for no model.
        use_images: number of images on which decisions of the model are compared.
    """
    log = AuditLog(console)
    opened = open_splits(data, against)
    inspected = {}
    with log.warnings():
        for name, source in opened.items():
            with bar(console, f"reading {name}", unit="images") as on_progress:
                inspected[name] = inspect_source(source, workers=workers, on_progress=on_progress)
    collection = Collection(inspected)
    first = collection.names[0]
    properties = _properties(collection, first, seed, workers, console)
    found = None
    with log.warnings():
        if request is None:
            copies = _copies(collection, None, seed, workers, console)
        else:
            copies, found = _with_model(collection, properties, first, request, use_images, console)
    return Inspection(
        data_name(data),
        collection,
        first,
        properties,
        copies,
        found,
        seed,
        _command(data, against, request, seed),
        tuple(log.collected),
    )


def open_splits(data: Data, against: Data | None) -> dict[str, ImageSource]:
    """The sources to inspect by the name of their split, `train` first."""
    if isinstance(data, ImageSource):
        found: dict[str, ImageSource] = {data_name(data): data}
    else:
        spec = DataSpec.parse(data)
        known = splits(spec.where) if spec.split is None else ()
        names = [one for one in SPLITS if one in known]
        if names:
            found = {name: open_data(spec.where, split=name) for name in names}
        else:
            found = {spec.split or public_name(spec.where): open_data(data)}
    if against is not None:
        found[unique_names([*found, data_name(against)])[-1]] = open_data(against)
    return found


def _properties(
    collection: Collection, split: str, seed: int, workers: int | None, console: Console
) -> Associations | str:
    inspected = collection.splits[split]
    labels, classes = inspected.labels, inspected.source.classes
    if labels is None or classes is None:
        return "the images have no single labels; class folders give them"
    with bar(console, "permuting labels") as on_progress:
        return associate(
            inspected.columns, labels, classes, seed=seed, workers=workers, on_progress=on_progress
        )


def _copies(
    collection: Collection, more: Any, seed: int, workers: int | None, console: Console
) -> NearCopies:
    with bar(console, "comparing images") as on_progress:
        return find_copies(
            collection, more=more, seed=seed, workers=workers, on_progress=on_progress
        )


def _with_model(
    collection: Collection, properties: Associations | str, split: str, request: AuditRequest,
    use_images: int, console: Console,
) -> tuple[NearCopies, ModelFindings]:  # fmt: skip
    """Copies, for which features give further candidates, and what else a model is needed for."""
    seed, workers = request.seed, request.workers
    examined = load_examined(request, collection, console)
    model = examined.subject.model
    with bar(console, f"features of {model.name}", unit="images") as on_progress:
        features = collection_features(model, collection, workers=workers, on_progress=on_progress)
    near = feature_pairs(model, collection, features, seed=seed)
    copies = _copies(collection, near, seed, workers, console)
    errors = label_errors(collection, features, copies.groups, seed=seed)
    without: AccuracyWithout | str = "label errors could not be searched for"
    refitted = None
    if not isinstance(errors, str):
        without = accuracy_without(examined, collection, errors.numbers)
        refitted = refit_without(examined, collection, features, errors.numbers, seed=seed)
    findings = ModelFindings(
        examined.subject.name,
        examined.description,
        _use(examined, collection, properties, split, use_images, seed, console),
        accuracy_without(examined, collection, leaked_images(examined, copies)),
        errors,
        without,
        refitted,
    )
    return copies, findings


def _use(
    examined: Examined, collection: Collection, properties: Associations | str, split: str,
    use_images: int, seed: int, console: Console,
) -> tuple[PropertyUse, ...] | str:  # fmt: skip
    if isinstance(properties, str):
        return properties
    inspected = collection.splits[split]
    assert inspected.labels is not None
    training = TrainingValues(inspected.columns, inspected.labels, properties.classes)
    telling = [one for one in properties.found if one.significant]
    telling.sort(key=lambda one: (not one.alarm, -one.strength))
    try:
        with bar(console, "making properties equal") as on_progress:
            found = measure_use(
                examined.subject,
                training,
                [one.about.name for one in telling],
                most=MAX_USED,
                max_images=use_images,
                seed=seed,
                on_progress=on_progress,
            )
    except NotApplicable as reason:
        return str(reason)
    return tuple(found)


def _command(data: Data, against: Data | None, request: AuditRequest | None, seed: int) -> str:
    """The command that comes closest to the call, without private folders."""

    def text(value: Any, placeholder: str) -> str:
        return public_name(str(value)) if isinstance(value, str | Path) else placeholder

    words = ["unshortcut", "inspect", text(data, "DATA")]
    if request is not None:
        words += ["--model", text(request.models, "MODEL")]
        if request.classifier is not None:
            words += ["--classifier", request.classifier]
    if against is not None:
        words += ["--against", text(against, "DATA")]
    if seed:
        words += ["--seed", str(seed)]
    return shlex.join(words)
