"""`open_clip:NAME@TAG` and `open_clip:FOLDER`: models of images and texts of open_clip.

Their features are the embeddings of images; classes are named by prompts (`models/prompts.py`).
Code that comes with a model is never executed, and weights are read with `weights_only`.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor

from unshortcut.errors import UsageError, unknown
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.loaded import LoadedModel, TextEncoder
from unshortcut.models.origin import Origin, announce_hub, as_folder, loading_weights, quiet
from unshortcut.models.published.spec import RANDOM
from unshortcut.models.wrapping import from_module

INSTALL = "install it with: pip install 'unshortcut[clip]'"
CONFIG = "open_clip_config.json"
_HUB = "hf-hub:"
_PREFERRED_TAG = "openai"


class OpenCLIP(Origin):
    """Models of open_clip with one of its published weights, a file of weights, or a folder."""

    name: ClassVar[str] = "open_clip"
    form: ClassVar[str] = "open_clip:NAME@TAG"

    def load(self, spec: str, stated: dict[str, Any]) -> LoadedModel:
        try:
            import open_clip
        except ImportError:
            raise UsageError(f"open_clip: needs open_clip_torch; {INSTALL}") from None
        place = _find(open_clip, spec)
        if place.remote:
            announce_hub(place.spec)
        instead = "give a folder with the model instead, open_clip:FOLDER"
        if place.folder is not None:
            instead = f"the folder must have {CONFIG} and the weights"
        with loading_weights(place.spec, instead), quiet("", "transformers", "huggingface_hub"):
            text_config = (open_clip.get_model_config(place.name) or {}).get("text_cfg", {})
            _refuse_code(text_config)
            with warnings.catch_warnings(action="ignore"):
                clip = open_clip.create_model(
                    place.name,
                    place.weights,
                    load_weights=place.trained,
                    require_pretrained=place.trained,
                    pretrained_text=False,
                    force_quick_gelu=place.quick_gelu,
                    weights_only=True,
                )
            named = {"trust_remote_code": False} if text_config.get("hf_tokenizer_name") else {}
            tokenizer = open_clip.get_tokenizer(place.name, **named)
        clip.eval()
        device = next(clip.parameters()).device

        def embed(texts: Sequence[str]) -> Tensor:
            found: Tensor = clip.encode_text(tokenizer(list(texts)).to(device), normalize=True)
            return found

        own = _preprocessing(clip.visual.preprocess_cfg, place.spec)
        preprocessing = own.model_copy(update=stated)
        loaded = from_module(place.spec, clip.visual, preprocessing, features=clip.encode_image)
        scale = float(clip.logit_scale.detach().exp())
        return replace(loaded, texts=TextEncoder(embed, scale))


@dataclass(frozen=True)
class _Place:
    """What open_clip is asked for."""

    spec: str
    name: str
    weights: str | None = None
    """A tag, or the path of a file."""
    folder: Path | None = None
    trained: bool = True
    quick_gelu: bool = False
    """Whether the weights were trained with the activation of OpenAI's models."""
    remote: bool = False
    """Whether something may have to be downloaded."""


def _find(open_clip: Any, text: str) -> _Place:
    name, variant = text, ""
    if not Path(text).expanduser().exists():
        name, _, variant = text.partition("@")
    folder, trained = as_folder(name), variant != RANDOM
    if folder is not None:
        if not folder.is_dir():
            raise UsageError(f"'open_clip:{text}': there is no folder '{name}'")
        if not (folder / CONFIG).is_file():
            raise UsageError(f"'open_clip:{text}': there is no {CONFIG} in the folder")
        shown = folder.name if folder.is_absolute() else name
        return _Place(f"open_clip:{shown}", f"local-dir:{folder}", folder=folder, trained=trained)
    if name.startswith(_HUB):
        return _Place(f"open_clip:{text}", name, trained=trained, remote=True)
    if name not in open_clip.list_models():
        raise unknown("model of open_clip", name, open_clip.list_models())
    if not trained:
        return _Place(f"open_clip:{text}", name, trained=False)
    if variant and Path(variant).expanduser().is_file():
        file = Path(variant).expanduser()
        return _Place(f"open_clip:{name}@{file.name}", name, str(file))
    tag = _tag(open_clip, name, variant)
    quick_gelu = bool((open_clip.get_pretrained_cfg(name, tag) or {}).get("quick_gelu"))
    return _Place(f"open_clip:{name}@{tag}", name, tag, quick_gelu=quick_gelu, remote=True)


def _tag(open_clip: Any, name: str, given: str) -> str:
    """The tag of published weights: the given one, OpenAI's, or the only one."""
    tags = open_clip.list_pretrained_tags_by_model(name)
    if given:
        if given not in tags:
            raise unknown(f"weights of open_clip:{name}", given, [*tags, RANDOM])
        return given
    if _PREFERRED_TAG in tags:
        return _PREFERRED_TAG
    if len(tags) == 1:
        return str(tags[0])
    if not tags:
        raise UsageError(
            f"there are no published weights of open_clip:{name}; give a file as "
            f"open_clip:{name}@FILE"
        )
    listed = ", ".join(tags)
    raise UsageError(f"there are several weights of open_clip:{name}; choose one as @TAG: {listed}")


def _refuse_code(text_config: dict[str, Any]) -> None:
    """Refuse a text network that open_clip would build of code from the hub."""
    name = text_config.get("hf_model_name")
    if name is None:
        return
    try:
        from transformers import AutoConfig
    except ImportError:
        raise UsageError(
            "its text network is one of transformers; install that with: pip install "
            "'unshortcut[hf]'"
        ) from None
    AutoConfig.from_pretrained(name, trust_remote_code=False)


def _preprocessing(config: dict[str, Any], spec: str) -> Preprocessing:
    """The preprocessing that open_clip states: its images are resized and not cropped further."""
    size, mode = config["size"], config["resize_mode"]
    sides = {*size} if isinstance(size, tuple | list) else {size}
    if len(sides) != 1:
        raise UsageError(f"'{spec}' takes images of {size} pixels, and only squares can be made")
    if mode not in ("shortest", "squash"):
        warnings.warn(
            f"'{spec}' pads its images to squares, and they are cropped to squares here",
            stacklevel=3,
        )
    return Preprocessing(
        size=sides.pop(),
        crop_share=1.0,
        mean=tuple(config["mean"]),
        std=tuple(config["std"]),
        stretch=mode == "squash",
    )
