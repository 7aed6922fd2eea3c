"""Transplant: whether a decision follows the most salient patch of an image into others."""

from collections.abc import Mapping, Sequence

from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measurements.transplant.exhibits import transplant_exhibits
from unshortcut.measurements.transplant.plan import FEWEST, HOSTS
from unshortcut.measurements.transplant.regions import CENTER
from unshortcut.measurements.transplant.transplants import TransplantResult, transplant
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

NOTABLE, PLAIN = 0.25, 0.5
"""Follow rates of a class beyond any paste: worth a word, and as high as a tag's."""


class Transplant(Measurement[TransplantResult]):
    """The patch that an image is decided by, pasted into images of other classes."""

    name = "transplant"
    title = "Transplant"
    question = "Does a decision follow one small patch into other images?"
    definition = (
        "From images that are decided rightly, the most salient patch is cut out and pasted, at "
        f"its place, into up to {HOSTS} rightly decided images of other classes. It is followed "
        "where the decision is then the class of the patch. An object's part seldom wins; a "
        "watermark, a tag or a border nearly always does. The most salient patch is the one whose "
        "loss lowers the probability of the image's class most (occlusion, Zeiler and Fergus "
        "2014), among squares of a quarter of the side at half steps, a strip along each edge, and "
        "a thin frame, all of about a sixteenth of the area; what is lost is filled smoothly from "
        "around it. For comparison the same place is pasted from other images of the host's own "
        "class (what any paste does), and from other images of the patch's class: where these win "
        "as often, the cue is at the same place in all of the class. Intervals are over the "
        "images that gave a patch, 95 %: the bootstrap for means over classes, Wilson's for a "
        "class. A cue that none of the images shows cannot be found."
    )
    place = 30
    gives = (
        "transplant_follow",
        "transplant_worst_class",
        "transplant_lift",
        "transplant_control",
    )
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
                "Decisions that follow a patch of the strongest class",
                Estimate(worst.follows.patch, worst.low, worst.high),
                better="lower",
                note=f"'{worst.name}', {worst.donors} patches",
            ),
            "transplant_lift": Metric.of(
                "Decisions that follow a patch, beyond any paste",
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
        """The strongest class, where its patches do much; one lucky patch is not enough."""
        top = result.strongest(donors=FEWEST)
        if top is None or top.follows.lift < NOTABLE:
            return None
        text = (
            f"follows a pasted patch in {percent(result.follow.value)} of images "
            f"(class '{top.name}': {percent(top.follows.patch)}"
        )
        if top.at_place > top.donors / 2 and top.place != CENTER:
            text += f", mostly from one place: {top.place}"
        text += ")"
        if min(top.follows.lift, top.follows.mates) >= PLAIN:
            text += ", as a model does that reads a tag"
        elif top.follows.lift >= PLAIN:
            text += ", as a model does that goes by one small part"
        return Finding(text, top.follows.lift)
