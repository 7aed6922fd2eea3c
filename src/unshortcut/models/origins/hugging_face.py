"""`hf:NAME` and `hf:FOLDER`: image classifiers and encoders of transformers.

Only the library's own classes are used: code that comes with a model is never executed, and
weights are read from safetensors or with `weights_only`.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.image_processor import ImageProcessing, image_processing
from unshortcut.models.loaded import LoadedModel
from unshortcut.models.origin import (
    Origin,
    announce_hub,
    as_folder,
    first_line,
    loading_weights,
    quiet,
)
from unshortcut.models.published.spec import RANDOM
from unshortcut.models.wrapping import before_last_linear, from_module

INSTALL = "install it with: pip install 'unshortcut[hf]'"
_OTHER_TASKS = ("Detection", "UniversalSegmentation", "Captioning", "QuestionAnswering")
"""Parts of the names of architectures whose features belong to something else than the image."""


class HuggingFace(Origin):
    """Models of transformers, from the hub or from a folder that `save_pretrained` has written."""

    name: ClassVar[str] = "hf"
    form: ClassVar[str] = "hf:NAME_OR_FOLDER"

    def load(self, spec: str, stated: dict[str, Any]) -> LoadedModel:
        place = _Place.parse(spec)
        if place.folder is None:
            announce_hub(place.spec)
        with _library() as transformers, _explained(place):
            config = transformers.AutoConfig.from_pretrained(place.where, **place.options)
            classifies = _classifies(transformers, config, place.spec)
            if hasattr(config, "mask_ratio"):
                config.mask_ratio = 0.0  # MAE would hide most of the image
            names = ("AutoModelForImageClassification", "AutoModel")
            network, missing = _network(getattr(transformers, names[not classifies]), config, place)
            images = _images(transformers, config, place, stated)
        preprocessing = images.preprocessing
        if not classifies:
            encoder = HubEncoder(network, missing, images.blue_first)
            return from_module(place.spec, encoder, preprocessing, maps=encoder.maps)
        if missing:
            raise UsageError(
                f"the weights of '{place.spec}' are not complete: {len(missing)} tensors are "
                f"missing, such as {min(missing)}"
            )
        classifier = HubClassifier(network, images.blue_first)
        return from_module(
            place.spec,
            classifier,
            preprocessing,
            logits=classifier,
            classes=_classes(config),
            both=before_last_linear(classifier),
        )


class HubClassifier(nn.Module):
    """An image classifier of transformers as a function from images to logits (N, C)."""

    def __init__(self, network: nn.Module, blue_first: bool) -> None:
        super().__init__()
        self.network = network
        self.blue_first = blue_first

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.network(_ordered(images, self.blue_first)).logits
        return logits


class HubEncoder(nn.Module):
    """An encoder of transformers as a function from images to features (N, D).

    The features are the network's pooled output. Where it has none, or one whose weights are not
    in the file, they are the class token, or the mean of all positions if there is no such token.
    """

    def __init__(self, network: nn.Module, missing: set[str], blue_first: bool) -> None:
        super().__init__()
        self.network = network
        self.blue_first = blue_first
        others = [name for name in missing if "pooler" not in name]
        if others:
            raise UsageError(
                f"the weights of a {type(network).__name__} are not complete: {len(others)} "
                f"tensors are missing, such as {min(others)}"
            )
        self.pooled = not missing
        names = [name for name, _ in network.named_parameters()]
        self.class_token = any(name.endswith(("cls_token", "class_embedding")) for name in names)

    def forward(self, images: Tensor) -> Tensor:
        network: Any = self.network
        if hasattr(network, "get_image_features"):  # a model of images and texts
            found = network.get_image_features(_ordered(images, self.blue_first))
            embedded: Tensor = found if isinstance(found, Tensor) else found.pooler_output
            return embedded
        output = self._run(images)
        pooled = getattr(output, "pooler_output", None) if self.pooled else None
        if pooled is not None:
            return pooled.flatten(1)
        maps: Tensor = output.last_hidden_state
        if maps.dim() == 4:
            return maps.mean((2, 3))
        return maps[:, 0] if self.class_token else maps.mean(1)

    def maps(self, images: Tensor) -> Tensor:
        """Features before pooling: (N, C, h, w), or (N, tokens, C)."""
        network = getattr(self.network, "vision_model", None)
        maps: Tensor = self._run(images, network).last_hidden_state
        return maps

    def _run(self, images: Tensor, network: nn.Module | None = None) -> Any:
        options = {}
        config: Any = self.network.config
        if hasattr(config, "mask_ratio"):  # MAE would shuffle the patches, by this noise
            height, width = (side // config.patch_size for side in images.shape[2:])
            order = torch.arange(height * width, dtype=torch.float32, device=images.device)
            options["noise"] = order.expand(len(images), -1)
        return (network or self.network)(_ordered(images, self.blue_first), **options)


@dataclass(frozen=True)
class _Place:
    """Where a model is: a folder, or a name on the hub with a revision."""

    spec: str
    where: str
    folder: Path | None
    revision: str | None
    trained: bool

    @classmethod
    def parse(cls, text: str) -> "_Place":
        name, variant = text, ""
        if not Path(text).expanduser().exists():
            name, _, variant = text.partition("@")
        folder = as_folder(name)
        if folder is not None and not folder.is_dir():
            raise UsageError(f"'hf:{text}': there is no folder '{name}'")
        if folder is not None and not (folder / "config.json").is_file():
            raise UsageError(
                f"'hf:{text}': there is no config.json in the folder; `save_pretrained` of "
                "transformers writes one"
            )
        trained = variant != RANDOM
        if folder is not None and variant and trained:
            raise UsageError(f"'hf:{text}': a folder has no revision '{variant}'")
        shown = folder.name if folder is not None and folder.is_absolute() else name
        shown += f"@{variant}" if variant else ""
        revision = variant if trained and variant else None
        return cls(f"hf:{shown}", str(folder or name), folder, revision, trained)

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of every `from_pretrained`."""
        found: dict[str, Any] = {"trust_remote_code": False}
        if self.folder is not None:
            found["local_files_only"] = True
        if self.revision is not None:
            found["revision"] = self.revision
        return found


