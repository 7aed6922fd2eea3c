"""Shape bias on cue-conflict stimuli that the user names (NSN, figures 6 a and b)."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure

if TYPE_CHECKING:
    from unshortcut.measuring.cue_decisions import Cues
    from unshortcut.reproduction.evaluation import Evaluation


@dataclass(frozen=True)
class CueConflictMeasure(Measure):
    """Decisions of a linear probe on stimuli whose shape and texture conflict, as in the audit.

    The probe is fitted on the training data. A category of the stimuli has the mean probability of
    its classes, and categories of which the data have no class are left out: of the published 16,
    ImageNet-100 has 7.

    Metrics, in percent: `shape_bias`, its `conflict_coverage`, and the accuracies on both labels,
    `conflict_shape` and `conflict_texture`. Without stimuli there are none; for `shapes`,
    `LinearProbeMeasure` has them.
    """

    name: ClassVar[str] = "cue_conflict"
    uses: ClassVar[tuple[str, ...]] = ("conflict",)

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        if evaluation.conflict is None:
            return {}
        _usable(evaluation)
        stimuli = evaluation.conflict.source.fingerprint()
        return {"train": evaluation.train.fingerprint(), "stimuli": stimuli}

    def notes(self, evaluation: "Evaluation") -> tuple[str, ...]:
        from unshortcut.data.shapes import Shapes

        if isinstance(evaluation.train, Shapes):
            return ()
        if evaluation.conflict is None:
            return (
                "Shape bias, and accuracy on the labels of shape and texture, are not measured: "
                "name the folder of the cue-conflict stimuli with --conflict.",
            )
        cues, known = _usable(evaluation)
        total = len(evaluation.conflict.classes)
        return (
            f"Shape bias is measured on {int(cues.usable.sum())} of {len(cues.usable)} stimuli: "
            f"the data have classes of {len(known)} of the {total} categories "
            f"({', '.join(known)}). Random decisions would cover {200 / len(known):.0f} %.",
        )

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        if evaluation.conflict is None:
            return {}
        from unshortcut.measuring.cue_decisions import decide
        from unshortcut.progress import bar
        from unshortcut.reproduction.subjects import fitted_subject

        subject = fitted_subject(run, evaluation)
        with bar(evaluation.console, "stimuli", unit="images") as on_progress:
            found = decide(subject, evaluation.conflict, on_progress)
        shares = {
            "shape_bias": found.bias,
            "conflict_coverage": found.coverage,
            "conflict_shape": found.shape_accuracy,
            "conflict_texture": found.texture_accuracy,
        }
        return {name: 100 * share.value for name, share in shares.items()}


def _usable(evaluation: "Evaluation") -> tuple["Cues", tuple[str, ...]]:
    """The cues of the stimuli, and the categories that the training data have classes of."""
    from unshortcut.errors import UsageError
    from unshortcut.measuring.cue_decisions import Cues
    from unshortcut.measuring.errors import NotApplicable
    from unshortcut.measuring.subjects.class_names import outputs_for
    from unshortcut.reproduction.subjects import class_names

    assert evaluation.conflict is not None
    native = class_names(evaluation.train)
    try:
        known = outputs_for(evaluation.conflict.classes, native, None, "mean").names
    except NotApplicable:
        known = ()
    cues = Cues(evaluation.conflict, known)
    if not cues.usable.any():
        raise UsageError(
            "--conflict: no stimulus has two different cues that are classes of the training data"
        )
    return cues, known
