"""Accuracy on fine classes against coarse ones, such as breeds against dogs (NSN, figure 6 d)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure

if TYPE_CHECKING:
    from unshortcut.reproduction.evaluation import Evaluation

DOGS = range(151, 269)
"""Indices of the 118 breeds of dogs among the classes of ImageNet, from Chihuahua to Mexican
hairless; 269 is the timber wolf."""
_DOGS = "dogs_"


@dataclass(frozen=True)
class FineCoarseMeasure(Measure):
    """Accuracies of a linear probe, fitted on the training data, on the test images of a hierarchy.

    An image counts as correct in the fine sense if its own class is predicted, and in the coarse
    sense if any class with the same coarse class is, as in the audit.

    Metrics, in percent: `dogs_fine`, `dogs_coarse` and their difference `dogs_gap` on the images of
    dogs, if all classes of the data are ImageNet's and several are breeds of dogs; and `fine`,
    `coarse` and `gap` on the images of a hierarchy that the user names.
    """

    name: ClassVar[str] = "fine_coarse"
    uses: ClassVar[tuple[str, ...]] = ("tests", "hierarchy")

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        hierarchies = _hierarchies(evaluation)
        if not hierarchies:
            return {}
        return {
            "train": evaluation.train.fingerprint(),
            "test": evaluation.tests["test"].fingerprint(),
            "hierarchies": hierarchies,
        }

    def notes(self, evaluation: "Evaluation") -> tuple[str, ...]:
        from unshortcut.data.shapes import Shapes

        if _hierarchies(evaluation) or isinstance(evaluation.train, Shapes):
            return ()
        return (
            "Fine and coarse accuracy are not measured: the data do not have several of ImageNet's "
            "breeds of dogs, and no file of coarse classes is named with --hierarchy.",
        )

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        hierarchies = _hierarchies(evaluation)
        if not hierarchies:
            return {}
        from unshortcut.measurements.coarse import Coarse
        from unshortcut.progress import bar
        from unshortcut.reproduction.subjects import fitted_subject

        subject, metrics = fitted_subject(run, evaluation), dict[str, float]()
        for prefix, hierarchy in hierarchies.items():
            with bar(evaluation.console, "fine and coarse classes", unit="images") as on_progress:
                found = Coarse().measure(replace(subject, hierarchy=hierarchy), on_progress)
            fine, coarse, *_ = (100 * one.value for one in found.total.estimates())
            metrics |= {f"{prefix}fine": fine, f"{prefix}coarse": coarse}
            metrics[f"{prefix}gap"] = coarse - fine
        return metrics


def _hierarchies(evaluation: "Evaluation") -> dict[str, Mapping[str, str]]:
    """Coarse class by fine class, by the prefix of the metrics; checked before any training."""
    from unshortcut.reproduction.subjects import class_names

    found: dict[str, Mapping[str, str]] = {}
    dogs = _dogs(evaluation.train.classes or ())
    if 1 < len(dogs) < len(evaluation.train.classes or ()):
        found[_DOGS] = dogs
    if evaluation.hierarchy is not None:
        _check(evaluation.hierarchy, class_names(evaluation.train))
        found[""] = evaluation.hierarchy
    return found


def _dogs(classes: tuple[str, ...]) -> dict[str, str]:
    """The breeds of dogs among the classes of data; none unless all are classes of ImageNet.

    Among other classes there may be breeds that ImageNet does not have.
    """
    from unshortcut.measuring.subjects.class_names import imagenet_indices

    indices = dict(zip(classes, imagenet_indices(classes), strict=True))
    if None in indices.values():
        return {}
    return {name: "dog" for name, index in indices.items() if index in DOGS}


def _check(hierarchy: Mapping[str, str], classes: tuple[str, ...]) -> None:
    """Refuse a hierarchy that a probe of these classes could not be measured with."""
    from unshortcut.errors import UsageError
    from unshortcut.measurements.coarse import choices, without_coarse
    from unshortcut.measuring.errors import NotApplicable
    from unshortcut.measuring.subjects.classifier import Classifier

    planned = Classifier("linear", "", classes, lambda features, logits: features, "")
    try:
        without_coarse(*choices(planned, classes, hierarchy), classes, hierarchy)
    except NotApplicable as reason:
        raise UsageError(f"--hierarchy: {reason}") from None
