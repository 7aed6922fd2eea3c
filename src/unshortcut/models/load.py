"""Any model by a spec: a run, an export, timm, torchvision, an ONNX file, a user's function."""

import hashlib
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import timm
import torch
import torchvision
from torch import Tensor, nn

from unshortcut.errors import RunError, UsageError, unknown
from unshortcut.models.card import WEIGHTS_FILE, Preprocessing, load_encoder
from unshortcut.models.onnx import OnnxModel

Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class LoadedModel:
    """A model that can be asked for features and, if it classifies, for logits."""

    name: str
    preprocessing: Preprocessing
    features: Function
    """Normalised images (N, 3, H, W) to (N, D), in eval mode, without gradients."""
    fingerprint: str | None
    """Changes with weights and architecture; keys the caches. None: nothing is cached."""
    logits: Function | None = None
    classes: tuple[str, ...] | None = None
    module: nn.Module | None = None
    """The PyTorch module, where there is one."""
    spaces: tuple[str, ...] | None = None
    """Names of the spaces that the features are of: as many equal parts, in this order."""

    @property
    def device(self) -> torch.device:
        """Where images must be."""
        first = next(self.module.parameters(), None) if self.module is not None else None
        return torch.device("cpu") if first is None else first.device


def load_model(
    spec: str | Path,
    *,
    size: int | None = None,
    mean: tuple[float, float, float] | None = None,
    std: tuple[float, float, float] | None = None,
) -> LoadedModel:
    """A model by its spec; `size`, `mean` and `std` state its preprocessing where no card does.

    A run folder; an exported `.safetensors` beside its card; `timm:NAME` and `torchvision:NAME`
    with their published weights (`timm:NAME@random` untrained); an `.onnx` file; or
    `package.module:function`, which returns an `nn.Module`, or an object with `features(images)`
    and, if it classifies, `logits(images)` and `classes`.
    """
    stated: dict[str, Any] = {"size": size, "mean": mean, "std": std}
    stated = {key: value for key, value in stated.items() if value is not None}
    loaded = _load(str(spec), Path(spec), stated)
    if loaded.module is not None and torch.cuda.is_available():
        loaded.module.cuda()
    return loaded


def _load(text: str, path: Path, stated: dict[str, Any]) -> LoadedModel:
    if path.suffix == ".safetensors" or (path / WEIGHTS_FILE).is_file():
        return _exported(path, stated)
    if path.suffix == ".onnx":
        return _onnx(path, stated)
    if path.is_dir():
        raise UsageError(f"'{path}' holds no '{WEIGHTS_FILE}': not a finished run")
    origin, colon, name = text.partition(":")
    if colon and origin == "timm":
        return _timm(name, stated)
    if colon and origin == "torchvision":
        return _torchvision(name, stated)
    if colon and name:
        return _user_function(origin, name, stated)
    raise UsageError(
        f"'{text}' is no model: give a run folder, a .safetensors or .onnx file, timm:NAME, "
        "torchvision:NAME or package.module:function"
    )


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
    )


def _exported(path: Path, stated: dict[str, Any]) -> LoadedModel:
    weights = path if path.suffix == ".safetensors" else path / WEIGHTS_FILE
    if not weights.is_file():
        raise UsageError(f"there is no file '{weights}'")
    encoder, card = load_encoder(weights)
    name = path.stem if path.suffix == ".safetensors" else path.name
    preprocessing = card.preprocessing.model_copy(update=stated)
    return from_module(name, encoder, preprocessing, spaces=card.spaces)


def _timm(name: str, stated: dict[str, Any]) -> LoadedModel:
    name, _, variant = name.partition("@")
    if not timm.is_model(name):
        raise unknown("timm model", name, timm.list_models())
    with _Weights(f"timm:{name}"):
        model = timm.create_model(name, pretrained=variant != "random")
    config = timm.data.resolve_model_data_config(model)
    published = Preprocessing(
        size=config["input_size"][-1],
        crop_share=config["crop_pct"],
        mean=config["mean"],
        std=config["std"],
    )

    def features(images: Tensor) -> Tensor:
        pooled: Tensor = model.forward_head(model.forward_features(images), pre_logits=True)
        return pooled

    return from_module(
        f"timm:{name}", model, published.model_copy(update=stated), features=features, logits=model
    )


