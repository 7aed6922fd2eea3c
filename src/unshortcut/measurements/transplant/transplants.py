"""Transplants: the most salient patch of an image, pasted into images of other classes.

A part of an object rarely changes the decision; a watermark, a tag or a border does. This finds
shortcuts that nobody had thought of.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.intervals import wilson
from unshortcut.measurements.transplant.plan import TransplantPlan, plan_transplants
from unshortcut.measurements.transplant.regions import (
    SMALLEST,
    STEPS,
    Region,
    cut_out,
    drops,
    largest,
    outlined,
    paste,
    pasted,
    regions,
    touched,
)
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Picture
from unshortcut.measuring.subjects.images import Pixels, Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress, within

WINNERS, WINNERS_OF_A_CLASS = 8, 3
"""Limits on the patches that are shown, and on those of one class."""


@dataclass(frozen=True)
class Follows:
    """Shares of pastes after which the decision is the donor's class."""

    patch: float
    """Pasting the most salient patch."""
    control: float
    """Pasting the same region of other images of the host's class: the effect of any paste."""
    mates: float
    """Pasting the same region of other images of the donor's class, which may contain the same tag;
    NaN if there are none."""

    @property
    def lift(self) -> float:
        """The effect of the patch minus that of any paste."""
        return self.patch - self.control


@dataclass(frozen=True)
class Patch:
    """A patch and its effect."""

    label: str
    image: str
    """The image that it was cut from."""
    position: str
    box: tuple[float, float, float, float]
    """Left, top, right and bottom, as shares of the side of the image."""
    drop: float
    """How much the probability of the image's class falls without it."""
    follows: Follows


@dataclass(frozen=True)
class Winner:
    """A patch that is shown: in its image, alone, and in an image whose decision follows it."""

    patch: Patch
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class DonorClass:
    """The patches of one class."""

    name: str
    donors: int
    follows: Follows
    """Means over its donors."""
    low: float
    """Lower end of the 95 % interval of `follows.patch`."""
    high: float
    """Upper end of the 95 % interval of `follows.patch`."""
    position: str
    """The most frequent position of its patches."""
    at_position: int
    """Number of patches at this position."""

    @property
    def follow(self) -> Estimate:
        """Share of pastes that decisions follow."""
        return Estimate(self.follows.patch, self.low, self.high)


@dataclass(frozen=True)
class TransplantResult:
    """The effect of pasted patches on the decisions of a model."""

    classes: tuple[DonorClass, ...]
    follow: Estimate
    """Share of pastes that decisions follow, mean over classes."""
    control: Estimate
    """The same for any paste, mean over classes."""
    lift: Estimate
    """The difference of the two, mean over classes."""
    patches: tuple[Patch, ...]
    winners: tuple[Winner, ...]
    positions: tuple[tuple[float, ...], ...]
    """Rows of a grid over the image: the share of pastes that cover a cell and are followed."""
    num_hosts: int
    """Largest number of images that a patch was pasted into."""
    num_classes: int
    """Number of classes with a correctly classified image."""
    num_right: int
    """Number of correctly classified images, from which donors and hosts are chosen."""
    num_images: int

    def strongest(self, donors: int = 1) -> DonorClass | None:
        """The class with the largest lift, among those with at least so many donors."""
        enough = [one for one in self.classes if one.donors >= donors]
        return max(enough, key=lambda one: one.follows.lift, default=None)


def transplant(subject: Subject, on_progress: OnProgress) -> TransplantResult:
    """Find patches, paste them, and count the decisions that follow them.

    Raises `NotApplicable` without two classes to paste between.
    """
    side = subject.model.preprocessing.size
    if side < SMALLEST:
        raise NotApplicable(f"images of {side} × {side} pixels are too small to cut a patch from")
    images = subject.labeled()
    labels = images.required_labels()
    right = subject.probabilities(images).argmax(axis=1) == labels
    plan = plan_transplants(labels, right, subject.settings)
    cuts = regions(side, steps_of(subject))
    searches = len(plan.donors) * len(cuts)
    total = searches + 3 * len(plan.host)
    searching, pasting = within(on_progress, 0, total), within(on_progress, searches, total)
    falls = drops(subject, images.take(plan.donors), labels[plan.donors], cuts, searching)
    best = largest(falls, subject.settings.seed)
    salient = [cuts[index] for index in best]
    followed = _followed(subject, images, plan, salient, pasting)
    rates = _rates(plan, followed)
    patches = tuple(
        Patch(
            images.classes[labels[donor]],
            images.identity(donor),
            region.position,
            region.shares(),
            float(falls[row, best[row]]),
            rates[row],
        )
        for row, (donor, region) in enumerate(zip(plan.donors.tolist(), salient, strict=True))
    )
    covered = [one.patch * touched(region) for one, region in zip(rates, salient, strict=True)]
    return TransplantResult(
        _by_class(patches),
        *_overall(labels[plan.donors], rates, subject.settings.seed),
        patches,
        _winners(images, plan, salient, patches, followed[0]),
        tuple(map(tuple, np.mean(covered, axis=0).tolist())),
        int(np.bincount(plan.donor).max()),
        plan.num_classes,
        int(right.sum()),
        len(images),
    )


