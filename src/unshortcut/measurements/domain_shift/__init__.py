"""Domain shift: accuracy on sketches, cartoons or other renditions of the classes of the data."""

import re
from collections.abc import Mapping, Sequence

from unshortcut.measurements.domain_shift.accuracy import (
    DomainShiftResult,
    Shift,
    measure_shift,
)
from unshortcut.measurements.domain_shift.exhibits import shift_exhibits
from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate, difference, mean_estimate
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress, part_of

LARGE = 0.5
"""Only a loss of this size or more can have the highest weight."""
NOTABLE = 0.05
"""Smallest loss that the verdict mentions."""
HIGHEST_WEIGHT = 0.9
"""Weight of losing all accuracy above chance."""


class DomainShift(Measurement[DomainShiftResult]):
    """Accuracy in other domains compared with that on the data, on the classes of both."""

    name = "domain_shift"
    title = "Domain shift"
    question = "Does the model still recognize its classes when they are drawn or painted?"
    definition = (
        "Accuracy on other data sets with the same classes. Only the classes that a data set "
        "shares with the data are used, and the model decides among these alone on both, so that "
        "the two accuracies are comparable (as in the evaluation of ImageNet-R, Hendrycks et al. "
        "2021). Classes are the same if they belong to the same outputs of the model, by name or "
        "by a mapping file. The drop is the accuracy on the data minus the accuracy on the shifted "
        "data. Intervals are 95 %, Wilson's for accuracies and Newcombe's for the drop. Sketches "
        "lack texture and color, so accuracy that is lost on them depended on texture and color."
    )
    order = 70
    needs = ("shifts",)
    gives = ("shift_accuracy", "shift_drop", "shift_accuracy_*", "shift_drop_*")
    result = DomainShiftResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> DomainShiftResult:
        """Measure every domain; one that cannot be measured does not stop the others."""
        count = len(subject.shifts)
        shifts = tuple(
            measure_shift(subject, name, source, part_of(on_progress, number, count))
            for number, (name, source) in enumerate(subject.shifts.items())
        )
        if all(one.reason for one in shifts):
            raise NotApplicable("; ".join(f"{one.name}: {one.reason}" for one in shifts))
        return DomainShiftResult(shifts)

    def metrics(
        self, result: DomainShiftResult, baseline: DomainShiftResult | None
    ) -> dict[str, Metric]:
        """The means over all shifts, and each shift by its name."""
        found = {}
        shifted = [one.shifted.accuracy for one in result.measured]
        several = f"mean of {len(shifted)} shifts" if len(shifted) > 1 else result.measured[0].name
        found["shift_accuracy"] = Metric.of(
            "Accuracy under shift",
            mean_estimate(shifted, independent=True),
            better="higher",
            note=several,
        )
        compared = [one for one in result.measured if one.inside is not None]
        if compared:
            note = f"mean of {len(compared)} shifts" if len(compared) > 1 else compared[0].name
            found["shift_drop"] = Metric.of(
                "Accuracy lost under shift", _mean_drop(compared), better="lower", note=note
            )
        for key, one in _by_key(result.measured).items():
            found[f"shift_accuracy_{key}"] = Metric.of(
                f"Accuracy on {one.name}",
                one.shifted.accuracy,
                better="higher",
                headline=False,
                note=f"{one.shifted.num_images} images, among {len(one.classes)} classes",
            )
            if one.drop is not None and one.inside is not None:
                found[f"shift_drop_{key}"] = Metric.of(
                    f"Accuracy lost on {one.name}",
                    one.drop,
                    better="lower",
                    headline=False,
                    note=f"compared with {one.inside.num_images} images of the data",
                )
        return found

    def exhibits(
        self, results: Mapping[str, DomainShiftResult], baseline: DomainShiftResult | None
    ) -> Sequence[Exhibit]:
        return shift_exhibits(results)

    def finding(self, result: DomainShiftResult) -> Finding | None:
        """The largest loss that is significant."""
        losses = [
            (one, one.inside.accuracy.value, one.drop.value)
            for one in result.measured
            if one.inside is not None
            and one.drop is not None
            and one.drop.low > 0
            and one.inside.accuracy.low > 1 / len(one.classes)  # else there is nothing to lose
        ]
        if not losses:
            return None
        one, inside, drop = max(losses, key=lambda loss: loss[2])
        if drop < NOTABLE:
            return None
        above = max(inside - 1 / len(one.classes), drop)
        return Finding(
            f"loses {100 * drop:.0f} points of accuracy on {one.name} (from {percent(inside)} to "
            f"{percent(inside - drop)})",
            HIGHEST_WEIGHT * min(drop / above, drop / LARGE),
        )


def _mean_drop(shifts: Sequence[Shift]) -> Estimate:
    """The mean drop; all shifts use much the same images of the data, so errors do not cancel."""
    inside = [one.inside.accuracy for one in shifts if one.inside is not None]
    shifted = [one.shifted.accuracy for one in shifts]
    return difference(
        mean_estimate(inside, independent=False), mean_estimate(shifted, independent=True)
    )


def _by_key(shifts: Sequence[Shift]) -> dict[str, Shift]:
    """Shifts by unique names for `--require`, of lowercase letters, digits and underscores."""
    found: dict[str, Shift] = {}
    for one in shifts:
        plain = re.sub(r"[^a-z0-9]+", "_", one.name.lower()).strip("_") or "shift"
        key, number = plain, 1
        while key in found:
            number += 1
            key = f"{plain}_{number}"
        found[key] = one
    return found
