"""Shape bias: what a model decides by where the shape of one class has the texture of another."""

from collections.abc import Mapping, Sequence

from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measurements.shape_bias.cue_decisions import ShapeBiasResult, decide
from unshortcut.measurements.shape_bias.exhibits import exhibits
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.subjects.class_names import CATEGORIES
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress


class ConflictingCues(Measurement[ShapeBiasResult]):
    """Decisions on conflict stimuli (Geirhos et al. 2019; papers/001, figure 6 a and b)."""

    name = "shape_bias"
    title = "Shape bias"
    question = "Where the shape of one class has the texture of another, which of the two decides?"
    definition = (
        "Shape bias is the number of decisions for the class of the shape, divided by the number "
        "of decisions for the class of the shape or of the texture (Geirhos et al. 2019). Coverage "
        "is the share of all conflicts whose decision names either; a bias with little coverage "
        "says little. Stimuli are seen whole, and the likeliest of their classes is the decision. "
        f"For an ImageNet classifier these are the {len(CATEGORIES)} categories of Geirhos et al.; "
        "a category's probability is the mean of those of its classes, or the sum where so set. "
        "Stimuli whose cues agree, or with a cue that the model cannot name, are left out. "
        "Intervals are of 95 %: a bootstrap over stimuli for the overall bias, Wilson's elsewhere."
    )
    place = 10
    needs = ("conflict",)
    gives = (
        "shape_bias",
        "shape_bias_coverage",
        "conflict_shape_accuracy",
        "conflict_texture_accuracy",
    )
    result = ShapeBiasResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> ShapeBiasResult:
        if subject.conflict is None:
            raise NotApplicable("there are no stimuli with conflicting cues")
        return decide(subject, subject.conflict, on_progress)

    def metrics(
        self, result: ShapeBiasResult, baseline: ShapeBiasResult | None
    ) -> dict[str, Metric]:
        counts = f"{result.shape} decisions for shape and {result.texture} for texture"
        note = f"{counts} in {result.conflicts} conflicts"
        if result.grouped:
            note += f"; by the {result.aggregate} of a category's classes"
        return {
            "shape_bias": Metric.of("Shape bias", result.bias, better="higher", note=note),
            "shape_bias_coverage": Metric.of(
                "Coverage of the shape bias", result.coverage, better="higher"
            ),
            "conflict_shape_accuracy": Metric.of(
                "Accuracy on the shape's label",
                result.shape_accuracy,
                better="higher",
                headline=False,
            ),
            "conflict_texture_accuracy": Metric.of(
                "Accuracy on the texture's label",
                result.texture_accuracy,
                better="lower",
                headline=False,
            ),
        }

    def exhibits(
        self, results: Mapping[str, ShapeBiasResult], baseline: ShapeBiasResult | None
    ) -> Sequence[Exhibit]:
        return exhibits(results)

    def finding(self, result: ShapeBiasResult) -> Finding:
        named = result.shape + result.texture
        if not result.telling:
            guessed = result.guessing * result.conflicts
            text = f"names either cue in only {named} of {result.conflicts} conflicts"
            return Finding(f"{text} (guessing gives {guessed:.0f}) and so shows no shape bias", 0.1)
        texture = 1 - result.bias.value
        cue, share = ("texture", texture) if texture > 0.5 else ("shape", result.bias.value)
        text = f"decides by {cue} in {percent(share)} of conflicts"
        return Finding(f"{text} (it names either cue in {named} of {result.conflicts})", texture)
