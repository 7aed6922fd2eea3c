"""The head that is to be fixed: the model's own, or a linear probe where it has none."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from unshortcut.errors import UsageError
from unshortcut.inference.features import Features
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.measuring.linear_head import Head
from unshortcut.models.classifier import network_and_classifier
from unshortcut.models.encoder import Encoder
from unshortcut.models.load import as_model, from_module
from unshortcut.models.loaded import LoadedModel, ModelLike
from unshortcut.models.wrapping import from_encoder
from unshortcut.probes.linear import fit_linear
from unshortcut.transfer.start import load_start


@dataclass(frozen=True)
class Frozen:
    """An encoder that stays as it is, and what its model says of classes."""

    name: str
    encoder: Encoder
    preprocessing: Preprocessing
    own: Head | None
    """The linear head of the model, if it has one."""
    own_classes: tuple[str, ...]

    @property
    def features(self) -> LoadedModel:
        """The encoder as a model without a head."""
        return from_module(self.name, self.encoder, self.preprocessing)

    def with_head(self, head: Head, classes: Sequence[str], name: str) -> LoadedModel:
        """The encoder with a head, as a classifier."""
        return from_encoder(
            name, self.encoder, head.layer(), self.preprocessing, classes=tuple(classes)
        )

    def own_head(self, classes: Sequence[str]) -> Head | None:
        """The rows of the model's own head for these classes; None if it does not know all."""
        if self.own is None or not set(classes) <= set(self.own_classes):
            return None
        rows = [self.own_classes.index(name) for name in classes]
        return Head(self.own.weight[rows], self.own.bias[rows])


def load_frozen(model: ModelLike) -> Frozen:
    """Load a model whose head can be taken off. Raises `UsageError` for one without weights."""
    loaded = as_model(model)
    if loaded.multilabel:
        raise UsageError(f"'{loaded.name}' is for several classes per image, which cannot be fixed")
    start = load_start(loaded)
    encoder = start.encoder.eval()
    for parameter in encoder.parameters():
        parameter.requires_grad_(False)
    assert loaded.module is not None
    _, layer = network_and_classifier(loaded.module)
    fits = layer is not None and layer.in_features == encoder.dim and loaded.classes is not None
    own = Head.of(layer) if fits and layer is not None else None
    return Frozen(loaded.name, encoder, loaded.preprocessing, own, loaded.classes or ())


def probe_head(features: Features, num_classes: int, seed: int) -> Head:
    """A linear probe on features, as the audit fits it."""
    labels = torch.from_numpy(features.required_labels())
    rows = torch.from_numpy(features.values)
    (probe,) = fit_linear(rows, labels, classes=num_classes, seeds=(seed,))
    return Head(probe.weight.double().numpy(), probe.bias.double().numpy())
