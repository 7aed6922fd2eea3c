"""Models made ready for measurements: loaded, tried out, and with a classifier."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from unshortcut.auditing.inputs import AuditImages, OptionalInputs
from unshortcut.auditing.request import AuditRequest
from unshortcut.data.class_files import read_class_names
from unshortcut.data.source import Subset
from unshortcut.errors import UsageError
from unshortcut.inference.features import compute_features
from unshortcut.measuring.settings import Limit, Settings
from unshortcut.measuring.subjects.class_names import ClassMapping
from unshortcut.measuring.subjects.classifier import (
    Classifier,
    ClassifierKind,
    fit_classifier,
    head,
    run,
)
from unshortcut.measuring.subjects.images import stratified
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.load import LoadedModel, from_object, load_model, with_classes
from unshortcut.models.prompts import TEMPLATES, zero_shot
from unshortcut.progress import bar
from unshortcut.training.ball import with_ball
from unshortcut.training.folder import is_run

FIT_IMAGES = Limit(quick=1000, standard=20_000)
"""Maximum number of images to fit a classifier on."""
_COVERED = 0.5
"""Share of the classes of the images that a head must cover to be the classifier."""


def load(name: str, model: Any, request: AuditRequest) -> LoadedModel:
    """Load a model: a spec, a loaded model as it is, or a module or an object of the user."""
    if isinstance(model, LoadedModel):
        return model
    size, mean, std, crop = request.size, request.mean, request.std, request.crop
    classes = request.classes
    if isinstance(classes, str | Path):
        classes = read_class_names(classes)
    if isinstance(model, str | Path):
        loaded = load_model(model, size=size, mean=mean, std=std, crop=crop)
        if is_run(model):
            return with_ball(loaded, model)  # and its classes are its own
    else:
        loaded = from_object(model, name, size=size, mean=mean, std=std, crop_share=crop)
    if classes is None:
        return loaded
    if loaded.texts is not None:
        return zero_shot(loaded, classes, request.prompts or TEMPLATES)
    return with_classes(loaded, classes)


def with_prompts(
    model: LoadedModel, images: AuditImages, inputs: OptionalInputs, templates: Sequence[str]
) -> LoadedModel:
    """A model of images and texts with the classes of all images; another model as it is.

    The probabilities are those among the classes of each data set (`ClassOutputs`), so that a
    class that only the conflict stimuli have changes nothing for the others.
    """
    if model.texts is None or model.classes is not None:
        return model
    sources = [images.test, *inputs.shifts.values()]
    named = [source.classes or () for source in sources]
    if inputs.conflict is not None:
        named.append(inputs.conflict.classes)
    classes = tuple(dict.fromkeys(name for names in named for name in names))
    return zero_shot(model, classes, templates or TEMPLATES) if classes else model


@dataclass(frozen=True)
class SubjectFactory:
    """Makes subjects that share images, inputs and settings."""

    images: AuditImages
    inputs: OptionalInputs
    kind: ClassifierKind | None  # the requested classifier, if any
    mapping: ClassMapping | None
    settings: Settings
    workers: int | None
    console: Console

    def needs_fit(self, model: LoadedModel) -> bool:
        """Whether a classifier must be fitted on the features of the model."""
        classes = self.images.test.classes
        if self.kind is not None:
            return self.kind != "head"
        if not model.classifies or not classes:
            return True
        try:
            return self._head(model).count_known(classes) < _COVERED * len(classes)
        except Exception:
            return False  # the error is reported when the subject is made

    def make(self, name: str, model: LoadedModel) -> Subject:
        """A model with images and a classifier, after a first batch that shows that it works."""
        side = model.preprocessing.size
        run(model, None, np.full((2, side, side, 3), 127, np.uint8))
        own = self._head(model) if model.classifies else None
        if self.kind == "head" and own is None:
            why = ", its head is for several classes per image" if model.multilabel else ""
            raise UsageError(
                f"'{name}' has no classification head{why}; use --classifier linear or knn instead"
            )
        fitted = self._fit(model) if self.needs_fit(model) else None
        return Subject(
            name,
            model,
            self.images.test,
            fitted or own,
            self.settings,
            self.inputs.conflict,
            self.inputs.shifts,
            self.inputs.hierarchy,
            self.inputs.corrupted,
            own if fitted else None,
            self.workers,
        )

    def _head(self, model: LoadedModel) -> Classifier:
        return head(model, self.mapping, self.settings.aggregate)

    def _fit(self, model: LoadedModel) -> Classifier | None:
        """A linear probe or kNN on features; None where there are no labels to fit it on."""
        source, name = self.images.train, self.images.train_name
        if source is None or source.labels is None:
            return None
        most = self.settings.at_most(FIT_IMAGES)
        if most is not None and len(source) > most:
            source = Subset(source, stratified(source.labels, most, self.settings.seed))
        with bar(self.console, f"features of {name}", unit="images") as on_progress:
            features = compute_features(
                model, source, workers=self.workers, on_progress=on_progress
            )
        kind: ClassifierKind = "knn" if self.kind == "knn" else "linear"
        return fit_classifier(kind, features, source, name, self.mapping, self.settings.aggregate)
