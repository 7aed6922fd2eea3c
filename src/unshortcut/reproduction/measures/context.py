"""What an encoder knows of objects and their scenes without any training."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.scenes import drawn_like, scenes_to_test

if TYPE_CHECKING:
    from unshortcut.data.source import ImageSource
    from unshortcut.measurements.measurement import Measurement
    from unshortcut.reproduction.evaluation import Evaluation

ODD = "odd"
"""Name of the test set whose images have objects out of context."""


@dataclass(frozen=True)
class SceneNormMeasure(Measure):
    """Whether norms grow with the number of objects, and with several labels.

    Metrics, in percent: `norm_correlation`, the rank correlation of the norm with the number of
    objects, and `several_labels`, the AUROC minus 50. The norm is that of a run's vector in the
    Poincaré ball, and that of the features for a run of another method. The test set is that of
    `scenes_to_test`.
    """

    name: ClassVar[str] = "scene_norm"
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        from unshortcut.measurements.scene_norm import SceneNorm

        test = scenes_to_test(evaluation)
        return {"version of the audit": SceneNorm.version, "test": test.fingerprint()}

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        from torch import nn

        from unshortcut.measurements.scene_norm import SceneNorm
        from unshortcut.models.ball_head import BallHead

        found = _measured(
            SceneNorm(), run, scenes_to_test(evaluation), evaluation, BallHead(nn.Identity(), 1.0)
        )
        metrics = {}
        if "scene_norm_correlation" in found:
            metrics["norm_correlation"] = 100 * found["scene_norm_correlation"]
        if "several_labels_auroc" in found:
            metrics["several_labels"] = 100 * (found["several_labels_auroc"] - 0.5)
        return metrics


@dataclass(frozen=True)
class OutOfContextMeasure(Measure):
    """How well the distance of an object to its scene finds objects out of context.

    Metrics, in percent: `odd_objects`, the AUROC minus 50, by hyperbolic distance for a run of
    hyperbolic learning and by the cosine of the features for others; `odd_by_cosine`, the same by
    cosine for all; `odd_gain`, the first minus the second. For `shapes`, the test set is
    `context-odd`; other data come as a test set that is called `odd`.
    """

    name: ClassVar[str] = "out_of_context"
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        from unshortcut.measurements.out_of_context import OutOfContext

        test = odd_scenes(evaluation)
        if test is None:
            return {}
        return {"version of the audit": OutOfContext.version, "test": test.fingerprint()}

    def notes(self, evaluation: "Evaluation") -> tuple[str, ...]:
        if odd_scenes(evaluation) is not None:
            return ()
        return (
            "Objects out of context are not measured: name images that have some with "
            f"--test {ODD}=DATA, such as {ODD}=sun09:FOLDER@out_of_context.",
        )

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        from unshortcut.measurements.out_of_context import OutOfContext

        test = odd_scenes(evaluation)
        if test is None:
            return {}
        found = _measured(OutOfContext(), run, test, evaluation)
        cosine = found["out_of_context_cosine_auroc"]
        own = found.get("out_of_context_auroc", cosine)
        return {
            "odd_objects": 100 * (own - 0.5),
            "odd_by_cosine": 100 * (cosine - 0.5),
            "odd_gain": 100 * (own - cosine),
        }


def odd_scenes(evaluation: "Evaluation") -> "ImageSource | None":
    """Scenes with an object that is out of context; None if there are none."""
    from unshortcut.data.open import open_data
    from unshortcut.data.shapes import Shapes

    if ODD in evaluation.more_tests:
        return open_data(evaluation.more_tests[ODD])
    train = evaluation.train
    return drawn_like(train, "context-odd") if isinstance(train, Shapes) else None


def _measured(
    measurement: "Measurement",
    run: Path,
    test: "ImageSource",
    evaluation: "Evaluation",
    otherwise: Any = None,
) -> dict[str, float]:
    """The metrics of a measurement of the audit, on all images.

    otherwise: the head of a run that has none for the ball.
    """
    from unshortcut.measuring.settings import Settings
    from unshortcut.measuring.subjects.subject import Subject
    from unshortcut.models.load import load_model
    from unshortcut.progress import bar
    from unshortcut.training.ball import with_ball

    model = with_ball(load_model(run), run)
    model = replace(model, ball=model.ball or otherwise)
    subject = Subject(model.name, model, test, None, Settings(profile="full"))
    with bar(evaluation.console, measurement.title.lower(), unit="images") as on_progress:
        result = measurement.measure(subject, on_progress)
    return {name: one.value for name, one in measurement.metrics(result, None).items()}
