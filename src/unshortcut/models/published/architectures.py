"""Networks that weights are loaded into, without their classifiers."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import timm
import torchvision
from torch import Tensor, nn

from unshortcut.errors import UsageError, unknown
from unshortcut.models.classifier import classifier_shapes
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.models.loaded import Function
from unshortcut.models.wrapping import before_pooling

_RESNETS: dict[tuple[int, ...], str] = {
    (False, 2, 2, 2, 2): "resnet18",
    (False, 3, 4, 6, 3): "resnet34",
    (True, 3, 4, 6, 3): "resnet50",
    (True, 3, 4, 23, 3): "resnet101",
    (True, 3, 8, 36, 3): "resnet152",
}
"""Names by whether blocks are bottlenecks, and their number in each stage."""
_WIDTH = 64  # of the first block; wide ResNets and ResNeXts have more
_BLOCK = re.compile(
    r"(?P<prefix>.*?)(?P<stage>layer[1-4]|\b[4-7])\.(?P<block>\d+)\.conv(?P<conv>\d)\.weight"
)


@dataclass(frozen=True)
class Architecture:
    """A network of timm or torchvision."""

    name: str  # e.g. timm:resnet50
    encoder: nn.Module
    """Maps images (N, 3, H, W) to features (N, dim)."""
    network: nn.Module
    """The part of the encoder whose tensors have the names of the library."""
    dim: int
    classifier: str
    """Name of the classifier in the complete network, e.g. `fc`."""
    maps: Function | None
    size: int
    imagenet_classes: Callable[[], tuple[str, ...]]


def timm_architecture(name: str) -> Architecture:
    """A model of timm."""
    if not timm.is_model(name):
        raise unknown("timm model", name, timm.list_models())
    encoder = Encoder(EncoderSettings(name=name))
    names = list(classifier_shapes(encoder.model, 2))
    # A distilled model has two classifiers on different features, which are left aside.
    place = names[0].rpartition(".")[0] if len(names) == 2 else "fc"
    return Architecture(
        f"timm:{name}",
        encoder,
        encoder.model,
        encoder.dim,
        place,
        encoder.feature_maps,
        timm.data.resolve_model_data_config(encoder.model)["input_size"][-1],
        lambda: tuple(timm.data.ImageNetInfo("imagenet-1k").label_names()),
    )


def torchvision_architecture(name: str) -> Architecture:
    """A model of torchvision."""
    known = torchvision.models.list_models(module=torchvision.models)
    if name not in known:
        raise unknown("torchvision model", name, known)
    model: nn.Module = torchvision.models.get_model(name, weights=None)
    linear = [(key, one) for key, one in model.named_modules() if isinstance(one, nn.Linear)]
    if not linear:
        raise UsageError(f"torchvision:{name} has no linear classifier; use timm:NAME@FILE")
    place, last = linear[-1]
    parent, _, child = place.rpartition(".")
    setattr(model.get_submodule(parent), child, nn.Identity())
    weights: Any = torchvision.models.get_model_weights(name).DEFAULT
    return Architecture(
        f"torchvision:{name}",
        model,
        model,
        last.in_features,
        place,
        before_pooling(model),
        weights.transforms().crop_size[0],
        lambda: tuple(weights.meta["categories"]),
    )


def resnet_of(tensors: Mapping[str, Tensor]) -> str | None:
    """The name of the ResNet whose blocks a file contains, or None."""
    blocks: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in tensors:
        found = _BLOCK.fullmatch(name)
        if found:
            blocks[found["prefix"]][found["stage"]].add(found["block"])
    for prefix, stages in blocks.items():
        first, *_ = numbers = sorted(stages)
        bottleneck = f"{prefix}{first}.0.conv3.weight" in tensors
        likely = _RESNETS.get((bottleneck, *(len(stages[number]) for number in numbers)))
        conv = tensors.get(f"{prefix}{first}.0.conv1.weight")
        if likely is not None and conv is not None and len(conv) == _WIDTH:
            return likely
    return None
