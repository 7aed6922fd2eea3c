"""Load a model by its spec: a run, an export, timm, torchvision, ONNX, or a user's function."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import timm
import torch
import torchvision
from torch import Tensor

from unshortcut.discovery import import_object
from unshortcut.errors import RunError, UsageError, unknown
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.card import NETWORK_FILES, WEIGHTS_FILE, load_exported, read_card
from unshortcut.models.embedded import embedded_path
from unshortcut.models.loaded import LoadedModel, ModelLike
from unshortcut.models.onnx import OnnxModel
from unshortcut.models.published.model import load_published
from unshortcut.models.published.spec import parse_published
from unshortcut.models.wrapping import (
    UNCROPPED,
    before_last_linear,
    before_pooling,
    from_encoder,
    from_module,
    from_object,
    with_classes,
)
from unshortcut.result import public_name, unique_names
from unshortcut.translation.trained import refuse_generator

__all__ = [
    "LoadedModel", "ModelLike", "as_model", "from_module", "from_object",
    "load_model", "models_by_name", "with_classes",
]  # fmt: skip


def load_model(
    spec: str | Path,
    *,
    size: int | None = None,
    mean: tuple[float, float, float] | None = None,
    std: tuple[float, float, float] | None = None,
    crop: float | None = None,
    classes: Sequence[str] | None = None,
) -> LoadedModel:
    """Load a model by its spec.

    Args:
        spec: a run folder; an exported `.safetensors` file with its card beside it;
            `embedded:moco-v2-shapes` and other encoders of the package; `timm:NAME` or
            `torchvision:NAME` with the library's weights (`timm:NAME@random` is untrained);
            `timm:NAME@FILE` or `torchvision:NAME@FILE` with weights that others have published, or
            such a FILE alone (`.pth`, `.pt`, `.tar`, `.ckpt`, `.bin`) if it names its architecture
            or contains a ResNet; an `.onnx` file; or `package.module:function`. The function
            returns an `nn.Module`, or an object with `features(images)` and, if it classifies,
            `logits(images)` and `classes`. The output of a module is its features, or its logits if
            it has `classes`. Either may have a mapping `preprocessing`.
        size, mean, std, crop: preprocessing of models that do not state their own: input size, mean
            and standard deviation of the channels, and the side of the center crop divided by the
            shorter side of the resized image.
        classes: class names, if the output of an ONNX file or a module is logits.
    """
    stated = {"size": size, "mean": mean, "std": std, "crop_share": crop}
    stated = {key: value for key, value in stated.items() if value is not None}
    loaded = _load(str(spec), Path(spec), stated)
    if classes is not None:
        loaded = with_classes(loaded, classes)
    if loaded.module is not None and torch.cuda.is_available():
        loaded.module.cuda()
    return loaded


def as_model(model: ModelLike) -> LoadedModel:
    """The model itself if it is loaded, or else the one that its spec names."""
    return model if isinstance(model, LoadedModel) else load_model(model)


def models_by_name(models: Any) -> dict[str, Any]:
    """Models by the names in a mapping, or else by their own; repeated names get a number."""
    if isinstance(models, Mapping):
        return dict(models)
    listed = models if isinstance(models, list | tuple) else [models]

    def name(model: Any) -> str:
        if isinstance(model, str | Path):
            return public_name(str(model))
        return model.name if isinstance(model, LoadedModel) else type(model).__name__

    return dict(zip(unique_names([name(model) for model in listed]), listed, strict=True))


def _load(text: str, path: Path, stated: dict[str, Any]) -> LoadedModel:
    embedded = embedded_path(text)
    if embedded is not None:
        return replace(_exported(embedded, stated), name=text)
    if parse_published(text) is not None:
        return load_published(text, **stated).model()
    if path.suffix == ".safetensors" or (path / WEIGHTS_FILE).is_file():
        return _exported(path, stated)
    if path.suffix == ".onnx":
        return _onnx(path, stated)
    if path.is_dir():
        refuse_generator(path)
        for name in NETWORK_FILES:
            if (path / name).is_file():
                read_card(path / name)  # says what it is instead
        raise UsageError(f"'{path}' has no '{WEIGHTS_FILE}': it is not a finished run")
    origin, colon, name = text.partition(":")
    if colon and origin == "timm":
        return _timm(name, stated)
    if colon and origin == "torchvision":
        return _torchvision(name, stated)
    if colon and name:
        return from_object(import_object(text)(), text, **stated)
    raise UsageError(
        f"'{text}' is not a model: give a run folder, a .safetensors or .onnx file, timm:NAME, "
        "torchvision:NAME, published weights as timm:NAME@FILE, embedded:NAME, or "
        "package.module:function"
    )


def _exported(path: Path, stated: dict[str, Any]) -> LoadedModel:
    weights = path if path.suffix == ".safetensors" else path / WEIGHTS_FILE
    if not weights.is_file():
        raise UsageError(f"there is no file '{weights}'")
    encoder, classifier, card = load_exported(weights)
    name = path.stem if path.suffix == ".safetensors" else path.name
    preprocessing = card.preprocessing.model_copy(update=stated)
    loaded = from_encoder(
        name,
        encoder,
        classifier,
        preprocessing,
        classes=card.classes,
        spaces=card.spaces,
        maps=encoder.feature_maps,
    )
    return replace(loaded, multilabel=card.multilabel)


def _timm(name: str, stated: dict[str, Any]) -> LoadedModel:
    name, _, variant = name.partition("@")
    if not timm.is_model(name):
        raise unknown("timm model", name, timm.list_models())
    with _loading_weights(f"timm:{name}"):
        model = timm.create_model(name, pretrained=variant != "random")
    config = timm.data.resolve_model_data_config(model)
    published = Preprocessing(
        size=config["input_size"][-1],
        crop_share=config["crop_pct"],
        mean=config["mean"],
        std=config["std"],
    )

    def both(images: Tensor) -> tuple[Tensor, Tensor]:
        maps = model.forward_features(images)
        return model.forward_head(maps, pre_logits=True), model.forward_head(maps)

    subset = timm.data.infer_imagenet_subset(model)
    return from_module(
        f"timm:{name}",
        model,
        published.model_copy(update=stated),
        features=lambda images: model.forward_head(model.forward_features(images), pre_logits=True),
        logits=model,
        classes=subset and tuple(timm.data.ImageNetInfo(subset).label_names()),
        both=both,
        maps=model.forward_features,
    )


def _torchvision(name: str, stated: dict[str, Any]) -> LoadedModel:
    name, _, variant = name.partition("@")
    known = torchvision.models.list_models(module=torchvision.models)
    if name not in known:
        raise unknown("torchvision model", name, known)
    with _loading_weights(f"torchvision:{name}"):
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
        logits=model,
        classes=classes,
        both=before_last_linear(model),
        maps=before_pooling(model),
    )


def _onnx(path: Path, stated: dict[str, Any]) -> LoadedModel:
    if not path.is_file():
        raise UsageError(f"there is no file '{path}'")
    model = OnnxModel(path)
    side = model.size or Preprocessing().size
    preprocessing = model.preprocessing or Preprocessing(size=side, **UNCROPPED)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    preprocessing = preprocessing.model_copy(update=stated)
    if not model.classifies:
        return LoadedModel(path.stem, preprocessing, model, digest)
    return LoadedModel(
        path.stem,
        preprocessing,
        model,
        digest,
        model.logits,
        model.classes,
        both=model.both,
        multilabel=model.multilabel,
    )


@contextmanager
def _loading_weights(spec: str) -> Iterator[None]:
    """Replace a hub's traceback by one sentence if published weights cannot be loaded."""
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # an untrained model is the same one every time
            yield
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RunError(
            f"the weights of '{spec}' could not be loaded ({reason}); "
            f"'{spec}@random' is the untrained model"
        ) from error
