"""The encoder to fine-tune: any model with weights that can be trained."""

from copy import deepcopy
from dataclasses import dataclass

import timm
import torch

from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.classifier import EncoderWithClassifier, network_and_classifier
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.models.load import as_model
from unshortcut.models.loaded import LoadedModel, ModelLike
from unshortcut.models.module_encoder import ModuleEncoder
from unshortcut.training.initial_weights import load_into
from unshortcut.transfer.networks.unused import freeze_unused


@dataclass(frozen=True)
class Start:
    """An encoder with its weights, and how its images are prepared."""

    name: str
    encoder: Encoder
    preprocessing: Preprocessing
    fingerprint: str | None
    """Digest of the weights."""


def load_start(model: ModelLike) -> Start:
    """Load a model as an encoder to train.

    Models of timm, and those of torchvision that timm has too, become encoders of timm, whose
    layers are known; a model that is given as an object keeps its weights. Any other module is
    trained in place, as far as its features depend on it. Raises `UsageError` for a model without
    trainable weights.
    """
    loaded = as_model(model)
    module = loaded.module
    if module is None or loaded.trainable is None or not any(True for _ in module.parameters()):
        raise UsageError(
            f"'{loaded.name}' has no weights that can be trained; give the run or the weights that "
            "it was made from (an ONNX file can only be used as it is)"
        )
    encoder = _encoder(loaded).cpu()
    for parameter in encoder.parameters():
        parameter.requires_grad_(True)
    if isinstance(encoder, ModuleEncoder):
        side = loaded.preprocessing.size
        with torch.enable_grad():
            freeze_unused(encoder, [encoder(torch.zeros(2, 3, side, side))])
    return Start(loaded.name, encoder, loaded.preprocessing, loaded.fingerprint)


def _encoder(loaded: LoadedModel) -> Encoder:
    module = loaded.module
    assert module is not None and loaded.trainable is not None
    inner = module.encoder if isinstance(module, EncoderWithClassifier) else module
    if isinstance(inner, Encoder):
        return deepcopy(inner)
    network, _ = network_and_classifier(module)
    known = getattr(network, "default_cfg", {}).get("architecture")
    name = known or loaded.name.rpartition(":")[2].partition("@")[0]
    if timm.is_model(name):
        with torch.random.fork_rng(devices=[]):
            encoder = Encoder(EncoderSettings(name=name))
        try:
            load_into(encoder, loaded)
        except UsageError:
            pass  # torchvision's model has the same name and other layers
        else:
            return encoder
    return ModuleEncoder(module.cpu(), loaded.trainable, loaded.preprocessing.size)
