"""Models made ready for measurements: loaded, tried, and with something that decides."""

from dataclasses import dataclass

import numpy as np
from rich.console import Console

from unshortcut.data.source import ImageSource, Subset
from unshortcut.errors import UsageError
from unshortcut.inference.features import compute_features
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.class_names import Mapped
from unshortcut.measuring.subjects.classifier import Classifier, Kind, fit_classifier, head, run
from unshortcut.measuring.subjects.images import stratified
from unshortcut.measuring.subjects.opening import Given, Images
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.load import LoadedModel, ModelLike, load_model
from unshortcut.progress import bar
from unshortcut.training.projection import is_run

FIT_IMAGES = 20_000
"""Images that a readout is fitted on, at most, unless all are asked for."""
_ENOUGH = 0.5
"""Share of the data's classes that a head must be able to name to decide on them."""


@dataclass(frozen=True)
class Deciding:
    """What decides: as asked, or the head where it can name the classes, else a linear readout."""

    kind: Kind | None
    mapping: Mapped | None
    settings: Settings


@dataclass(frozen=True)
class Stated:
    """What a user says of models that do not say it themselves."""

    size: int | None = None
    mean: tuple[float, float, float] | None = None
    std: tuple[float, float, float] | None = None
    crop: float | None = None
    classes: tuple[str, ...] | None = None


def load(model: ModelLike, stated: Stated) -> LoadedModel:
    """A model by its spec, or as it is; runs state their own preprocessing."""
    if isinstance(model, LoadedModel):
        return model
    if is_run(model):
        return load_model(model)
    return load_model(
        model,
        size=stated.size,
        mean=stated.mean,
        std=stated.std,
        crop=stated.crop,
        classes=stated.classes,
    )


def needs_readout(model: LoadedModel, data: ImageSource, rules: Deciding) -> bool:
    """Whether something must be fitted for the model to decide on the data."""
    if rules.kind is not None:
        return rules.kind != "head"
    if model.logits is None or data.classes is None:
        return True
    try:
        named = head(model, rules.mapping, rules.settings.aggregate).over(data.classes).names
    except NotApplicable:
        return True
    except Exception:
        return False  # a fault that is told when the model's turn comes
    return len(named) < _ENOUGH * len(data.classes)


def subject_of(
    name: str,
    model: LoadedModel,
    images: Images,
    given: Given,
    rules: Deciding,
    console: Console,
) -> Subject:
    """A model with its images and decisions, after a first pass that shows that it works."""
    side = model.preprocessing.size
    run(model, None, np.full((2, side, side, 3), 127, np.uint8))
    own = None
    if model.logits is not None:
        own = head(model, rules.mapping, rules.settings.aggregate)
    if rules.kind == "head" and own is None:
        raise UsageError(f"'{name}' has no classification head: --readout linear or knn gives one")
    deciding: Classifier | None = own
    if needs_readout(model, images.measured, rules):
        fitted = _fitted(model, images, rules, console)
        deciding = fitted or own
    return Subject(
        name,
        model,
        images.measured,
        deciding,
        rules.settings,
        given.conflict,
        given.shifts,
        given.hierarchy,
        own if deciding is not own else None,
    )


def _fitted(
    model: LoadedModel, images: Images, rules: Deciding, console: Console
) -> Classifier | None:
    """A readout, or None where there is no label to fit it on."""
    source = images.fit
    if source is None or source.labels is None:
        return None
    if not rules.settings.full and len(source) > FIT_IMAGES:
        source = Subset(source, stratified(source.labels, FIT_IMAGES, rules.settings.seed))
    with bar(console, f"features of {images.fit_name}", unit="images") as on_progress:
        features = compute_features(model, source, on_progress=on_progress)
    return fit_classifier(
        "knn" if rules.kind == "knn" else "linear",
        features,
        source,
        images.fit_name,
        rules.mapping,
        rules.settings.aggregate,
    )
