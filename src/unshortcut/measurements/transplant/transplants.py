"""Transplants: a patch that decides for its class, pasted at its place into images of others.

An object's part seldom takes the decision with it; a watermark, a tag or a border does. That is how
a shortcut is found that nobody had thought of.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.measurements.transplant.occlusion import drops, largest
from unshortcut.measurements.transplant.pictures import cut_out, outlined, pasted
from unshortcut.measurements.transplant.plan import Plan, plan_transplants
from unshortcut.measurements.transplant.regions import (
    SMALLEST,
    Region,
    paste,
    regions,
    touched,
)
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.estimates.statistics import wilson
from unshortcut.measuring.exhibits import Picture
from unshortcut.measuring.subjects.images import Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress

WINNERS, WINNERS_OF_A_CLASS = 8, 3
"""Patches that are shown, and how many of them a class may have."""


@dataclass(frozen=True)
class Follows:
    """Shares of pastes after which the decision was the donor's class."""

    patch: float
    """Of the most salient patch."""
    control: float
    """Of the same place of other images of the host's class: what any paste does."""
    mates: float
    """Of the same place of other images of the donor's class, which has a tag as well; NaN where
    there are none."""

    @property
    def lift(self) -> float:
        """What the patch does beyond any paste."""
        return self.patch - self.control


@dataclass(frozen=True)
class Patch:
    """A patch, and what it did."""

    label: str
    image: str
    """That it was cut out of."""
    place: str
    box: tuple[float, float, float, float]
    """Left, top, right and bottom, as shares of the image's side."""
    drop: float
    """Fall of the probability of the image's class without it."""
    follows: Follows


@dataclass(frozen=True)
class Winner:
    """A patch that is shown: in its image, by itself, and in an image that followed it."""

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
    high: float
    """Of the 95 % interval of `follows.patch`."""
    place: str
    """Where most of its patches are."""
    at_place: int
    """Patches that are there."""


@dataclass(frozen=True)
class TransplantResult:
    """What the patches of images did to a model's decisions."""

    classes: tuple[DonorClass, ...]
    follow: Estimate
    """Mean over classes, as the next two."""
    control: Estimate
    lift: Estimate
    patches: tuple[Patch, ...]
    winners: tuple[Winner, ...]
    places: tuple[tuple[float, ...], ...]
    """Rows of the grid of places: the share of pastes that covered a cell and were followed."""
    hosts: int
    """That each patch was pasted into, at most."""
    known: int
    """Classes of which an image is decided rightly."""
    right: int
    """Images that are decided rightly: donors and hosts are of these."""
    images: int

    def strongest(self, donors: int = 1) -> DonorClass | None:
        """The class whose patches do most beyond any paste, of those with so many donors."""
        enough = [one for one in self.classes if one.donors >= donors]
        return max(enough, key=lambda one: one.follows.lift, default=None)


def transplant(subject: Subject, on_progress: OnProgress) -> TransplantResult:
    """Find patches, paste them, and count; `NotApplicable` without two classes to paste between."""
    side = subject.model.preprocessing.size
    if side < SMALLEST:
        raise NotApplicable(f"images of {side} pixels a side are too small to cut a patch from")
    images = subject.labeled()
    labels = images.required_labels()
    right = subject.probabilities(images).argmax(axis=1) == labels
    plan = plan_transplants(labels, right, subject.settings)
    cuts = regions(side)
    searches = len(plan.donors) * len(cuts)
    total = searches + 3 * len(plan.host)
    falls = drops(
        subject,
        images.take(plan.donors),
        labels[plan.donors],
        cuts,
        lambda done, _: on_progress(done, total),
    )
    best = largest(falls, subject.settings.seed)
    salient = [cuts[place] for place in best]
    followed = _followed(
        subject, images, plan, salient, lambda done, _: on_progress(searches + done, total)
    )
    rates = _rates(plan, followed)
    patches = tuple(
        Patch(
            images.classes[labels[donor]],
            images.identity(int(donor)),
            region.place,
            (
                region.box[0] / side,
                region.box[1] / side,
                region.box[2] / side,
                region.box[3] / side,
            ),
            float(fall),
            follows,
        )
        for donor, region, fall, follows in zip(
            plan.donors, salient, falls[np.arange(len(best)), best], rates, strict=True
        )
    )
    return TransplantResult(
        _by_class(patches),
        *_overall(labels[plan.donors], rates, subject.settings.seed),
        patches,
        _winners(images, plan, salient, patches, followed[0]),
        _places(salient, patches),
        int(np.bincount(plan.donor).max()),
        plan.known,
        int(right.sum()),
        len(images),
    )


