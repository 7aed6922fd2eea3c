"""Grad-CAM (Selvaraju et al. 2017) for the decisions of PyTorch models, by `grad-cam`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unshortcut.measurements.saliency.layers import Layers, as_maps
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.subjects.class_names import ClassOutputs
from unshortcut.measuring.subjects.classifier import Classifier
from unshortcut.models.loaded import Function, LoadedModel
from unshortcut.models.onnx import OnnxModel

_SCALE = 1e4
"""Factor of the scores. The package adds 1e-7 to the maximum of a map before it divides by it,
which would suppress the small values of a map whose decision is confident."""


def require_library() -> None:
    """Raise `NotApplicable` if the package `grad-cam` is not installed."""
    try:
        import pytorch_grad_cam  # noqa: F401
    except ImportError:
        raise NotApplicable(
            "Grad-CAM needs the package grad-cam, which is missing: pip install grad-cam"
        ) from None


def grad_cam(
    module: nn.Module,
    scores: Function,
    layers: Layers,
    images: Tensor,
    classes: Sequence[int],
) -> NDArray[np.float32]:
    """Maps (N, S, S) from 0 to 1 of the evidence for classes (N,) in images (N, 3, S, S).

    The maximum is 1, or 0 if the map is empty because nothing in the image supports the class.

    Args:
        scores: maps normalized images to scores (N, K), through `module`.
    """
    from pytorch_grad_cam import GradCAM
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    with _frozen(module), torch.enable_grad():
        cam = GradCAM(_Scored(module, scores), list(layers.modules), reshape_transform=as_maps)
        try:
            made = cam(input_tensor=images, targets=[ClassifierOutputTarget(c) for c in classes])
        finally:
            # The context manager of the package would do this too, but swallow an IndexError.
            cam.activations_and_grads.release()
    maps: NDArray[np.float32] = np.nan_to_num(np.asarray(made, dtype=np.float32))
    return maps


def explained(classifier: Classifier) -> str:
    """A description of the scores."""
    return (
        f"logit of the predicted class{'' if classifier.kind == 'head' else ' in the linear probe'}"
    )


def class_scores(model: LoadedModel, classifier: Classifier, outputs: ClassOutputs) -> Function:
    """A differentiable function from normalized images (N, 3, S, S) to logits (N, K) of classes.

    The logit of a class that combines several outputs is the log-sum-exp of theirs, which is the
    log-probability of any of them up to a constant. Raises `NotApplicable` if there can be no
    gradient.
    """
    if model.module is None:
        what = "an ONNX file" if isinstance(model.features, OnnxModel) else "an object"
        raise NotApplicable(
            f"Grad-CAM needs the gradient of a PyTorch module; this model is {what}"
        )
    if classifier.kind == "knn":
        raise NotApplicable(
            "Grad-CAM needs a gradient, which a vote of nearest neighbors does not have; use a "
            "linear probe"
        )
    native = _head(model) if classifier.kind == "head" else _probe(model, classifier)

    def scores(images: Tensor) -> Tensor:
        logits = native(images)
        if not logits.requires_grad:
            raise NotApplicable("its outputs have no gradient, which Grad-CAM needs")
        joined = [logits[:, list(members)].logsumexp(dim=1) for members in outputs.members]
        return torch.stack(joined, dim=1)

    return scores


class _Scored(nn.Module):
    """The scores as a module that computes gradients even if all weights are frozen."""

    def __init__(self, module: nn.Module, scores: Function) -> None:
        super().__init__()
        self.module = module
        self.scores = scores
        device = next((one.device for one in module.parameters()), torch.device("cpu"))
        # The package reads the device of the first parameter, and a module may have none.
        self.anchor = nn.Parameter(torch.empty(0, device=device))

    def forward(self, images: Tensor) -> Tensor:
        return _SCALE * self.scores(images.detach().requires_grad_())


@contextmanager
def _frozen(module: nn.Module) -> Iterator[None]:
    """Without gradients of the weights, which are not needed and would be kept."""
    trainable = [one for one in module.parameters() if one.requires_grad]
    for one in trainable:
        one.requires_grad_(False)
    try:
        yield
    finally:
        for one in trainable:
            one.requires_grad_(True)


def _head(model: LoadedModel) -> Function:
    """The logits (N, C) of the head."""
    assert model.logits is not None
    logits = _with_gradient(model.logits)
    return lambda images: logits(images).double()


def _probe(model: LoadedModel, classifier: Classifier) -> Function:
    """The logits (N, C) of a linear probe, up to a constant that a softmax removes."""
    features = _with_gradient(model.features)

    def centered(images: Tensor) -> Tensor:
        probabilities = classifier.probabilities(features(images).flatten(1), None)
        known = probabilities.clamp_min(torch.finfo(torch.float64).tiny).log()
        return known - known.mean(dim=1, keepdim=True)

    return centered


def _with_gradient(function: Function) -> Function:
    """The function inside a wrapper of `torch.no_grad`."""
    inner: Callable[[Tensor], Tensor] = getattr(function, "__wrapped__", function)
    return inner
