"""Load a model by its spec: a run, an export, a library's, ONNX, or a user's function."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from unshortcut.discovery import import_object
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.card import NETWORK_FILES, WEIGHTS_FILE, read_card
from unshortcut.models.exported import from_export
from unshortcut.models.loaded import LoadedModel, ModelLike
from unshortcut.models.onnx import OnnxModel
from unshortcut.models.origin import origins
from unshortcut.models.programs import refuse_program
from unshortcut.models.prompts import zero_shot
from unshortcut.models.published.model import load_published
from unshortcut.models.published.spec import parse_published
from unshortcut.models.token_linear import use_token_linear
from unshortcut.models.wrapping import UNCROPPED, from_module, from_object, with_classes
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
    prompts: Sequence[str] | None = None,
) -> LoadedModel:
    """Load a model by its spec.

    Args:
        spec: a run folder; an exported `.safetensors` file with its card beside it;
            `embedded:moco-v2-shapes` and other encoders of the package; `timm:NAME` or
            `torchvision:NAME` with the library's weights (`timm:NAME@random` is untrained);
            `timm:NAME@FILE` or `torchvision:NAME@FILE` with weights that others have published, or
            such a FILE alone (`.pth`, `.pt`, `.tar`, `.ckpt`, `.bin`) if it names its architecture
            or contains a ResNet; `hf:NAME` or `hf:FOLDER`, a model of transformers;
            `open_clip:NAME@TAG` or `open_clip:FOLDER`, a model of images and texts; an `.onnx`
            file; or `package.module:function`. The function returns an `nn.Module`, or an object
            with `features(images)` and, if it classifies, `logits(images)` and `classes`. The
            output of a module is its features, or its logits if it has `classes`. Either may have a
            mapping `preprocessing`.
        size, mean, std, crop: preprocessing in the place of the model's own: input size, mean and
            standard deviation of the channels, and the side of the center crop divided by the
            shorter side of the resized image.
        classes: class names, if the output of an ONNX file or a module is logits; for a model of
            images and texts, the classes of its zero-shot classifier.
        prompts: templates of the texts that stand for these classes, with `{}` in the place of the
            name; the mean of their embeddings is used. By default `a photo of a {}.`
    """
    stated = {"size": size, "mean": mean, "std": std, "crop_share": crop}
    stated = {key: value for key, value in stated.items() if value is not None}
    loaded = _load(str(spec), Path(spec), stated)
    if prompts is not None and (loaded.texts is None or classes is None):
        raise UsageError(
            f"'{spec}': prompts are for the classes of a model of images and texts, and "
            + ("it takes no texts" if loaded.texts is None else "no classes are given")
        )
    if prompts is not None and classes is not None:
        loaded = zero_shot(loaded, classes, prompts)
    elif classes is not None:
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
    refuse_program(path)
    prefix, colon, name = text.partition(":")
    known = origins()
    origin = known.get(prefix) if colon else None
    published = parse_published(text)
    if published is not None and (origin is None or published.library is not None):
        return _fast(load_published(text, **stated).model())
    if origin is not None:
        return _fast(origin().load(name, stated))
    if path.suffix == ".safetensors" or (path / WEIGHTS_FILE).is_file():
        return from_export(path, stated)
    if path.suffix == ".onnx":
        return _onnx(path, stated)
    if path.is_dir():
        refuse_generator(path)
        for name in NETWORK_FILES:
            if (path / name).is_file():
                read_card(path / name)  # says what it is instead
        raise UsageError(f"'{path}' has no '{WEIGHTS_FILE}': it is not a finished run")
    if colon and name:
        return from_object(import_object(text)(), text, **stated)
    raise UsageError(
        f"'{text}' is not a model: give a run folder, a .safetensors or .onnx file, "
        f"{', '.join(origin.form for origin in known.values())}, published weights as "
        "timm:NAME@FILE, or package.module:function"
    )


def _fast(loaded: LoadedModel) -> LoadedModel:
    """The model with faster linear layers; those of users' own modules are left as they are."""
    if loaded.module is not None:
        use_token_linear(loaded.module)
    return loaded


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
