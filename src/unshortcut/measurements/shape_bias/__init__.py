"""Shape bias: whether a model decides by shape or by texture when the two cues conflict."""

from collections.abc import Mapping, Sequence

from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measurements.shape_bias.cue_decisions import ShapeBiasResult, decide
from unshortcut.measurements.shape_bias.exhibits import shape_bias_exhibits
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.subjects.class_names import CATEGORIES
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress


class ShapeBias(Measurement[ShapeBiasResult]):
    """Decisions on cue-conflict stimuli (Geirhos et al. 2019; Ge et al. 2021, figure 6 a, b)."""

    name = "shape_bias"
    title = "Shape bias"
    question = "If an image has the shape of one class and the texture of another, which one wins?"
    definition = (
        "Shape bias is the number of decisions for the class of the shape, divided by the number "
        "of decisions for the class of the shape or of the texture (Geirhos et al. 2019). Coverage "
        "is the share of all conflicts whose decision is one of the two; with low coverage the "
        "bias means little. Stimuli are shown uncropped, and the model decides among their "
        f"classes. For an ImageNet classifier these are the {len(CATEGORIES)} categories of "
        "Geirhos et al., whose probability is the mean (or, as an option, the sum) of the "
        "probabilities of their classes. Stimuli whose cues agree, or with a cue that the model "
        "does not know, are left out. Intervals are 95 %: a bootstrap over stimuli for the overall "
        "bias, Wilson's otherwise."
    )
    order = 10
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
            raise NotApplicable("there are no cue-conflict stimuli")
        return decide(subject, subject.conflict, on_progress)

    def metrics(
        self, result: ShapeBiasResult, baseline: ShapeBiasResult | None
    ) -> dict[str, Metric]:
        counts = f"{result.shape} decisions for shape and {result.texture} for texture"
        note = f"{counts} in {result.conflicts} conflicts"
        if result.grouped:
            note += f"; by the {result.aggregate} over the classes of a category"
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
        return shape_bias_exhibits(results)

    def finding(self, result: ShapeBiasResult) -> Finding:
        if not result.meaningful:
            return Finding(f"{result.low_coverage}, too few to measure its shape bias", 0.1)
        texture = 1 - result.bias.value
        cue, share = ("texture", texture) if texture > 0.5 else ("shape", result.bias.value)
        named = f"of the {result.shape + result.texture} conflicts in which it names either cue"
        return Finding(f"decides by {cue} in {percent(share)} {named}", texture)
