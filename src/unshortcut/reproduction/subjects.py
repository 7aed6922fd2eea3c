"""A trained run as the audit sees a model: with a linear probe that was fitted on its features."""

from pathlib import Path

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.classifier import fit_classifier
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.load import load_model
from unshortcut.probes.prepare import features_of
from unshortcut.reproduction.evaluation import Evaluation


def fitted_subject(run: Path, evaluation: Evaluation) -> Subject:
    """A run with a linear probe on all training data, to be measured on all test images.

    Computing the features of the training data is slow, so the subject of the last run is kept.
    """
    if run not in evaluation.fitted:
        evaluation.fitted.clear()
        model, train = load_model(run), evaluation.train
        features = features_of(model, train, "train", evaluation.console, None)
        probe = fit_classifier("linear", features, train, "the training data", None, "mean")
        tested, settings = evaluation.tests["test"], Settings("full")
        evaluation.fitted[run] = Subject(model.name, model, tested, probe, settings)
    return evaluation.fitted[run]


def class_names(source: ImageSource) -> tuple[str, ...]:
    """The classes of labeled data; `UsageError` if they have none."""
    if source.labels is None or source.classes is None:
        raise UsageError("the data have no labels; name labeled data with --probe-data")
    return source.classes