@contextmanager
def _library() -> Iterator[Any]:
    """transformers without its progress bars and advice, or a `UsageError` if it is missing."""
    try:
        import transformers
    except ImportError:
        raise UsageError(f"hf: needs transformers; {INSTALL}") from None
    logging = transformers.utils.logging
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        with quiet("transformers", "huggingface_hub"):
            yield transformers
    finally:
        if bars:
            logging.enable_progress_bar()


@contextmanager
def _explained(place: _Place) -> Iterator[None]:
    """One sentence for whatever the library raises."""
    instead = "give a folder instead that has config.json and the weights, hf:FOLDER"
    if place.folder is not None:
        instead = "the folder must be as `save_pretrained` of transformers writes it"
    with loading_weights(place.spec, instead):
        try:
            yield
        except ValueError as error:
            text = str(error)
            if "trust_remote_code" in text or "custom code" in text:
                raise UsageError(
                    f"'{place.spec}' comes with code of its own, which is never executed; export "
                    "it to ONNX, or load it in a function of yours, package.module:function"
                ) from None
            raise UsageError(f"'{place.spec}' cannot be loaded: {first_line(error)}") from None


def _classifies(transformers: Any, config: Any, spec: str) -> bool:
    """Whether it is an image classifier; `UsageError` if it does not encode images."""
    architectures = config.architectures or []
    if any(task in name for name in architectures for task in _OTHER_TASKS):
        raise UsageError(
            f"'{spec}' is a {architectures[0]}, and neither an image classifier nor an encoder"
        )
    if any("ForImageClassification" in name for name in architectures) and config.num_labels > 0:
        return True
    network = transformers.MODEL_MAPPING.get(type(config), None)
    network = network[0] if isinstance(network, tuple) else network
    takes_images = getattr(network, "main_input_name", None) == "pixel_values"
    if not takes_images and not hasattr(network, "get_image_features"):
        raise UsageError(f"'{spec}' takes no images: its model type is '{config.model_type}'")
    return False


def _network(auto: Any, config: Any, place: _Place) -> tuple[nn.Module, set[str]]:
    """A network in float32, and the names of its tensors that the weights lack."""
    if not place.trained:
        return auto.from_config(config, trust_remote_code=False).float(), set()
    network, report = auto.from_pretrained(
        place.where,
        config=config,
        dtype=torch.float32,
        weights_only=True,
        output_loading_info=True,
        **place.options,
    )
    return network, set(report["missing_keys"])


def _images(
    transformers: Any, config: Any, place: _Place, stated: dict[str, Any]
) -> ImageProcessing:
    """How images are prepared: what the user states, and for the rest what the model does."""
    try:
        processor = transformers.AutoImageProcessor.from_pretrained(place.where, **place.options)
    except OSError:
        size = getattr(getattr(config, "vision_config", config), "image_size", None)
        plain = Preprocessing(**{**({"size": size} if isinstance(size, int) else {}), **stated})
        if not stated:
            warnings.warn(
                f"'{place.spec}' does not state how its images are prepared; as for ImageNet at "
                f"{plain.size} px is assumed (--size, --mean, --std and --crop state it)",
                stacklevel=2,
            )
        return ImageProcessing(plain, blue_first=False)
    return image_processing(processor, place.spec, stated)


def _classes(config: Any) -> tuple[str, ...] | None:
    """The names in the config; None if they are placeholders such as LABEL_0."""
    names = [str(config.id2label[number]) for number in range(config.num_labels)]
    stated = any(name != f"LABEL_{number}" for number, name in enumerate(names))
    return tuple(names) if stated else None


def _ordered(images: Tensor, blue_first: bool) -> Tensor:
    return images.flip(1) if blue_first else images
