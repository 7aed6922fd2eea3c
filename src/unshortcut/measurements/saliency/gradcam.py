"""Grad-CAM (Selvaraju et al. 2017) of any PyTorch model's decisions, by the library `grad-cam`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unshortcut.measurements.saliency.layers import Layers, as_maps
from unshortcut.measuring.errors import NotApplicable
from unshortcut.models.loaded import Function

_SCALE = 1e4
"""Of the scores. The library adds 1e-7 to the maximum of a map before it divides by it, and a map
that is faint, as where a decision is sure, would fade away."""


def require_library() -> None:
    """`NotApplicable` where `grad-cam`, which is optional, is not installed."""
    try:
        import pytorch_grad_cam  # noqa: F401
    except ImportError:
        raise NotApplicable(
            "Grad-CAM needs the package grad-cam: pip install 'unshortcut[saliency]'"
        ) from None


def grad_cam(
    module: nn.Module,
    scores: Function,
    layers: Layers,
    images: Tensor,
    classes: Sequence[int],
) -> NDArray[np.float32]:
    """Maps (N, S, S) from 0 to 1 of where normalized images (N, 3, S, S) speak for classes (N,).

    The maximum is 1, or 0 of an empty map: one without any place that speaks for the class.

    Args:
        scores: images to scores (N, K), through `module`.
    """
    from pytorch_grad_cam import GradCAM
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    with _frozen(module), torch.enable_grad():
        cam = GradCAM(_Scored(module, scores), list(layers.modules), reshape_transform=as_maps)
        try:
            made = cam(input_tensor=images, targets=[ClassifierOutputTarget(c) for c in classes])
        finally:
            # Leaving the library's context would do it too, and swallow an IndexError.
            cam.activations_and_grads.release()
    maps: NDArray[np.float32] = np.nan_to_num(np.asarray(made, dtype=np.float32))
    return maps


class _Scored(nn.Module):
    """The scores as a module, for images that ask for a gradient: the weights may be frozen."""

    def __init__(self, module: nn.Module, scores: Function) -> None:
        super().__init__()
        self.module = module
        self.scores = scores
        device = next((one.device for one in module.parameters()), torch.device("cpu"))
        # The library asks the first parameter for its device, and a module may have none.
        self.anchor = nn.Parameter(torch.empty(0, device=device))

    def forward(self, images: Tensor) -> Tensor:
        return _SCALE * self.scores(images.detach().requires_grad_())


@contextmanager
def _frozen(module: nn.Module) -> Iterator[None]:
    """Without gradients of the weights, which nobody asks for and which would stay behind."""
    asked = [one for one in module.parameters() if one.requires_grad]
    for one in asked:
        one.requires_grad_(False)
    try:
        yield
    finally:
        for one in asked:
            one.requires_grad_(True)