def num_passes(subject: Subject) -> int:
    """How often the model runs on changed images if it is right on all plain ones."""
    labels = subject.labeled().required_labels()
    plan = plan_transplants(labels, np.ones(len(labels), np.bool_), subject.settings)
    cuts = regions(subject.model.preprocessing.size, steps_of(subject))
    return len(plan.donors) * len(cuts) + 3 * len(plan.host)


def steps_of(subject: Subject) -> int:
    """Steps per side of a square in the search for the most salient one."""
    return 1 if subject.settings.profile == "quick" else STEPS


def _followed(
    subject: Subject,
    images: Prepared,
    plan: TransplantPlan,
    salient: Sequence[Region],
    on_progress: OnProgress,
) -> NDArray[np.bool_]:
    """Whether hosts are classified as the donor's class after each paste (3, P).

    The three rows are pastes of the donor's patch, of the same region of another image of the
    host's class, and of another image of the donor's class.
    """
    contents = np.concatenate([plan.donors[plan.donor], plan.own, plan.mate])
    count = len(plan.host)

    def transform(host: Pixels, at: int) -> Pixels:
        return paste(host, images.pixels(int(contents[at])), salient[plan.donor[at % count]])

    hosts = images.take(np.tile(plan.host, 3))
    after = subject.probabilities(hosts, transform, on_progress)
    wanted = images.required_labels()[plan.donors[plan.donor]]
    return after.argmax(axis=1).reshape(3, count) == wanted


def _rates(plan: TransplantPlan, followed: NDArray[np.bool_]) -> list[Follows]:
    """The rates of each donor."""
    count = np.bincount(plan.donor)
    patch, control, mates = (np.bincount(plan.donor, weights=row) / count for row in followed)
    mates[plan.donor[plan.mate == plan.donors[plan.donor]]] = np.nan
    return [Follows(*map(float, three)) for three in zip(patch, control, mates, strict=True)]


def _by_class(patches: Sequence[Patch]) -> tuple[DonorClass, ...]:
    """Intervals count donors, because the hosts of one patch are not independent."""
    found = []
    for name in dict.fromkeys(one.label for one in patches):
        own = [one for one in patches if one.label == name]
        rates = [(one.follows.patch, one.follows.control, one.follows.mates) for one in own]
        means = Follows(*np.mean(rates, axis=0).tolist())
        ((position, count),) = Counter(one.position for one in own).most_common(1)
        # For shares instead of yes or no, Wilson's interval is wide enough, and never empty.
        interval = wilson(means.patch * len(own), len(own))
        found.append(DonorClass(name, len(own), means, *interval, position, count))
    return tuple(found)


def _overall(
    labels: NDArray[np.int64], rates: Sequence[Follows], seed: int
) -> tuple[Estimate, Estimate, Estimate]:
    """Means over classes of follow rate, control and lift, with a bootstrap over donors."""

    def estimate(name: str) -> Estimate:
        one = np.array([getattr(rate, name) for rate in rates])

        def mean(rows: NDArray[np.int64]) -> float:
            count = np.bincount(labels[rows])
            total = np.bincount(labels[rows], weights=one[rows])
            return float((total[count > 0] / count[count > 0]).mean())

        return Estimate.of(mean, len(one), seed=seed)

    follow, control = (estimate(name).never_certain(len(rates)) for name in ("patch", "control"))
    return follow, control, estimate("lift")


def _winners(
    images: Prepared,
    plan: TransplantPlan,
    salient: Sequence[Region],
    patches: Sequence[Patch],
    followed: NDArray[np.bool_],
) -> tuple[Winner, ...]:
    """The patches with the largest lift, a few of each class."""
    shown: list[Winner] = []
    of_class: Counter[str] = Counter()
    effects = [(-one.follows.lift, -one.drop) for one in patches]
    for at in sorted(range(len(patches)), key=effects.__getitem__):
        one, region = patches[at], salient[at]
        if one.follows.lift <= 0 or of_class[one.label] == WINNERS_OF_A_CLASS:
            continue
        of_class[one.label] += 1
        donor = images.pixels(int(plan.donors[at]))
        following = plan.host[(plan.donor == at) & followed]
        host = int(following[len(shown) % len(following)])  # not the same one for all
        before = images.classes[images.required_labels()[host]]
        caption = f"{images.identity(host)}: was '{before}', now '{one.label}'"
        seen = (
            outlined(donor, region, f"{one.image}: '{one.label}'"),
            cut_out(donor, region, one.position),
            pasted(paste(images.pixels(host), donor, region), caption),
        )
        shown.append(Winner(one, seen))
    return tuple(shown[:WINNERS])
