"""Modules, functions and objects of any kind wrapped as a `LoadedModel`."""

import hashlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.classifier import EncoderWithClassifier
from unshortcut.models.loaded import Both, Function, LoadedModel
from unshortcut.models.prompts import zero_shot
from unshortcut.parts import build

UNCROPPED = {"crop_share": 1.0}
"""For models that do not state a crop: none is made, so that nothing at the edge is lost."""


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
    maps: Function | None = None,
) -> LoadedModel:
    """Wrap a PyTorch module and put it into eval mode; by default its output is the features."""
    module.eval()
    if features is None and both is not None:
        features = lambda images: both(images)[0]  # noqa: E731
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
        maps and torch.no_grad()(maps),
        features or module,
    )


def from_encoder(
    name: str,
    encoder: nn.Module,
    classifier: nn.Linear | None,
    preprocessing: Preprocessing,
    *,
    classes: Sequence[str] | None = None,
    spaces: Sequence[str] | None = None,
    maps: Function | None = None,
) -> LoadedModel:
    """Wrap an encoder and, if there is one, the classifier on its features."""
    if classifier is None:
        return from_module(name, encoder, preprocessing, spaces=spaces, maps=maps)
    both = EncoderWithClassifier(encoder, classifier)
    return from_module(
        name,
        both,
        preprocessing,
        features=encoder,
        logits=both.logits,
        classes=None if classes is None else tuple(classes),
        spaces=spaces,
        both=both,
        maps=maps,
    )


def from_object(model: Any, spec: str, **stated: Any) -> LoadedModel:
    """Wrap a user's model: a module, a function, or an object with `features(images)`.

    If it classifies, the object has `logits(images)` and `classes`; a module with `classes` and no
    `logits` returns logits. `stated` are fields of `Preprocessing` in the place of its own.
    """
    preprocessing = _own_preprocessing(model, spec, stated)
    classes = getattr(model, "classes", None)
    classes = None if classes is None else tuple(map(str, classes))
    names = ("features", "logits", "feature_maps")
    features, logits, maps = (getattr(model, name, None) for name in names)
    if not isinstance(model, nn.Module):
        features = features or logits or model
        if not callable(features):
            raise UsageError(
                f"'{spec}' is of the type {type(model).__name__}: neither an nn.Module nor a "
                "function, nor an object with features(images) or logits(images)"
            )
        # There is no general way to see what such an object depends on, so nothing is cached.
        return LoadedModel(spec, preprocessing, features, None, logits, classes, maps=maps)
    if isinstance(features, nn.Module):
        features = None  # a submodule, as in torchvision's models
    given: dict[str, Any] = {"features": features, "logits": logits, "classes": classes}
    if classes is not None and logits is None:
        given["logits"] = model
        given["both"] = None if features else before_last_linear(model)
    wrapped = from_module(spec, model, preprocessing, maps=maps, **given)
    return replace(wrapped, fingerprint=_with_code(model, wrapped.fingerprint))


def with_classes(model: LoadedModel, names: Sequence[str]) -> LoadedModel:
    """The same model with names for the columns of its logits, or of its output if it has none.

    A model of images and texts gets a classifier of these classes by prompts.
    """
    if model.texts is not None:
        return zero_shot(model, names)
    classes = tuple(names)
    logits = model.logits or model.features
    blank = torch.zeros(1, 3, model.preprocessing.size, model.preprocessing.size)
    width = logits(blank.to(model.device)).shape[-1]
    if width != len(classes):
        raise UsageError(
            f"'{model.name}' has {width} outputs, but {len(classes)} classes were given"
        )
    if model.logits is not None or model.module is None:
        return replace(model, logits=logits, classes=classes)
    pair = before_last_linear(model.module)
    # The features are different now, so cached ones must not be used.
    digest = hashlib.sha256(f"{model.fingerprint} with classes".encode()).hexdigest()
    return replace(
        model,
        features=torch.no_grad()(lambda images: pair(images)[0]),
        trainable=lambda images: pair(images)[0],
        fingerprint=digest,
        logits=logits,
        classes=classes,
        both=torch.no_grad()(pair),
    )


def before_last_linear(model: nn.Module) -> Both:
    """A function to the input of a classifier's last linear layer, as features, and its logits."""
    linear = [module for module in model.modules() if isinstance(module, nn.Linear)]

    def both(images: Tensor) -> tuple[Tensor, Tensor]:
        with _inputs_of(linear[-1]) as caught:
            logits = model(images)
        features = caught[-1] if caught and len(caught[-1]) == len(images) else logits
        return features.flatten(1), logits

    def output_twice(images: Tensor) -> tuple[Tensor, Tensor]:
        logits = model(images).flatten(1)
        return logits, logits

    return both if linear else output_twice  # SqueezeNet's last layer is a convolution


def before_pooling(model: nn.Module) -> Function | None:
    """A function to the feature maps of a torchvision model; None where they cannot be found."""
    pool, body = getattr(model, "avgpool", None), getattr(model, "features", None)
    if not isinstance(pool, nn.Module):
        return body if isinstance(body, nn.Module) else None

    def maps(images: Tensor) -> Tensor:
        with _inputs_of(pool) as caught:
            model(images)
        return caught[-1]

    return maps


@contextmanager
def _inputs_of(layer: nn.Module) -> Iterator[list[Tensor]]:
    """Collect the inputs of a layer."""
    caught: list[Tensor] = []
    hook = layer.register_forward_pre_hook(lambda _, inputs: caught.append(inputs[0]))
    try:
        yield caught
    finally:
        hook.remove()


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
    with suppress(OSError, TypeError):  # for instance if it was typed into a console
        changed.update(inspect.getsource(type(module)).encode())
    return changed.hexdigest()


def _own_preprocessing(model: Any, spec: str, stated: Mapping[str, Any]) -> Preprocessing:
    """The model's own mapping, such as `{"size": 224}`, with what the user states in its place."""
    given = getattr(model, "preprocessing", None)
    own = {key: value for key, value in stated.items() if value is not None}
    if isinstance(given, Preprocessing):
        return given.model_copy(update=own)
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f"'{spec}': preprocessing must be a mapping, not {given!r}")
    known = {**UNCROPPED, **(given or {}), **own}
    return build(Preprocessing, known, f"'{spec}': preprocessing")
