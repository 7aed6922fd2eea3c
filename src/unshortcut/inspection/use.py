"""Does a model use what the files tell? The property is made equal, and its decisions are counted.

An image is given the value that all images get, and, as a control, the value of another image of
its own class. Both change the image in the same way, but only the first takes away what the
property tells of the class. A model that uses it changes more decisions in the first case.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.inspection.equalizing import (
    EQUALIZERS,
    ChangedSource,
    Equalizer,
    Values,
    equalized_values,
)
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.subjects.images import Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress, part_of
from unshortcut.properties.columns import Column, Property
from unshortcut.randomness import generator

MARGIN = 0.01
"""Share of decisions by which the control must be exceeded; lost detail alone changes a few."""


@dataclass(frozen=True)
class PropertyUse:
    """How decisions of a model change when a property is made equal."""

    about: Property
    change: str
    """What was done to the images."""
    changed: Estimate
    """Share of decisions that change when all images get the same value."""
    control: Estimate
    """Share that change when images get the value of another image of their class."""
    difference: Estimate  # of the two, paired by image
    accuracy: Estimate  # on the images as they are
    accuracy_equal: Estimate  # when all have the same value
    accuracy_control: Estimate
    num_images: int

    @property
    def used(self) -> bool:
        """Whether more decisions change than in the control, by more than chance and a margin."""
        return self.difference.low > MARGIN


@dataclass(frozen=True)
class TrainingValues:
    """What is known of the images whose properties were found to tell the class."""

    columns: Mapping[str, Column]
    labels: NDArray[np.int64]  # (N,), indices into `classes`
    classes: tuple[str, ...]


def measure_use(
    subject: Subject,
    training: TrainingValues,
    names: Sequence[str],
    *,
    most: int,
    max_images: int,
    seed: int = 0,
    on_progress: OnProgress = lambda done, total: None,
) -> list[PropertyUse]:
    """Measure the use of at most `most` of some properties, in the given order.

    Those that do not show in the pixels are left out, and so are those that are made equal by the
    same change as an earlier one, such as width and height.
    """
    first = {EQUALIZERS[name]: name for name in reversed(names) if name in EQUALIZERS}
    chosen = [name for name in names if name in first.values()][:most]
    if not chosen:
        return []
    images = subject.labeled(max_images)
    parts = 1 + 2 * len(chosen)

    def decisions(change: Callable[[ImageArray, int], ImageArray] | None, part: int) -> Decisions:
        source = ChangedSource(subject.data, change)
        changed = replace(images, source=source, kept=None)
        progress = part_of(on_progress, part, parts)
        return subject.probabilities(changed, on_progress=progress).argmax(axis=1)

    # Also the images as they are go through full decoding, so that nothing else differs.
    plain = decisions(None, 0)
    found = []
    for number, name in enumerate(chosen):
        equalizer = EQUALIZERS[name]
        values = equalized_values(name, dict(training.columns))
        target = equalizer.target(values, training.labels)
        own = _own_class_values(values, training, images, subject, (seed, name))
        equal = decisions(partial(_equalized, equalizer, target), 1 + 2 * number)
        control = decisions(partial(_individual, equalizer, own), 2 + 2 * number)
        column = training.columns[name]
        shown = f"{target:.3g}" if target < 1000 else f"{target:.0f}"
        found.append(
            _use(column.about, equalizer.says.format(shown), images, plain, equal, control)
        )
    return found


Decisions = NDArray[np.int64]


def _use(
    which: Property, change: str, images: Prepared, plain: Decisions, equal: Decisions,
    control: Decisions,
) -> PropertyUse:  # fmt: skip
    labels = images.required_labels()
    changed, by_control = equal != plain, control != plain
    difference = changed.astype(np.float64) - by_control
    return PropertyUse(
        which,
        change,
        Estimate.share(changed),
        Estimate.share(by_control),
        Estimate.mean(difference),
        Estimate.share(plain == labels),
        Estimate.share(equal == labels),
        Estimate.share(control == labels),
        len(labels),
    )


def _equalized(equalizer: Equalizer, target: float, pixels: ImageArray, index: int) -> ImageArray:
    return equalizer.apply(pixels, target)


def _individual(
    equalizer: Equalizer, values: Mapping[int, float], pixels: ImageArray, index: int
) -> ImageArray:
    return equalizer.apply(pixels, values[index])


def _own_class_values(
    values: Values, training: TrainingValues, images: Prepared, subject: Subject,
    key: tuple[int, str],
) -> dict[int, float]:  # fmt: skip
    """For each image by its index, the value of a random training image of its class."""
    found = {}
    members = {
        name: np.flatnonzero(training.labels == number)
        for number, name in enumerate(training.classes)
    }
    for index, label in zip(images.indices.tolist(), images.required_labels(), strict=True):
        own = members.get(subject.classes[label])
        random = generator("inspection", "control", *key, index)
        rows = own if own is not None and len(own) else np.arange(len(values))
        found[index] = float(values[random.choice(rows)])
    return found