def _followed(
    subject: Subject,
    images: Prepared,
    plan: Plan,
    salient: Sequence[Region],
    on_progress: OnProgress,
) -> NDArray[np.bool_]:
    """(3, P): whether hosts are decided to be of the donor's class after a paste.

    Of the donor's patch, of the same place of the host's class, and of the donor's class.
    """
    contents = np.concatenate([plan.donors[plan.donor], plan.own, plan.mate])
    count = len(plan.host)
    after = subject.probabilities(
        images.take(np.tile(plan.host, 3)),
        lambda host, at: paste(
            host, images.pixels(int(contents[at])), salient[plan.donor[at % count]]
        ),
        on_progress,
    )
    wanted = images.required_labels()[plan.donors[plan.donor]]
    return after.argmax(axis=1).reshape(3, count) == wanted


def _rates(plan: Plan, followed: NDArray[np.bool_]) -> list[Follows]:
    """Those of each donor."""
    count = np.bincount(plan.donor)
    patch, control, mates = (np.bincount(plan.donor, weights=row) / count for row in followed)
    mates[plan.donor[plan.mate == plan.donors[plan.donor]]] = np.nan
    return [Follows(*map(float, three)) for three in zip(patch, control, mates, strict=True)]


def _by_class(patches: Sequence[Patch]) -> tuple[DonorClass, ...]:
    """Donors are what is counted: hosts of one patch are not independent of each other."""
    found = []
    for name in dict.fromkeys(one.label for one in patches):
        own = [one for one in patches if one.label == name]
        rates = [(one.follows.patch, one.follows.control, one.follows.mates) for one in own]
        means = Follows(*np.mean(rates, axis=0).tolist())
        ((place, count),) = Counter(one.place for one in own).most_common(1)
        # Shares, not yes or no: Wilson's interval is wide enough for them, and never empty.
        interval = wilson(means.patch * len(own), len(own))
        found.append(DonorClass(name, len(own), means, *interval, place, count))
    return tuple(found)


def _overall(
    labels: NDArray[np.int64], rates: Sequence[Follows], seed: int
) -> tuple[Estimate, Estimate, Estimate]:
    """Means over classes of follow rate, control and lift, resampled by donor."""

    def estimate(values: list[float]) -> Estimate:
        one = np.array(values)

        def mean(rows: NDArray[np.int64]) -> float:
            count = np.bincount(labels[rows])
            total = np.bincount(labels[rows], weights=one[rows])
            return float((total[count > 0] / count[count > 0]).mean())

        return Estimate.of(mean, len(one), seed=seed)

    return (
        estimate([one.patch for one in rates]).never_certain(len(rates)),
        estimate([one.control for one in rates]).never_certain(len(rates)),
        estimate([one.lift for one in rates]),
    )


def _places(salient: Sequence[Region], patches: Sequence[Patch]) -> tuple[tuple[float, ...], ...]:
    covered = [
        one.follows.patch * touched(region) for region, one in zip(salient, patches, strict=True)
    ]
    return tuple(map(tuple, np.mean(covered, axis=0).tolist()))


def _winners(
    images: Prepared,
    plan: Plan,
    salient: Sequence[Region],
    patches: Sequence[Patch],
    followed: NDArray[np.bool_],
) -> tuple[Winner, ...]:
    """Those that do most beyond any paste, a few of each class."""
    shown: list[Winner] = []
    of_class: Counter[str] = Counter()
    order = sorted(
        range(len(patches)), key=lambda at: (-patches[at].follows.lift, -patches[at].drop)
    )
    for at in order:
        one, region = patches[at], salient[at]
        if one.follows.lift <= 0 or of_class[one.label] == WINNERS_OF_A_CLASS:
            continue
        of_class[one.label] += 1
        donor = images.pixels(int(plan.donors[at]))
        led = plan.host[(plan.donor == at) & followed]
        host = int(led[len(shown) % len(led)])  # not the same one for all
        before = images.classes[images.required_labels()[host]]
        seen = (
            outlined(donor, region, f"{one.image}: '{one.label}'"),
            cut_out(donor, region, one.place),
            pasted(
                paste(images.pixels(host), donor, region),
                f"{images.identity(host)}: was '{before}', now '{one.label}'",
            ),
        )
        shown.append(Winner(one, seen))
    return tuple(shown[:WINNERS])
