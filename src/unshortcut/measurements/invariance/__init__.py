"""How far features move when an image is turned, recolored, enlarged, smoothed or shuffled."""

from collections.abc import Mapping, Sequence

import numpy as np

from unshortcut.measurements.invariance.exhibits import exhibits
from unshortcut.measurements.invariance.profiles import InvarianceResult, profiles
from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress

IMAGES = 150
"""At most, each seen at every level of every variation."""
HARDLY, ANOTHER = 0.25, 0.8
"""Movements that count as none to speak of, and as one to another image."""
_HEADLINES = ("rotation", "saturation", "patch_shuffle")
_SEEN_AS_ANOTHER = {
    ("saturation", 1.0): ("sees a gray copy of an image as another image", 0.6),
    ("rotation", 90.0): ("sees a quarter turn as another image", 0.3),
}
"""What to say, and its weight, by variation and level."""


class Invariance(Measurement[InvarianceResult]):
    """A profile of movements for each variation of an image."""

    name = "invariance"
    title = "Invariance"
    question = "Which changes of an image does it ignore, and which does it see?"
    definition = (
        "Each image is changed at several strengths: turned (mirrored beyond its border), its hue "
        "turned, its color taken away, its center enlarged, blurred, smoothed by anisotropic "
        "diffusion (kappa 20), or cut into patches that all change places. The movement is the "
        "cosine distance (1 − cosine) between the features of the changed and of the plain image, "
        "divided by the mean cosine distance between different images of the data. So 0 is a model "
        "that does not notice, and 1 one whose features are as far away as another image's. Where "
        "there is a classifier, the share of decisions that stay the same stands beside it. "
        "Intervals are of 95 %, by a bootstrap over images; Wilson's for shares."
    )
    place = 80
    gives = (
        "invariance_*",
        "same_decisions_*",
    )
    result = InvarianceResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> InvarianceResult:
        images = subject.unlabeled(IMAGES)
        if len(images) < 2:
            raise NotApplicable("distances between images want at least two of them")
        return profiles(subject, images, on_progress)

    def metrics(
        self, result: InvarianceResult, baseline: InvarianceResult | None
    ) -> dict[str, Metric]:
        metrics = {}
        for one in result.profiles:
            metrics[f"invariance_{one.name}"] = Metric.of(
                f"Movement under {one.title.lower()}",
                one.mean,
                percent=False,
                headline=one.name in _HEADLINES,
                note="mean over its levels; 1 is as far as another image",
            )
            if one.same:
                metrics[f"same_decisions_{one.name}"] = Metric(
                    f"Decisions that stay under {one.title.lower()}",
                    float(np.mean([same.value for same in one.same])),
                    headline=False,
                    note="mean over its levels",
                )
        return metrics

    def exhibits(
        self, results: Mapping[str, InvarianceResult], baseline: InvarianceResult | None
    ) -> Sequence[Exhibit]:
        return exhibits(results)

    def finding(self, result: InvarianceResult) -> Finding | None:
        found = []
        shuffled = result.at("patch_shuffle", 4.0)
        if shuffled.high < HARDLY:
            text = (
                "hardly notices when an image is cut into 4 × 4 patches and these change places "
                f"(its features move {shuffled.value:.2f} of the way to another image)"
            )
            found.append(Finding(text, 0.8 * (1 - shuffled.value)))
        for (name, level), (text, weight) in _SEEN_AS_ANOTHER.items():
            movement = result.at(name, level)
            if movement.low >= ANOTHER:
                text = f"{text} (its features move {movement.value:.2f} of the way to one)"
                found.append(Finding(text, weight))
        return max(found, key=lambda finding: finding.weight, default=None)
