"""Feature maps of encoders in one layout, with the pooled features of the same forward pass."""

import math

import torch
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder

_TRIAL_SIDE = 64
"""Side of the trial image of a network that does not name its usual size."""


def features_and_map(encoder: Encoder, images: Tensor) -> tuple[Tensor, Tensor]:
    """Features (N, dim), pooled as in `Encoder.forward`, and the map (N, C, h, w) before pooling.

    The encoder runs once. A ViT's map consists of its patch tokens.
    """
    features, outputs = encoder.features_and_maps(images)
    return features, to_map(outputs, encoder, images.shape[2], images.shape[3])


def to_map(outputs: Tensor, encoder: Encoder, height: int, width: int) -> Tensor:
    """Bring what an encoder computes before pooling to (N, C, h, w), without a copy.

    timm's models return maps, maps with channels last (Swin) or tokens row by row, after the class
    token and registers. Raises `UsageError` if it is none of them.

    height, width: size of the images.
    """
    model = encoder.model
    if isinstance(outputs, Tensor) and outputs.dim() == 4:
        channels_last = getattr(model, "output_fmt", None) == "NHWC"
        return outputs.permute(0, 3, 1, 2) if channels_last else outputs
    if isinstance(outputs, Tensor) and outputs.dim() == 3:
        known = getattr(model, "num_prefix_tokens", None)
        for others in (0, 1) if known is None else (known,):
            count = outputs.shape[1] - others
            rows, columns = (round(math.sqrt(count * ratio)) for ratio in _ratios(height, width))
            if rows * columns == count:
                return outputs[:, others:].transpose(1, 2).unflatten(2, (rows, columns))
    raise _no_map(encoder)


def map_channels(encoder: Encoder) -> int:
    """The number of channels of an encoder's feature map; `UsageError` if it has no map.

    Found by encoding an image of the encoder's usual size, because timm does not state which of its
    models end in a map of several cells.
    """
    if not encoder.settings.plain:
        raise UsageError(
            "dense methods need the feature map of a single network: they exclude "
            "encoder.color_split, encoder.branches and encoder.hidden_layers"
        )
    model = encoder.model
    if not hasattr(model, "forward_features") or not hasattr(model, "forward_head"):
        raise _no_map(encoder)
    weight = next(model.parameters())
    image = torch.zeros(1, 3, *_usual_size(model), device=weight.device, dtype=weight.dtype)
    mode = model.training
    model.eval()
    try:
        with torch.no_grad():
            _, channels, rows, columns = features_and_map(encoder, image)[1].shape
    finally:
        model.train(mode)
    if rows * columns < 2:
        raise _no_map(encoder)
    return channels


def _ratios(height: int, width: int) -> tuple[float, float]:
    return height / width, width / height


def _usual_size(model: nn.Module) -> tuple[int, int]:
    """Height and width of the images that a model of timm is made for."""
    size = getattr(getattr(model, "patch_embed", None), "img_size", None)
    if size is None:
        config = getattr(model, "pretrained_cfg", {})
        _, *size = config.get("input_size", (3, _TRIAL_SIDE, _TRIAL_SIDE))
    height, width = size
    return height, width


def _no_map(encoder: Encoder) -> UsageError:
    return UsageError(
        f"encoder '{encoder.settings.name}' has no feature map, which dense methods compare cell "
        "by cell; choose a ResNet, a ViT or another encoder that has one"
    )
