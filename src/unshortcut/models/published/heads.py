"""Projection heads and classifiers in a file, rebuilt from the names and shapes of tensors."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

_BODIES = ("backbone", "encoder", "resnet", "net", "trunk", "model")
_HEADS = ("projector", "projection_head", "projection", "proj_head", "head", "neck")
_CLASSIFIERS = ("classifier", "linear", "online_classifier.linear")
"""Words for the parts of a model: a head has the name of its encoder with another word in it, such
as `momentum_projector` beside `momentum_backbone`."""
_LAYER = re.compile(
    r"(?P<wrapper>[A-Za-z_]\w*\.)?(?:(?P<index>\d+)\.)?"
    r"(?P<tensor>weight|bias|running_mean|running_var|num_batches_tracked)"
)
_PROTOTYPES = ("last_layer.", "prototypes.")
"""Layers after the embedding. A head with a `last_layer` is DINO's, whose activations are GELU."""


@dataclass(frozen=True)
class Found:
    """A projection head (without normalization) or a classifier, on features (N, D)."""

    prefix: str
    layers: nn.Sequential

    @property
    def linear(self) -> list[nn.Linear]:
        """The linear layers among them, at least one."""
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]

    @property
    def widths(self) -> str:
        """Such as `2048-2048-128`."""
        widths = [self.linear[0].in_features, *(layer.out_features for layer in self.linear)]
        return "-".join(map(str, widths))


def find_head(
    tensors: Mapping[str, Tensor], encoder: str, classifier: str, dim: int
) -> Found | None:
    """The projection head of an encoder of width `dim`.

    It is in the place of the classifier (MoCo, SimSiam), among the encoder's layers (SwAV), or
    beside the encoder (DINO, solo-learn, lightly). A predictor is not part of it.

    Args:
        encoder: the prefix of the encoder in the file.
        classifier: the name of the classifier in the network, e.g. `fc`.
    """
    others = [word for word in _HEADS if not f"{classifier}.".startswith(f"{word}.")]
    inside = [f"{encoder}{name}." for name in (classifier, *others)]
    for prefix in (*inside, *_beside(encoder, _HEADS)):
        own = _under(tensors, prefix)
        single = set(own) <= {"weight", "bias"} and prefix in inside and "proj" not in prefix
        if single and not _is_mocos(tensors, encoder, own):
            continue  # a classifier
        layers = build_head(own, dim) if own else None
        if layers is not None:
            return Found(prefix, layers)
    return None


def find_classifier(
    tensors: Mapping[str, Tensor], encoder: str, classifier: str | None, dim: int
) -> Found | None:
    """A linear classifier on features of width `dim`, in its place or beside the encoder.

    Args:
        encoder: the prefix of the encoder in the file.
        classifier: the name of the classifier in the network; None to look only beside it.
    """
    inside = [] if classifier is None else [f"{encoder}{classifier}."]
    for prefix in (*inside, *_beside(encoder, _CLASSIFIERS)):
        own = _under(tensors, prefix)
        if set(own) != {"weight", "bias"}:
            continue
        # A convolution of size 1 has a weight of four dimensions.
        layers = build_head({"weight": own["weight"].flatten(1), "bias": own["bias"]}, dim)
        if layers is not None:
            return Found(prefix, layers)
    return None


def build_head(tensors: Mapping[str, Tensor], dim: int) -> nn.Sequential | None:
    """Rebuild `nn.Sequential` layers from their tensors; None if they are not understood.

    A matrix is a linear layer, running statistics belong to batch norm, and indices without
    tensors between layers are an activation.
    """
    dino = any(name.startswith(_PROTOTYPES[0]) for name in tensors)
    layers: dict[int, dict[str, Tensor]] = {}
    wrappers = set()
    for name, tensor in tensors.items():
        if name.startswith(_PROTOTYPES):
            continue
        named = _LAYER.fullmatch(name)
        if named is None:
            return None
        wrappers.add(named["wrapper"])
        layers.setdefault(int(named["index"] or 0), {})[named["tensor"]] = tensor
    if len(wrappers) != 1:
        return None
    parts: list[nn.Module] = []
    last = -1
    for index in sorted(layers):
        layer = _layer(layers[index], dim)
        if layer is None:
            return None
        if parts and index > last + 1:
            parts.append(nn.GELU() if dino else nn.ReLU())
        parts.append(layer)
        last = index
        dim = layer.out_features if isinstance(layer, nn.Linear) else dim
    return nn.Sequential(*parts) if any(isinstance(x, nn.Linear) for x in parts) else None


def _layer(tensors: Mapping[str, Tensor], dim: int) -> nn.Linear | nn.BatchNorm1d | None:
    """A layer on an input of width `dim`."""
    layer: nn.Linear | nn.BatchNorm1d
    weight = tensors.get("weight")
    if "running_mean" in tensors:
        layer = nn.BatchNorm1d(dim, affine=weight is not None)
    elif weight is not None and weight.ndim == 2:
        layer = nn.utils.skip_init(nn.Linear, dim, len(weight), bias="bias" in tensors)
    else:
        return None
    state = layer.state_dict()
    if any(name in state and state[name].shape != own.shape for name, own in tensors.items()):
        return None
    layer.load_state_dict(dict(tensors), strict=False)  # old files do not count batches
    return layer


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }


def _beside(prefix: str, words: Sequence[str]) -> Iterator[str]:
    """Prefixes with another word in the place of `backbone`, `encoder`, …, from the inside out."""
    parts = prefix.split(".")[:-1]
    for at in reversed(range(len(parts))):
        body = next((one for one in _BODIES if one in parts[at]), None)
        if body is not None:
            for word in words:
                yield ".".join([*parts[:at], parts[at].replace(body, word), ""])


def _is_mocos(tensors: Mapping[str, Tensor], encoder: str, linear: Mapping[str, Tensor]) -> bool:
    """Whether a linear layer is MoCo-v1's head: by a name, or a queue (width, K) of embeddings."""
    if encoder.endswith(("encoder_q.", "encoder_k.")):
        return True
    queues = [own for name, own in tensors.items() if name.rpartition(".")[2] == "queue"]
    return any(len(queue) == len(own) for queue in queues for own in linear.values())
