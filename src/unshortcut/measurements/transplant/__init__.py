"""Transplant: whether pasting the most salient patch of an image changes decisions on others."""

from collections.abc import Mapping, Sequence

from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measurements.transplant.exhibits import transplant_exhibits
from unshortcut.measurements.transplant.plan import FEWEST, HOSTS
from unshortcut.measurements.transplant.regions import CENTER
from unshortcut.measurements.transplant.transplants import TransplantResult, transplant
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

NOTABLE, CLEAR = 0.25, 0.5
"""Lifts of a class that the verdict mentions, and that are a clear sign of a shortcut."""


class Transplant(Measurement[TransplantResult]):
    """The patch that decides an image, pasted into images of other classes."""

    name = "transplant"
    title = "Transplant"
    question = "Does pasting one small patch of an image change the decision on other images?"
    definition = (
        "From images that are classified correctly, the most salient patch is cut out and pasted, "
        f"at the same position, into up to {HOSTS} correctly classified images of other classes. A "
        "decision follows the patch if it changes to the class of the patch. Parts of objects "
        "rarely have this effect; a watermark, a tag or a border nearly always does. The most "
        "salient patch is the one whose removal reduces the probability of the image's class most "
        "(occlusion, Zeiler and Fergus 2014), among squares of a quarter of the side in steps of "
        "half a square, a strip along each edge, and a thin frame, each with about a sixteenth of "
        "the area; the removed region is filled smoothly from its surroundings. For comparison, "
        "the same region is pasted from other images of the host's own class (the effect of any "
        "paste) and from other images of the patch's class: if these have the same effect, the cue "
        "is at the same position in the whole class. Intervals are 95 %, over the images that "
        "provide patches: a bootstrap for means over classes, Wilson's for a class. A cue that "
        "none of the images contains cannot be found."
    )
    order = 30
    gives = ("transplant_follow", "transplant_worst_class", "transplant_lift", "transplant_control")
    result = TransplantResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> TransplantResult:
        return transplant(subject, on_progress)

    def metrics(
        self, result: TransplantResult, baseline: TransplantResult | None
    ) -> dict[str, Metric]:
        worst = result.strongest()
        assert worst is not None  # there are at least two classes
        note = f"{len(result.patches)} patches, mean over {len(result.classes)} classes"
        return {
            "transplant_follow": Metric.of(
                "Decisions that follow a pasted patch", result.follow, better="lower", note=note
            ),
            "transplant_worst_class": Metric.of(
                "Decisions that follow a patch, strongest class",
                Estimate(worst.follows.patch, worst.low, worst.high),
                better="lower",
                note=f"'{worst.name}', {worst.donors} patches",
            ),
            "transplant_lift": Metric.of(
                "Decisions that follow a patch, minus the effect of any paste",
                result.lift,
                better="lower",
                headline=False,
                note=note,
            ),
            "transplant_control": Metric.of(
                "Decisions for the patch's class after any paste",
                result.control,
                headline=False,
                note=note,
            ),
        }

    def exhibits(
        self, results: Mapping[str, TransplantResult], baseline: TransplantResult | None
    ) -> Sequence[Exhibit]:
        return transplant_exhibits(results)

    def finding(self, result: TransplantResult) -> Finding | None:
        """The class with the largest lift, if it is large and based on several patches."""
        top = result.strongest(donors=FEWEST)
        if top is None or top.follows.lift < NOTABLE:
            return None
        text = (
            f"changes its decision to the class of a pasted patch in "
            f"{percent(result.follow.value)} of images (class '{top.name}': "
            f"{percent(top.follows.patch)}"
        )
        if top.at_position > top.donors / 2 and top.position != CENTER:
            text += f", mostly from one position: {top.position}"
        text += ")"
        if min(top.follows.lift, top.follows.mates) >= CLEAR:
            text += ", a sign that it relies on a tag or watermark"
        elif top.follows.lift >= CLEAR:
            text += ", a sign that it relies on one small region"
        return Finding(text, top.follows.lift)
