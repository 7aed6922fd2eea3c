"""One batch of images through a model: normalized, in inference mode, and checked."""

from collections.abc import Callable
from typing import Protocol, TypeVar

import torch
from torch import Tensor

from unshortcut.errors import RunError
from unshortcut.inference.preprocessing import Preprocessing, normalize
from unshortcut.memory import keep_freed_memory

T = TypeVar("T")


class FeatureModel(Protocol):
    """What inference needs to know of a model; `LoadedModel` is one."""

    @property
    def name(self) -> str: ...
    @property
    def preprocessing(self) -> Preprocessing: ...
    @property
    def fingerprint(self) -> str | None: ...
    @property
    def device(self) -> torch.device: ...
    @property
    def features(self) -> Callable[[Tensor], Tensor]: ...


def run_model(model: FeatureModel, images: Tensor, function: Callable[[Tensor], T]) -> T:
    """Apply a function of a model to images (N, 3, H, W): uint8, or floats that are normalized."""
    if model.device.type == "cpu":
        keep_freed_memory()
    batch = images.to(model.device)
    with torch.inference_mode():
        if batch.is_floating_point():
            return function(batch)
        return function(normalize(batch, model.preprocessing))


def run_features(model: FeatureModel, images: Tensor) -> Tensor:
    """Features (N, D) of images (N, 3, H, W), on the CPU."""
    features = run_model(model, images, model.features)
    return checked(features, len(images), model.name, "features").flatten(1).cpu()


def checked(values: Tensor, count: int, name: str, what: str) -> Tensor:
    """The output of a model, or a `RunError` that says what is wrong with it."""
    if not isinstance(values, Tensor):
        raise RunError(f"the {what} of '{name}' are a {type(values).__name__}, not a tensor")
    wanted = f"({count}, C)" if what == "logits" else f"({count}, D)"
    if values.ndim < 2 or len(values) != count or (what == "logits" and values.ndim != 2):
        raise RunError(
            f"the {what} of '{name}' have the shape {tuple(values.shape)} for {count} images, "
            f"but must have {wanted}"
        )
    if not torch.isfinite(values).all():
        raise RunError(f"the {what} of '{name}' are not finite: they contain NaN or infinity")
    return values
