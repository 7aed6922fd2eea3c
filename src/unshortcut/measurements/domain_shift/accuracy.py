"""Accuracy on images of another domain and on the data, over the classes of both.

As in the published evaluation of ImageNet-R (hendrycks/imagenet-r), the model decides among the
shared classes alone in both domains, so that the two accuracies are comparable.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.source import ImageSource
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate, difference
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.subjects.class_names import ClassOutputs
from unshortcut.measuring.subjects.images import Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

MAX_IMAGES = 1000
"""Limit on the images of a shift, unless all are requested."""
EXAMPLES = 5
"""Number of images of a shift that are shown."""


@dataclass(frozen=True)
class Count:
    """The number of correct decisions and of all."""

    right: int
    num_images: int

    @property
    def accuracy(self) -> Estimate:
        return Estimate.counted(self.right, self.num_images)


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
    subject: Subject, name: str, source: ImageSource, on_progress: OnProgress | None = None
) -> Shift:
    """Measure a model in one domain; if that is impossible, the result has a `reason`."""
    try:
        return _measured(subject, name, source, on_progress)
    except NotApplicable as error:
        return Shift(name, reason=str(error))


@dataclass(frozen=True)
class Shared:
    """The classes that are used, with their names in the data and in the shift."""

    outputs: ClassOutputs
    """Their outputs, under the names that are shown: those of the data if it has them."""
    there: tuple[str, ...]
    """Their names in the shift."""

    def __len__(self) -> int:
        return len(self.there)


def shared_classes(subject: Subject, source: ImageSource) -> Shared:
    """The classes that a shift shares with the data, i.e. those with the same outputs.

    Raises `NotApplicable` if the model knows fewer than two classes of either.
    """
    mine = subject.decisions.over(_present(subject.data))
    theirs = subject.decisions.over(_present(source))
    left = dict(zip(theirs.names, theirs.members, strict=True))
    both: list[tuple[str, str]] = []
    for name, outputs in zip(mine.names, mine.members, strict=True):
        same = [one for one, members in left.items() if members == outputs]
        if same:
            both.append((name, name if name in same else same[0]))
            del left[both[-1][1]]
    shared = replace(
        mine,
        names=tuple(name for name, _ in both),
        members=tuple(mine.members[mine.names.index(name)] for name, _ in both),
        missing=(),
    )
    return Shared(shared, tuple(there for _, there in both))


def _measured(
    subject: Subject, name: str, source: ImageSource, on_progress: OnProgress | None
) -> Shift:
    if not len(source):
        raise NotApplicable("it contains no images")
    if source.labels is None or source.classes is None:
        raise NotApplicable("it has no labels; put the images into class folders")
    shared, alone = _compared(subject, source)
    if shared is None:
        subject = subject.deciding(_present(source))
        theirs = subject.decisions.over(_present(source))
        shared = Shared(theirs, theirs.names)
    most = min(MAX_IMAGES, subject.settings.max_images)
    images = subject.prepare(source, most, classes=shared.there)
    probabilities = _probabilities(subject, images, shared.outputs, on_progress)
    decided, labels = probabilities.argmax(axis=1), images.required_labels()
    inside = None if alone else _inside(subject, shared.outputs)
    names = shared.outputs.names
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
    """The shared classes, or None and why there is nothing to compare with."""
    if subject.data.labels is None:
        return None, "the data has no labels"
    shared: Shared | None = None
    with suppress(NotApplicable):
        shared = shared_classes(subject, source)
    if shared is None or len(shared) < 2:
        return None, "it shares fewer than two classes with the data"
    return shared, ""


def _inside(subject: Subject, outputs: ClassOutputs) -> list[Count]:
    """The counts on the data for each class."""
    if outputs.names == subject.classes:
        images = subject.labeled()
    else:
        images = subject.prepare(subject.data, subject.settings.max_images, classes=outputs.names)
    decided = _probabilities(subject, images, outputs, None).argmax(axis=1)
    labels = images.required_labels()
    return [_counted(decided, labels, at) for at in range(len(outputs.names))]


def _probabilities(
    subject: Subject, images: Prepared, outputs: ClassOutputs, on_progress: OnProgress | None
) -> NDArray[np.float64]:
    native = subject.outputs(images, on_progress=on_progress).native
    assert native is not None
    return outputs.probabilities(native)


def _present(source: ImageSource) -> tuple[str, ...]:
    """The classes that have images."""
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
    """The same random images for every model."""
    labels = images.required_labels()
    some = images.some(EXAMPLES, seed)
    rows = np.searchsorted(images.indices, some.indices)
    shown = []
    for row in rows.tolist():
        decided = int(probabilities[row].argmax())
        right = decided == labels[row]
        decision = f"{names[decided]} ({percent(probabilities[row, decided])})"
        caption = decision if right else f"{decision}, label {names[labels[row]]}"
        shown.append(picture(images.pixels(row), caption, "good" if right else "bad"))
    return tuple(shown)


def _sum(counts: Sequence[Count]) -> Count:
    return Count(sum(one.right for one in counts), sum(one.num_images for one in counts))