def _torchvision(name: str, stated: dict[str, Any]) -> LoadedModel:
    name, _, variant = name.partition("@")
    known = torchvision.models.list_models(module=torchvision.models)
    if name not in known:
        raise unknown("torchvision model", name, known)
    with _Weights(f"torchvision:{name}"):
        weights = None if variant == "random" else "DEFAULT"
        model = torchvision.models.get_model(name, weights=weights)
    classes = None
    preprocessing = Preprocessing()
    if weights:
        chosen = torchvision.models.get_model_weights(name).DEFAULT
        classes = tuple(chosen.meta["categories"])
        published = chosen.transforms()
        preprocessing = Preprocessing(
            size=published.crop_size[0],
            crop_share=min(1.0, published.crop_size[0] / published.resize_size[0]),
            mean=tuple(published.mean),
            std=tuple(published.std),
        )
    return from_module(
        f"torchvision:{name}",
        model,
        preprocessing.model_copy(update=stated),
        features=_before_last_linear(model),
        logits=model,
        classes=classes,
    )


def _before_last_linear(model: nn.Module) -> Function:
    """The input of a classifier's last linear layer: what torchvision's models have as features."""
    linear = [module for module in model.modules() if isinstance(module, nn.Linear)]
    if not linear:
        return lambda images: model(images).flatten(1)  # SqueezeNet: a convolution is the last
    last = linear[-1]

    def features(images: Tensor) -> Tensor:
        caught: list[Tensor] = []
        hook = last.register_forward_hook(lambda _, inputs, __: caught.append(inputs[0]))
        try:
            model(images)
        finally:
            hook.remove()
        return caught[0].flatten(1)

    return features


def _onnx(path: Path, stated: dict[str, Any]) -> LoadedModel:
    if not path.is_file():
        raise UsageError(f"there is no file '{path}'")
    model = OnnxModel(path)
    preprocessing = Preprocessing(size=model.size or Preprocessing().size)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return LoadedModel(path.stem, preprocessing.model_copy(update=stated), model, digest)


def _user_function(module_name: str, function: str, stated: dict[str, Any]) -> LoadedModel:
    spec = f"{module_name}:{function}"
    if "" not in sys.path:
        sys.path.insert(0, "")  # the user's own file lies in the working folder
    try:
        made = getattr(importlib.import_module(module_name), function)()
    except ModuleNotFoundError as error:
        raise UsageError(f"'{spec}': there is no module '{error.name}'") from None
    except AttributeError as error:
        raise UsageError(f"'{spec}': {error}") from None
    preprocessing = Preprocessing().model_copy(update=stated)
    if isinstance(made, nn.Module):
        return from_module(
            spec,
            made,
            preprocessing,
            features=getattr(made, "features", None)
            if not isinstance(getattr(made, "features", None), nn.Module)
            else None,
            logits=getattr(made, "logits", None),
            classes=getattr(made, "classes", None),
        )
    if not callable(getattr(made, "features", None)):
        raise UsageError(
            f"'{spec}' returned {type(made).__name__}: neither an nn.Module nor an object with "
            "features(images)"
        )
    # What such an object holds cannot be seen, so nothing of it is cached.
    return LoadedModel(
        spec,
        preprocessing,
        made.features,
        None,
        getattr(made, "logits", None),
        getattr(made, "classes", None),
    )


class _Weights:
    """Says that published weights could not be had, instead of a traceback from a hub."""

    def __init__(self, spec: str) -> None:
        self.spec = spec

    def __enter__(self) -> None:
        self._fork = torch.random.fork_rng(devices=[])
        self._fork.__enter__()
        torch.manual_seed(0)  # an untrained model is the same one every time

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._fork.__exit__(None, None, None)
        if isinstance(error, Exception):
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RunError(
                f"the weights of '{self.spec}' could not be loaded ({reason}); "
                f"'{self.spec}@random' is the untrained model"
            ) from error
