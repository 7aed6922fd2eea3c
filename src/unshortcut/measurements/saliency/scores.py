"""Scores of a model's classes that have a gradient, which decisions without one are made of."""

from collections.abc import Callable

import torch
from torch import Tensor

from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.subjects.class_names import ClassOutputs
from unshortcut.measuring.subjects.classifier import Classifier
from unshortcut.models.loaded import Function, LoadedModel
from unshortcut.models.onnx import OnnxModel


def explained(classifier: Classifier) -> str:
    """What the scores are, for people."""
    whose = "the" if classifier.kind == "head" else "the readout's"
    return f"{whose} logit of the decided class"


def class_scores(model: LoadedModel, classifier: Classifier, selection: ClassOutputs) -> Function:
    """A function from normalized images (N, 3, S, S) to the scores (N, K) of the selected classes.

    They are logits. A class that stands for several outputs has the logarithm of their summed
    exponentials, which is the log-probability of any of them up to a constant.
    `NotApplicable` where there can be no gradient.
    """
    if model.module is None:
        what = "an ONNX file" if isinstance(model.features, OnnxModel) else "an object"
        raise NotApplicable(
            f"Grad-CAM needs the gradient of a PyTorch module; this model is {what}"
        )
    if classifier.kind == "knn":
        raise NotApplicable(
            "Grad-CAM needs a gradient, which the vote of nearest neighbors does not have; a "
            "linear readout does"
        )
    native = _head(model) if classifier.kind == "head" else _readout(model, classifier)

    def scores(images: Tensor) -> Tensor:
        outputs = native(images)
        if not outputs.requires_grad:
            raise NotApplicable("its outputs have no gradient, which Grad-CAM needs")
        joined = [outputs[:, list(places)].logsumexp(dim=1) for places in selection.members]
        return torch.stack(joined, dim=1)

    return scores


def _head(model: LoadedModel) -> Function:
    """Logits (N, C)."""
    assert model.logits is not None
    logits = _with_gradient(model.logits)
    return lambda images: logits(images).double()


def _readout(model: LoadedModel, classifier: Classifier) -> Function:
    """Logits (N, C) but for what they have in common, which a softmax does not show."""
    features = _with_gradient(model.features)

    def centered(images: Tensor) -> Tensor:
        probabilities = classifier.probabilities(features(images).flatten(1), None)
        known = probabilities.clamp_min(torch.finfo(torch.float64).tiny).log()
        return known - known.mean(dim=1, keepdim=True)

    return centered


def _with_gradient(function: Function) -> Function:
    """What `torch.no_grad` was wrapped around."""
    inner: Callable[[Tensor], Tensor] = getattr(function, "__wrapped__", function)
    return inner
