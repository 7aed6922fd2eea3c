"""A model in memory that can be asked for features and, if it classifies, for logits."""

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.models.card import Preprocessing
from unshortcut.parts import build

Function = Callable[[Tensor], Tensor]
Both = Callable[[Tensor], tuple[Tensor, Tensor]]

UNCROPPED = {"crop_share": 1.0}
"""Of models that say nothing of a crop: none is made, so that nothing at the edge is lost."""


@dataclass(frozen=True)
class LoadedModel:
    """A model that can be asked for features and, if it classifies, for logits."""

    name: str
    preprocessing: Preprocessing
    features: Function
    """Normalized images (N, 3, H, W) to (N, D), in eval mode, without gradients."""
    fingerprint: str | None
    """Changes with weights and architecture; keys the caches. None: nothing is cached."""
    logits: Function | None = None
    classes: tuple[str, ...] | None = None
    module: nn.Module | None = None
    """The PyTorch module, where there is one."""
    spaces: tuple[str, ...] | None = None
    """Names of the spaces that the features are of: as many equal parts, in this order."""
    both: Both | None = None
    """Features and logits in one pass, where that costs less than the two."""

    def outputs(self, images: Tensor) -> tuple[Tensor, Tensor | None]:
        """Features (N, D) and, if it classifies, logits (N, C) of normalized images."""
        if self.both is not None:
            return self.both(images)
        return self.features(images), self.logits and self.logits(images)

    @property
    def device(self) -> torch.device:
        """Where images must be."""
        first = next(self.module.parameters(), None) if self.module is not None else None
        return torch.device("cpu") if first is None else first.device


ModelLike = str | Path | LoadedModel
"""A model by its spec, as in `load_model`, or one that is loaded."""


def fingerprint(module: nn.Module) -> str:
    """A digest of architecture and weights."""
    digest = hashlib.sha256(repr(module).encode())
    state = module.state_dict()
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def from_module(
    name: str,
    module: nn.Module,
    preprocessing: Preprocessing,
    *,
    features: Function | None = None,
    logits: Function | None = None,
    classes: tuple[str, ...] | None = None,
    spaces: Sequence[str] | None = None,
    both: Both | None = None,
) -> LoadedModel:
    """A loaded model around a module that is in memory."""
    module.eval()
    return LoadedModel(
        name,
        preprocessing,
        torch.no_grad()(features or module),
        fingerprint(module),
        logits and torch.no_grad()(logits),
        classes,
        module,
        None if spaces is None else tuple(spaces),
        both and torch.no_grad()(both),
    )


def from_object(made: Any, spec: str, **stated: Any) -> LoadedModel:
    """A model that a user has made: a module, a function, or an object with `features(images)`.

    If it classifies, the object has `logits(images)` and `classes`; a module with `classes` and no
    `logits` gives logits. `stated` are parts of its preprocessing that it does not state itself.
    """
    preprocessing = _own_preprocessing(made, spec, stated)
    classes = getattr(made, "classes", None)
    classes = None if classes is None else tuple(map(str, classes))
    logits = getattr(made, "logits", None)
    features = getattr(made, "features", None)
    if isinstance(made, nn.Module):
        model = _from_own_module(made, spec, preprocessing, features, logits, classes)
        return replace(model, fingerprint=_with_code(made, model.fingerprint))
    if features is None and logits is None and callable(made):
        features = made
    features = features or logits
    if not callable(features):
        raise UsageError(
            f"'{spec}' is of the type {type(made).__name__}: neither an nn.Module nor a function, "
            "nor an object with features(images) or logits(images)"
        )
    # What such an object holds cannot be seen, so nothing of it is cached.
    return LoadedModel(spec, preprocessing, features, None, logits, classes)


def with_classes(model: LoadedModel, names: Sequence[str]) -> LoadedModel:
    """The model with these classes: of its logits, or of the output that it calls features."""
    classes = tuple(names)
    logits = model.logits or model.features
    shown = torch.zeros(1, 3, model.preprocessing.size, model.preprocessing.size)
    width = logits(shown.to(model.device)).shape[-1]
    if width != len(classes):
        raise UsageError(
            f"'{model.name}' has {width} outputs, and {len(classes)} classes are stated"
        )
    if model.logits is not None or model.module is None:
        return replace(model, logits=logits, classes=classes)
    pair = before_last_linear(model.module)
    # Its features are others now, and must not be taken for the old ones.
    digest = hashlib.sha256(f"{model.fingerprint} with classes".encode()).hexdigest()
    return replace(
        model,
        features=torch.no_grad()(lambda images: pair(images)[0]),
        fingerprint=digest,
        logits=logits,
        classes=classes,
        both=torch.no_grad()(pair),
    )


def before_last_linear(model: nn.Module) -> Both:
    """The input of a classifier's last linear layer, which serves as features, and its logits."""
    linear = [module for module in model.modules() if isinstance(module, nn.Linear)]

    def both(images: Tensor) -> tuple[Tensor, Tensor]:
        caught: list[Tensor] = []
        hook = linear[-1].register_forward_hook(lambda _, inputs, __: caught.append(inputs[0]))
        try:
            logits = model(images)
        finally:
            hook.remove()
        seen = caught[-1] if caught and len(caught[-1]) == len(images) else logits
        return seen.flatten(1), logits

    def output_twice(images: Tensor) -> tuple[Tensor, Tensor]:
        logits = model(images).flatten(1)
        return logits, logits

    return both if linear else output_twice  # SqueezeNet's last layer is a convolution


def _from_own_module(
    module: nn.Module,
    spec: str,
    preprocessing: Preprocessing,
    features: Any,
    logits: Function | None,
    classes: tuple[str, ...] | None,
) -> LoadedModel:
    if isinstance(features, nn.Module):
        features = None  # a part of it, as in torchvision's models
    both = None
    if classes is not None and logits is None:
        logits = module
        if features is None:
            both = before_last_linear(module)
            features = lambda images: both(images)[0]  # noqa: E731
    return from_module(
        spec, module, preprocessing, features=features, logits=logits, classes=classes, both=both
    )


def _with_code(module: nn.Module, digest: str | None) -> str:
    """A digest that also changes with plain attributes and the code of a user's own module."""
    changed = hashlib.sha256(str(digest).encode())
    for name, part in module.named_modules():
        plain = {
            key: value
            for key, value in vars(part).items()
            if isinstance(value, bool | int | float | str | tuple | list)
        }
        changed.update(f"{name} {type(part).__qualname__} {plain}".encode())
    with suppress(OSError, TypeError):  # typed into a console, say
        changed.update(inspect.getsource(type(module)).encode())
    return changed.hexdigest()


def _own_preprocessing(made: Any, spec: str, stated: Mapping[str, Any]) -> Preprocessing:
    """What a user's model says of its input, a mapping such as `{"size": 224}`; else as stated."""
    given = getattr(made, "preprocessing", None)
    if isinstance(given, Preprocessing):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f"'{spec}': preprocessing must be a mapping, not {given!r}")
    known = {**UNCROPPED, **stated, **(given or {})}
    return build(Preprocessing, known, f"'{spec}': preprocessing")
