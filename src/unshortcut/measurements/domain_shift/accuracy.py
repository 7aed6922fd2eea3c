"""Accuracy on images of another domain, beside that on the data, over the classes of both.

As in the published evaluation of ImageNet-R (hendrycks/imagenet-r), decisions are among the shared
classes alone, on both sides, so that the two accuracies compare.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.source import ImageSource
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates.contrasts import difference
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.subjects.class_names import ClassOutputs
from unshortcut.measuring.subjects.images import Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

IMAGES = 1000
"""Of a shift, at most, unless all are asked for."""
EXAMPLES = 5
"""Images of a shift that are shown."""


@dataclass(frozen=True)
class Count:
    """Right decisions among all."""

    right: int
    images: int

    @property
    def accuracy(self) -> Estimate:
        return Estimate.counted(self.right, self.images)


@dataclass(frozen=True)
class ClassShift:
    """One class in both domains."""

    name: str
    inside: Count | None
    """In the data; None where there is nothing to compare with."""
    shifted: Count
    mistaken: str
    """The wrong class that is decided for most often in the shift; empty without errors."""


@dataclass(frozen=True)
class Shift:
    """A model in one other domain; `reason` says why nothing is measured, if so."""

    name: str
    reason: str = ""
    alone: str = ""
    """Why there is no accuracy in the data to compare with, if so."""
    classes: tuple[ClassShift, ...] = ()
    unmatched: tuple[str, ...] = ()
    """Classes of the shift that are left out."""
    absent: tuple[str, ...] = ()
    """Classes of the data that the shift lacks, where the two are compared."""
    examples: tuple[Picture, ...] = ()

    @property
    def shifted(self) -> Count:
        return _sum([one.shifted for one in self.classes])

    @property
    def inside(self) -> Count | None:
        """In the data, over the same classes."""
        counts = [one.inside for one in self.classes if one.inside is not None]
        return _sum(counts) if counts else None

    @property
    def drop(self) -> Estimate | None:
        """Accuracy in the data minus accuracy in the shift."""
        inside = self.inside
        return None if inside is None else difference(inside.accuracy, self.shifted.accuracy)


@dataclass(frozen=True)
class DomainShiftResult:
    """A model in other domains, in the order in which they were given."""

    shifts: tuple[Shift, ...]

    @property
    def measured(self) -> tuple[Shift, ...]:
        return tuple(one for one in self.shifts if not one.reason)


def measure_shift(
    subject: Subject, name: str, source: ImageSource, on_progress: OnProgress | None = None
) -> Shift:
    """A model in one domain; what stands in the way is the `reason` of the result."""
    try:
        return _measured(subject, name, source, on_progress)
    except NotApplicable as error:
        return Shift(name, reason=str(error))


@dataclass(frozen=True)
class Shared:
    """Classes of a shift that take part, by their names there and in the data."""

    selection: ClassOutputs
    """Their outputs, under the names that are shown: those of the data where it has them."""
    there: tuple[str, ...]
    """Their names in the shift."""

    def __len__(self) -> int:
        return len(self.there)


def shared_classes(subject: Subject, source: ImageSource) -> Shared:
    """Classes of a shift that the data have as well: those of which the same outputs speak.

    Raises `NotApplicable` where the model can name fewer than two of either.
    """
    mine = subject.decisions.over(_present(subject.data))
    theirs = subject.decisions.over(_present(source))
    left = dict(zip(theirs.names, theirs.members, strict=True))
    both: list[tuple[str, str]] = []
    for name, outputs in zip(mine.names, mine.members, strict=True):
        alike = [one for one, members in left.items() if members == outputs]
        if alike:
            both.append((name, name if name in alike else alike[0]))
            del left[both[-1][1]]
    places = [mine.names.index(name) for name, _ in both]
    selection = replace(
        mine,
        names=tuple(name for name, _ in both),
        members=tuple(mine.members[place] for place in places),
        missing=(),
    )
    return Shared(selection, tuple(there for _, there in both))


def _measured(
    subject: Subject, name: str, source: ImageSource, on_progress: OnProgress | None
) -> Shift:
    if not len(source):
        raise NotApplicable("it holds no images")
    if source.labels is None or source.classes is None:
        raise NotApplicable("it has no labels: class folders give them")
    shared, alone = _compared(subject, source)
    if shared is None:
        subject = subject.deciding(_present(source))
        theirs = subject.decisions.over(_present(source))
        shared = Shared(theirs, theirs.names)
    most = min(IMAGES, subject.settings.max_images)
    images = subject.prepare(source, most, classes=shared.there)
    probabilities = _probabilities(subject, images, shared.selection, on_progress)
    decided, labels = probabilities.argmax(axis=1), images.required_labels()
    inside = None if alone else _inside(subject, shared.selection)
    names = shared.selection.names
    return Shift(
        name,
        alone=alone,
        classes=tuple(
            ClassShift(
                names[at],
                None if inside is None else inside[at],
                _counted(decided, labels, at),
                _mistaken(decided[labels == at], at, names),
            )
            for at in range(len(names))
        ),
        unmatched=tuple(one for one in _present(source) if one not in shared.there),
        absent=() if alone else tuple(one for one in subject.classes if one not in names),
        examples=_examples(images, probabilities, names, subject.settings.seed),
    )


def _compared(subject: Subject, source: ImageSource) -> tuple[Shared | None, str]:
    """The classes in common, or None and why there is nothing to compare with."""
    if subject.data.labels is None:
        return None, "the data have no labels"
    try:
        shared = shared_classes(subject, source)
    except NotApplicable:
        return None, "the data and it have fewer than two classes in common"
    if len(shared) < 2:
        return None, "the data and it have fewer than two classes in common"
    return shared, ""


def _inside(subject: Subject, selection: ClassOutputs) -> list[Count]:
    """Of each class, in the data."""
    if selection.names == subject.classes:
        images = subject.labeled()
    else:
        images = subject.prepare(subject.data, subject.settings.max_images, classes=selection.names)
    decided = _probabilities(subject, images, selection, None).argmax(axis=1)
    labels = images.required_labels()
    return [_counted(decided, labels, at) for at in range(len(selection.names))]


def _probabilities(
    subject: Subject, images: Prepared, selection: ClassOutputs, on_progress: OnProgress | None
) -> NDArray[np.float64]:
    native = subject.outputs(images, on_progress=on_progress).native
    assert native is not None
    return selection.probabilities(native)


def _present(source: ImageSource) -> tuple[str, ...]:
    """Classes that have an image."""
    assert source.labels is not None and source.classes is not None
    return tuple(source.classes[at] for at in np.unique(source.labels))


def _counted(decided: NDArray[np.int64], labels: NDArray[np.int64], at: int) -> Count:
    own = labels == at
    return Count(int((decided[own] == at).sum()), int(own.sum()))


def _mistaken(decided: NDArray[np.int64], at: int, names: Sequence[str]) -> str:
    wrong = decided[decided != at]
    return names[int(np.bincount(wrong).argmax())] if len(wrong) else ""


def _examples(
    images: Prepared, probabilities: NDArray[np.float64], names: Sequence[str], seed: int
) -> tuple[Picture, ...]:
    """The same images for every model, whatever it decided."""
    labels = images.required_labels()
    some = images.some(EXAMPLES, seed)
    rows = np.searchsorted(images.indices, some.indices)
    shown = []
    for row in rows.tolist():
        decided = int(probabilities[row].argmax())
        right = decided == labels[row]
        said = f"{names[decided]} ({percent(probabilities[row, decided])})"
        caption = said if right else f"{said}, is {names[labels[row]]}"
        shown.append(picture(images.pixels(row), caption, "good" if right else "bad"))
    return tuple(shown)


def _sum(counts: Sequence[Count]) -> Count:
    return Count(sum(one.right for one in counts), sum(one.images for one in counts))
