"""A linear classifier on an encoder: how both run together, and where timm keeps such a layer."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder

OWN_PLACE = "classifier"
"""Name of the layer in the weights of an encoder for which timm has no classifier."""


class EncoderWithClassifier(nn.Module):
    """Maps images (N, 3, H, W) to features (N, dim) and logits (N, classes) in one pass."""

    def __init__(self, encoder: nn.Module, classifier: nn.Linear) -> None:
        super().__init__()
        self.encoder = encoder
        self.classifier: nn.Linear = classifier

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        features: Tensor = self.encoder(images)
        return features, self.classifier(features)

    def logits(self, images: Tensor) -> Tensor:
        """Logits (N, classes) alone."""
        return self(images)[1]


def network_and_classifier(module: nn.Module) -> tuple[nn.Module, nn.Linear | None]:
    """The network whose state dict has the names of its library, and its linear classifier."""
    classifier: nn.Linear | None = None
    if isinstance(module, EncoderWithClassifier):
        classifier = module.classifier
        module = module.encoder
    if isinstance(module, Encoder):
        module = module.model
    timms = getattr(module, "get_classifier", None)
    if classifier is None and timms is not None:
        layer = timms()
        classifier = layer if isinstance(layer, nn.Linear) else None
    return module, classifier


def classifier_shapes(network: nn.Module, count: int) -> dict[str, torch.Size]:
    """Names and shapes of the tensors that a classifier adds to a timm model that has none.

    For instance `fc.weight` and `fc.bias`. A distilled model has two classifiers whose mean is its
    output. Empty where timm's classifier is not a single linear layer.
    """
    if not hasattr(network, "reset_classifier"):
        return {}
    complete: Any = deepcopy(network)
    with torch.random.fork_rng(devices=[]):
        complete.reset_classifier(count)
    before, after = network.state_dict(), complete.state_dict()
    added = {name: tensor.shape for name, tensor in after.items() if name not in before}
    linear = all(
        name.endswith("weight" if number % 2 == 0 else "bias") and shape[0] == count
        for number, (name, shape) in enumerate(added.items())
    )
    return added if linear else {}


def classifier_tensors(encoder: Encoder, classifier: nn.Linear) -> dict[str, Tensor]:
    """The tensors of a classifier by the names that timm gives them, or else by `OWN_PLACE`."""
    weight, bias = classifier.weight.detach(), classifier.bias.detach()
    plain = encoder.settings.plain
    shapes = classifier_shapes(encoder.model, len(bias)) if plain else {}
    if not shapes:
        return {f"{OWN_PLACE}.weight": weight, f"{OWN_PLACE}.bias": bias}
    # A convolution of size 1 has a weight of four dimensions. No two names may share memory.
    return {
        name: (weight if name.endswith("weight") else bias).reshape(shape).clone()
        for name, shape in shapes.items()
    }


def take_classifier(
    encoder: Encoder, tensors: Mapping[str, Tensor], count: int
) -> tuple[nn.Linear, dict[str, Tensor]]:
    """The classifier in the weights of a file, and the tensors of the encoder alone."""
    classifier = nn.utils.skip_init(nn.Linear, encoder.dim, count)
    expected = classifier_tensors(encoder, classifier)
    unfit = [n for n, own in expected.items() if n not in tensors or tensors[n].shape != own.shape]
    if unfit:
        raise UsageError(f"there is no classifier of {count} classes: '{unfit[0]}' does not fit")
    weight, bias = (tensors[name] for name in list(expected)[:2])
    classifier.load_state_dict({"weight": weight.flatten(1), "bias": bias})
    return classifier, {name: own for name, own in tensors.items() if name not in expected}
