"""Accuracy on images of another domain and on the data, over the classes of both.

As in the published evaluation of ImageNet-R (hendrycks/imagenet-r), the model decides among the
shared classes alone in both domains, so that the two accuracies are comparable.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.relabeled import Relabeled
from unshortcut.data.source import ImageSource
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate, difference
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.settings import Limit
from unshortcut.measuring.subjects.class_names import ClassOutputs
from unshortcut.measuring.subjects.images import Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.top5 import top5_hits
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

MAX_IMAGES = Limit(quick=200, standard=1000)
"""Of each shift."""
EXAMPLES = 5
"""Number of images of a shift that are shown."""


@dataclass(frozen=True)
class Count:
    """The number of correct decisions and of all."""

    right: int
    num_images: int
    top5: int | None = None
    """Number of images whose label is among the five likeliest; None for ten classes or fewer."""

    @property
    def accuracy(self) -> Estimate:
        return Estimate.counted(self.right, self.num_images)

    @property
    def top5_accuracy(self) -> Estimate | None:
        return None if self.top5 is None else Estimate.counted(self.top5, self.num_images)


@dataclass(frozen=True)
class ClassShift:
    """One class in both domains."""

    name: str
    inside: Count | None
    """Counts on the data; None if there is nothing to compare with."""
    shifted: Count
    mistaken: str
    """The most frequent wrong prediction in the shift; empty without errors."""


@dataclass(frozen=True)
class Shift:
    """The results of a model in one other domain."""

    name: str
    reason: str = ""
    """Why it could not be measured; empty if it could."""
    alone: str = ""
    """Why there is no accuracy on the data to compare with; empty if there is."""
    classes: tuple[ClassShift, ...] = ()
    unmatched: tuple[str, ...] = ()
    """Classes of the shift that are left out."""
    absent: tuple[str, ...] = ()
    """Classes of the data that are missing in the shift, if the two are compared."""
    examples: tuple[Picture, ...] = ()

    @property
    def shifted(self) -> Count:
        return _sum([one.shifted for one in self.classes])

    @property
    def inside(self) -> Count | None:
        """Counts on the data, over the same classes."""
        counts = [one.inside for one in self.classes if one.inside is not None]
        return _sum(counts) if counts else None

    @property
    def drop(self) -> Estimate | None:
        """Accuracy on the data minus accuracy on the shift."""
        inside = self.inside
        return None if inside is None else difference(inside.accuracy, self.shifted.accuracy)


@dataclass(frozen=True)
class DomainShiftResult:
    """The results of a model in other domains, in the order given by the user."""

    shifts: tuple[Shift, ...]

    @property
    def measured(self) -> tuple[Shift, ...]:
        return tuple(one for one in self.shifts if not one.reason)


def measure_shift(
    subject: Subject, name: str, source: ImageSource, on_progress: OnProgress
) -> Shift:
    """Measure a model in one domain, or raise `NotApplicable`."""
    if not len(source):
        raise NotApplicable("it contains no images")
    if source.labels is None or source.classes is None:
        raise NotApplicable("it has no labels; put the images into class folders")
    present, alone = _present(source), "the data has no labels"
    shared: dict[str, str] = {}
    merged: dict[str, str] = {}
    if subject.data.labels is not None:
        with suppress(NotApplicable):
            shared, merged = _shared_classes(subject, source)
        alone = "" if len(shared) >= 2 else "it shares fewer than two classes with the data"
    if alone:
        subject = subject.deciding(present)
        shared = {one: one for one in subject.decisions.over(present).names}
    outputs, names = subject.decisions.over(tuple(shared)), tuple(shared)
    images = subject.prepare(source, most_images(subject), classes=tuple(shared.values()))
    probabilities = subject.probabilities(images, None, on_progress, selection=outputs)
    inside: Sequence[Count | None] = [None] * len(names)
    if not alone:
        inside = _inside(subject, outputs, merged)
    shifted = _counts(probabilities, images)
    decided, labels = probabilities.argmax(axis=1), images.required_labels()
    used = {*names, *merged}
    mistaken = [_mistaken(decided[labels == at], at, names) for at in range(len(names))]
    return Shift(
        name,
        alone=alone,
        classes=tuple(map(ClassShift, names, inside, shifted, mistaken)),
        unmatched=tuple(one for one in present if one not in shared.values()),
        absent=() if alone else tuple(one for one in subject.classes if one not in used),
        examples=_examples(images, probabilities, names, subject.settings.seed),
    )


def most_images(subject: Subject) -> int | None:
    """Maximum number of images of each shift; None for all."""
    limits = (subject.settings.at_most(MAX_IMAGES), subject.settings.most_images)
    return min((one for one in limits if one is not None), default=None)


def _shared_classes(subject: Subject, source: ImageSource) -> tuple[dict[str, str], dict[str, str]]:
    """The classes that a shift shares with the data, i.e. those with the same outputs.

    Their names in the shift by those in the data. A class of the shift that is several classes of
    the data together, as some of ObjectNet are, has the name of the shift; the second mapping
    gives it for each of these classes of the data. Raises `NotApplicable` if the model knows fewer
    than two classes of either.
    """
    mine = subject.decisions.over(_present(subject.data))
    theirs = subject.decisions.over(_present(source))
    left = dict(zip(theirs.names, theirs.members, strict=True))
    shared = {}
    for name, outputs in zip(mine.names, mine.members, strict=True):
        same = [one for one, members in left.items() if members == outputs]
        if same:
            shared[name] = name if name in same else same[0]
            del left[shared[name]]
    merged: dict[str, str] = {}
    alone = {
        one[0]: name for name, one in zip(mine.names, mine.members, strict=True) if len(one) == 1
    }
    for one, members in left.items():
        parts = [alone[output] for output in members if output in alone]
        if len(members) > 1 and len(parts) == len(members) and not shared.keys() & {*parts}:
            shared[one] = one
            merged |= dict.fromkeys(parts, one)
    return shared, merged


def _inside(subject: Subject, outputs: ClassOutputs, merged: Mapping[str, str]) -> list[Count]:
    """The counts on the data for each class; `merged` classes of the data count as one."""
    if merged:
        at = {name: number for number, name in enumerate(outputs.names)}
        numbers = [at.get(merged.get(name, name), -1) for name in subject.data.classes or ()]
        source = Relabeled(subject.data, outputs.names, numbers)
        images = subject.prepare(source, subject.settings.most_images, classes=outputs.names)
    elif outputs.names == subject.classes:
        images = subject.labeled()
    else:
        images = subject.prepare(subject.data, subject.settings.most_images, classes=outputs.names)
    return _counts(subject.probabilities(images, selection=outputs), images)


def _present(source: ImageSource) -> tuple[str, ...]:
    """The classes that have images."""
    assert source.labels is not None and source.classes is not None
    return tuple(source.classes[at] for at in np.unique(source.labels))


def _counts(probabilities: NDArray[np.float64], images: Prepared) -> list[Count]:
    """The counts for each class."""
    decided, labels = probabilities.argmax(axis=1), images.required_labels()
    hits, counts = top5_hits(probabilities, labels), []
    for at in range(probabilities.shape[1]):
        own = labels == at
        top5 = None if hits is None else int(hits[own].sum())
        counts.append(Count(int((decided[own] == at).sum()), int(own.sum()), top5))
    return counts


def _mistaken(decided: NDArray[np.int64], at: int, names: Sequence[str]) -> str:
    wrong = decided[decided != at]
    return names[int(np.bincount(wrong).argmax())] if len(wrong) else ""


def _examples(
    images: Prepared, probabilities: NDArray[np.float64], names: Sequence[str], seed: int
) -> tuple[Picture, ...]:
    """The same random images for every model."""
    labels, some = images.required_labels(), images.some(EXAMPLES, seed)
    shown = []
    for row in np.searchsorted(images.indices, some.indices).tolist():
        decided = int(probabilities[row].argmax())
        right = decided == labels[row]
        decision = f"{names[decided]} ({percent(probabilities[row, decided])})"
        caption = decision if right else f"{decision}, label {names[labels[row]]}"
        shown.append(picture(images.pixels(row), caption, "good" if right else "bad"))
    return tuple(shown)


def _sum(counts: Sequence[Count]) -> Count:
    top5 = [one.top5 for one in counts if one.top5 is not None]
    return Count(
        sum(one.right for one in counts),
        sum(one.num_images for one in counts),
        sum(top5) if len(top5) == len(counts) else None,
    )
