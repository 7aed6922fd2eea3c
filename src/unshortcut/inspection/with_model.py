"""What needs a model: use of properties, accuracy without leaked images, and label errors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console

from unshortcut.auditing.inputs import TEST_SPLITS, AuditImages, OptionalInputs
from unshortcut.auditing.request import AuditRequest
from unshortcut.auditing.subjects import FIT_IMAGES, SubjectFactory, load
from unshortcut.data.source import ImageSource, Subset
from unshortcut.inspection.collection import Collection
from unshortcut.inspection.feature_pairs import CollectionFeatures
from unshortcut.inspection.label_errors import (
    LEAST_KNOWLEDGE,
    MIN_PER_CLASS,
    LabelErrors,
    find_label_errors,
)
from unshortcut.inspection.near_copies import NearCopies
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.images import stratified
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.models.load import models_by_name
from unshortcut.probes.linear import fit_linear


@dataclass(frozen=True)
class Examined:
    """A model with a classifier, and the images it was fitted on and is measured on."""

    subject: Subject
    fitted: NDArray[np.int64]  # numbers in the collection
    tested: NDArray[np.int64]

    @property
    def description(self) -> str:
        """What classifies the images."""
        return "" if self.subject.classifier is None else self.subject.classifier.description


@dataclass(frozen=True)
class AccuracyWithout:
    """Accuracy on the test images with and without some of them."""

    every: Estimate
    without: Estimate
    only: Estimate  # on those that are left out
    num_left_out: int


@dataclass(frozen=True)
class Refitted:
    """Accuracy on the same test images of probes fitted with and without the suspects."""

    before: Estimate
    after: Estimate
    num_left_out: int


def load_examined(request: AuditRequest, collection: Collection, console: Console) -> Examined:
    """Load the model, and fit a classifier where it has none, as the audit does."""
    ((name, given),) = models_by_name(request.models).items()
    model = load(name, given, request)
    test = test_split(collection)
    train = next((one for one in collection.names if one != test), None)
    source = None if train is None else collection.source(train)
    labeled = None if source is None or source.labels is None else source
    images = AuditImages(test, collection.source(test), labeled, train or "")
    settings = Settings(seed=request.seed)
    inputs = OptionalInputs(None, {}, None, None, {}, {})
    factory = SubjectFactory(
        images, inputs, request.classifier, None, settings, request.workers, console
    )
    if factory.needs_fit(model):
        images = images.halved(request.seed)
        factory = replace(factory, images=images)
    subject = factory.make(name, model)
    fitted = np.zeros(0, np.int64)
    if images.train is not None:
        fitted = _numbers(collection, test if train is None else train, images.train)
    return Examined(subject, fitted, _numbers(collection, test, images.test))


def test_split(collection: Collection) -> str:
    """The split to measure on: `test`, `val`, or the last one, which is the only one if alone."""
    return next((one for one in TEST_SPLITS if one in collection.names), collection.names[-1])


def accuracy_without(
    examined: Examined, collection: Collection, left_out: NDArray[np.int64]
) -> AccuracyWithout | str:
    """Accuracy with and without some images, by number; a reason if it cannot be measured."""
    subject = examined.subject
    try:
        images = subject.labeled()
        right = subject.probabilities(images).argmax(axis=1) == images.required_labels()
    except NotApplicable as reason:
        return str(reason)
    numbers = _numbers(collection, test_split(collection), subject.data)[images.indices]
    out = np.isin(numbers, left_out)
    return AccuracyWithout(
        Estimate.share(right), Estimate.share(right[~out]), Estimate.share(right[out]),
        int(out.sum()),
    )  # fmt: skip


def leaked_images(examined: Examined, copies: NearCopies) -> NDArray[np.int64]:
    """Numbers of the test images that have a copy among the images to fit on."""
    fitted, tested = (np.isin(copies.pairs, one) for one in (examined.fitted, examined.tested))
    leaks = tested & fitted[:, ::-1]
    return np.unique(copies.pairs[leaks])


def label_errors(
    collection: Collection,
    features: CollectionFeatures,
    groups: Sequence[Sequence[int]],
    *,
    seed: int,
) -> LabelErrors | str:
    """Suspects over all splits, as numbers and classes of the collection, or a reason.

    A probe that hardly knows the classes has none to give: it would list its own errors.
    """
    labels = collection.labels[features.numbers]
    counts = np.bincount(labels[labels >= 0], minlength=max(1, len(collection.classes)))
    kept = np.flatnonzero(counts >= MIN_PER_CLASS)
    if len(kept) < 2:
        return f"fewer than two classes have at least {MIN_PER_CLASS} labeled images"
    rows = np.flatnonzero(np.isin(labels, kept))
    numbers = features.numbers[rows]
    position = {int(number): row for row, number in enumerate(numbers)}
    together = [[position[one] for one in group if one in position] for group in groups]
    found = find_label_errors(
        features.values[rows],
        np.searchsorted(kept, labels[rows]),
        [group for group in together if len(group) > 1],
        seed=seed,
    )
    if found.knowledge < LEAST_KNOWLEDGE:
        return (
            f"a linear probe on the features agrees with only {percent(found.accuracy)} of the "
            f"labels of held-out images (always guessing the largest class: "
            f"{percent(found.chance)}), so that most suspects would be its own errors; a model "
            "that knows these classes better is needed"
        )
    return replace(
        found,
        numbers=numbers[found.numbers],
        given=kept[found.given],
        suggested=kept[found.suggested],
    )


def refit_without(
    examined: Examined,
    collection: Collection,
    features: CollectionFeatures,
    suspects: NDArray[np.int64],
    *,
    seed: int,
) -> Refitted | None:
    """Fit probes with and without the suspects; None if there is nothing to compare."""
    train = np.intersect1d(examined.fitted, features.numbers)
    test = np.intersect1d(examined.tested, features.numbers)
    train, test = (one[collection.labels[one] >= 0] for one in (train, test))
    if len(train) > FIT_IMAGES.standard:
        train = train[stratified(collection.labels[train], FIT_IMAGES.standard, seed)]
    kept = np.setdiff1d(train, suspects)
    if not len(test) or len(kept) == len(train):
        return None
    if len(np.unique(collection.labels[kept])) < len(np.unique(collection.labels[train])):
        return None  # a class would be lost
    scores = []
    for numbers in (train, kept):
        classes, labels = np.unique(collection.labels[numbers], return_inverse=True)
        rows = torch.from_numpy(features.of(numbers))
        (probe,) = fit_linear(rows, torch.from_numpy(labels), classes=len(classes), seeds=(0,))
        predicted = classes[probe.predict(torch.from_numpy(features.of(test))).numpy()]
        scores.append(Estimate.share(predicted == collection.labels[test]))
    return Refitted(scores[0], scores[1], len(train) - len(kept))


def _numbers(collection: Collection, split: str, source: ImageSource) -> NDArray[np.int64]:
    """The numbers of all images of a split's source, or of a choice out of it, in their order."""
    if isinstance(source, Subset) and source is not collection.source(split):
        return collection.number_of(split, source.indices)
    return collection.number_of(split, np.arange(len(source)))
