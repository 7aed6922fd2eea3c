"""Grad-CAM (Selvaraju et al. 2017) for the decisions of PyTorch models, by `grad-cam`.

The layers that it uses are the last ones whose outputs are maps of the image.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.subjects.class_names import ClassOutputs
from unshortcut.measuring.subjects.classifier import Classifier
from unshortcut.models.branches import Branched
from unshortcut.models.color_split import ColorSplit
from unshortcut.models.loaded import Function, LoadedModel
from unshortcut.models.onnx import OnnxModel

SMALLEST = 4
"""Side of the smallest map that is used. Later layers know more about the class, but less about
positions: a ResNet has 7 × 7 positions at 224 pixels and 2 × 2 at 64, where the layer before with
4 × 4 is used."""
_SCALE = 1e4
"""Factor of the scores. The package adds 1e-7 to the maximum of a map before it divides by it,
which would suppress the small values of a map whose decision is confident."""

# Their outputs can have the shape of a map without being one (attention), or are just passed on.
_NO_MAPS = (nn.Dropout, nn.Softmax, nn.Identity, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d)


@dataclass(frozen=True)
class Layers:
    """One layer, or one per parallel branch of a model."""

    modules: tuple[nn.Module, ...]
    names: tuple[str, ...]
    side: int
    """Side of the maps of the first layer."""


def require_library() -> None:
    """Raise `NotApplicable` if the package `grad-cam` is not installed."""
    try:
        import pytorch_grad_cam  # noqa: F401
    except ImportError:
        raise NotApplicable(
            "Grad-CAM needs the package grad-cam, which is missing: pip install grad-cam"
        ) from None


def grad_cam(
    module: nn.Module, scores: Function, layers: Layers, images: Tensor, classes: Sequence[int]
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
    head = None if model.logits is None else _with_gradient(model.logits)
    features = _with_gradient(model.features)

    def scores(images: Tensor) -> Tensor:
        if classifier.kind == "head":
            assert head is not None
            logits = head(images).double()
        else:  # up to a constant that a softmax removes
            probabilities = classifier.probabilities(features(images).flatten(1), None)
            known = probabilities.clamp_min(torch.finfo(torch.float64).tiny).log()
            logits = known - known.mean(dim=1, keepdim=True)
        if not logits.requires_grad:
            raise NotApplicable("its outputs have no gradient, which Grad-CAM needs")
        joined = [logits[:, list(members)].logsumexp(dim=1) for members in outputs.members]
        return torch.stack(joined, dim=1)

    return scores


def as_maps(outputs: Tensor) -> Tensor:
    """The outputs of a layer as maps (N, C, h, h); they may be channels-last or tokens.

    Tokens (N, T, C) form the largest possible square grid, after other tokens (class, registers).
    Returns a copy, because the next layer may write into the outputs.
    """
    if outputs.ndim == 3:
        side = math.isqrt(outputs.shape[1])
        grid = outputs[:, outputs.shape[1] - side * side :]
        return grid.transpose(1, 2).unflatten(2, (side, side)).clone()
    channels_last = outputs.shape[1] == outputs.shape[2] != outputs.shape[3]
    return (outputs.permute(0, 3, 1, 2) if channels_last else outputs).clone()


def find_layers(module: nn.Module, scores: Function, images: Tensor) -> Layers:
    """The deepest layers with maps of at least 4 × 4 positions that the scores depend on.

    For transformers it is the last layer norm with a gradient at these positions: with a class
    token that is the first norm of the last block, because later outputs at other positions are
    not used.

    Args:
        images: a few normalized images (N, 3, S, S).
    """
    sides = _sides(module, scores, images)
    chosen = [_last(part, sides) for part in _parts(module)]
    if None in chosen:
        chosen = [_last(module, sides)]
    found = [one for one in chosen if one is not None]
    if not found:
        raise NotApplicable(
            f"the model has no layer with maps of at least {SMALLEST} × {SMALLEST} positions that "
            "its decisions depend on"
        )
    names = {one: name for name, one in module.named_modules()}
    return Layers(tuple(found), tuple(names[one] for one in found), sides[found[0]])


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


def _with_gradient(function: Function) -> Function:
    """The function inside a wrapper of `torch.no_grad`."""
    inner: Callable[[Tensor], Tensor] = getattr(function, "__wrapped__", function)
    return inner


def _sides(module: nn.Module, scores: Function, images: Tensor) -> dict[nn.Module, int]:
    """Sides of the maps of modules that run once and have a gradient, in the order they finish."""
    seen: list[tuple[nn.Module, Tensor]] = []
    times: Counter[nn.Module] = Counter()

    def keep(one: nn.Module, _: object, output: object) -> None:
        times[one] += 1
        if isinstance(output, Tensor) and output.requires_grad and _is_map(one, output, images):
            seen.append((one, output))

    hooks = [one.register_forward_hook(keep) for one in module.modules()]
    try:
        with torch.enable_grad():
            decided = scores(images.detach().requires_grad_()).amax(dim=1).sum()
    finally:
        for hook in hooks:
            hook.remove()
    once = [(one, output) for one, output in seen if times[one] == 1]
    if not once:
        return {}
    gradients = torch.autograd.grad(decided, [output for _, output in once], allow_unused=True)
    return {
        one: as_maps(gradient).shape[-1]
        for (one, _), gradient in zip(once, gradients, strict=True)
        if gradient is not None and as_maps(gradient).any()
    }


def _is_map(one: nn.Module, output: Tensor, images: Tensor) -> bool:
    if len(output) != len(images) or isinstance(one, _NO_MAPS):
        return False
    if output.ndim == 3:
        return isinstance(one, nn.LayerNorm) and math.isqrt(output.shape[1]) >= SMALLEST
    square = output.ndim == 4 and output.shape[2] in (output.shape[1], output.shape[3])
    return square and as_maps(output).shape[-1] >= SMALLEST


def _last(part: nn.Module, sides: Mapping[nn.Module, int]) -> nn.Module | None:
    """The module of a branch that finishes last."""
    inside = set(part.modules())
    return next((one for one in reversed(list(sides)) if one in inside), None)


def _parts(module: nn.Module) -> list[nn.Module]:
    """The parallel branches of our own encoders; other models as a whole."""
    for one in module.modules():
        if isinstance(one, Branched):
            return list(one.branches)
        if isinstance(one, ColorSplit):
            return [one.lightness, one.color]
    return [module]
