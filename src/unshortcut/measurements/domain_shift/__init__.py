"""Domain shift: a model's accuracy on sketches, cartoons or renditions of its classes."""

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
from unshortcut.measuring.estimates.contrasts import difference, mean
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress, part_of

MUCH = 0.5
"""A smaller loss is not of the gravest, even if nothing is left."""
NOTABLE = 0.05
"""A smaller loss is not worth a word in the verdict."""
GRAVEST = 0.9
"""Weight of a loss of all that is better than chance."""


class DomainShift(Measurement[DomainShiftResult]):
    """Accuracy in other domains beside that in the data, on the classes of both."""

    name = "domain_shift"
    title = "Domain shift"
    question = "Does it still know its classes when they are drawn, painted or rendered?"
    definition = (
        "Accuracy on folders of other images of the same classes. Only classes that a folder has "
        "in common with the data count, and decisions are among these alone, in the folder and in "
        "the data, so that the two accuracies compare (as ImageNet-R is evaluated, Hendrycks et "
        "al. 2021). Classes are the same if the same outputs of the model speak for them, by name "
        "or by a mapping file. The drop is accuracy in the data minus accuracy in the folder. "
        "Intervals of accuracies are Wilson's, and Newcombe's for the drop, 95 %. Sketches lack "
        "texture and color, so what is lost on them rested on these."
    )
    place = 70
    needs = ("shifts",)
    gives = ("shift_accuracy", "shift_drop", "shift_accuracy_*", "shift_drop_*")
    result = DomainShiftResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> DomainShiftResult:
        """Every domain; one that cannot be measured has its reason, and the others go on."""
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
        """Means over all shifts are the headlines; each shift can be required by its name."""
        found = {}
        shifted = [one.shifted.accuracy for one in result.measured]
        several = f"mean of {len(shifted)} shifts" if len(shifted) > 1 else result.measured[0].name
        found["shift_accuracy"] = Metric.of(
            "Accuracy under shift", mean(shifted, independent=True), better="higher", note=several
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
                note=f"{one.shifted.images} images, among {len(one.classes)} classes",
            )
            if one.drop is not None and one.inside is not None:
                found[f"shift_drop_{key}"] = Metric.of(
                    f"Accuracy lost on {one.name}",
                    one.drop,
                    better="lower",
                    headline=False,
                    note=f"against {one.inside.images} images of the data",
                )
        return found

    def exhibits(
        self, results: Mapping[str, DomainShiftResult], baseline: DomainShiftResult | None
    ) -> Sequence[Exhibit]:
        """Bars, all metrics, every class, examples, and what was left out."""
        return shift_exhibits(results)

    def finding(self, result: DomainShiftResult) -> Finding | None:
        """The largest loss, where it is certain."""
        losses = [
            (one, one.inside.accuracy.value, one.drop.value)
            for one in result.measured
            if one.inside is not None
            and one.drop is not None
            and one.drop.low > 0
            and one.inside.accuracy.low > 1 / len(one.classes)  # chance has nothing to lose
        ]
        if not losses:
            return None
        one, inside, drop = max(losses, key=lambda loss: loss[2])
        if drop < NOTABLE:
            return None
        above = max(inside - 1 / len(one.classes), drop)
        return Finding(
            f"loses {100 * drop:.0f} points on {one.name} (from {percent(inside)} to "
            f"{percent(inside - drop)})",
            GRAVEST * min(drop / above, drop / MUCH),
        )


def _mean_drop(shifts: Sequence[Shift]) -> Estimate:
    """The data's images are much the same for all shifts, so their errors do not cancel."""
    inside = [one.inside.accuracy for one in shifts if one.inside is not None]
    shifted = [one.shifted.accuracy for one in shifts]
    return difference(mean(inside, independent=False), mean(shifted, independent=True))


def _by_key(shifts: Sequence[Shift]) -> dict[str, Shift]:
    """By names that `--require` takes: small letters, digits and underscores, each once."""
    found: dict[str, Shift] = {}
    for one in shifts:
        plain = re.sub(r"[^a-z0-9]+", "_", one.name.lower()).strip("_") or "shift"
        key, number = plain, 1
        while key in found:
            number += 1
            key = f"{plain}_{number}"
        found[key] = one
    return found
