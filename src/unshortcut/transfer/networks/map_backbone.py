"""An encoder as the backbone of a segmenter: its last maps, and earlier ones for a second head.

torchvision's `FCN` takes a backbone that returns maps named `out` and `aux`. These backbones are
views of the encoder: they consist of its own modules, so that its weights are the ones trained.
"""

from collections import OrderedDict
from dataclasses import dataclass

import torch
from timm.models.resnet import ResNet
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models._utils import IntermediateLayerGetter

from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder
from unshortcut.models.module_encoder import ModuleEncoder
from unshortcut.transfer.networks.any_size import take_any_size
from unshortcut.transfer.networks.dilation import dilate
from unshortcut.transfer.networks.unused import freeze_unused

RESNET_STRIDE = 8
"""Output stride of ResNets unless another one is asked for, as in the papers' FCN."""
_TRIAL_SIDE = 64


@dataclass(frozen=True)
class MapShape:
    """What heads on a backbone need to know."""

    out: int
    """Channels of the last map."""
    aux: int
    """Channels of the earlier map."""
    stride: int
    """Pixels of the image per cell of the last map, along each side."""


def prepare_backbone(encoder: Encoder, output_stride: int | None = None) -> MapShape:
    """Change an encoder in place so that it can be the `backbone` of a segmenter.

    A ResNet is dilated to `output_stride`, `RESNET_STRIDE` without one. A ViT accepts images of all
    sizes afterwards; its position embeddings are interpolated. Every other network keeps its own
    stride, usually 32, and takes no other. Raises `UsageError` for an encoder without maps.
    """
    model = encoder.model
    if not encoder.settings.plain or not hasattr(model, "forward_intermediates"):
        raise _unsupported(encoder)
    if isinstance(model, ResNet):
        dilate(model, RESNET_STRIDE if output_stride is None else output_stride)
    elif isinstance(model, VisionTransformer):
        take_any_size(model)
    elif getattr(getattr(model, "patch_embed", None), "strict_img_size", False):
        raise _unsupported(encoder)
    shape = _map_shape(encoder)
    if not isinstance(model, ResNet) and output_stride not in (None, shape.stride):
        raise UsageError(
            f"encoder '{encoder.settings.name}' has an output stride of {shape.stride}, which "
            f"cannot be changed to {output_stride}: only ResNets can be dilated; leave "
            "output_stride out"
        )
    return shape


def backbone(model: nn.Module) -> nn.Module:
    """Maps `out` and `aux` of images (N, 3, H, W), each (N, C, h, w), from a prepared model.

    For a ResNet they are the outputs of `layer4` and `layer3`, and the backbone is the one of
    torchvision's segmentation networks, whose names of parameters it has. For a ViT they are the
    normalized patch tokens after the last block and after two thirds of the blocks, for every other
    model of timm its last map and the one before.
    """
    if isinstance(model, ResNet):
        return IntermediateLayerGetter(model, {"layer4": "out", "layer3": "aux"})
    return IntermediateMaps(model)


class IntermediateMaps(nn.Module):
    """The backbone of a model that is not a plain chain of modules."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.patch = (1, 1)
        self.blocks = (-2, -1)
        if isinstance(model, VisionTransformer):
            depth = len(model.blocks)
            self.patch = model.patch_embed.patch_size
            self.blocks = (max(2 * depth // 3 - 1, 0), depth - 1)

    def forward(self, images: Tensor) -> dict[str, Tensor]:
        # Cells then cover the image exactly, as resizing their map to the image's size assumes.
        size = [
            max(round(side / patch), 1) * patch
            for side, patch in zip(images.shape[2:], self.patch, strict=True)
        ]
        if size != list(images.shape[2:]):
            images = F.interpolate(images, size, mode="bilinear", align_corners=False)
        maps = self.model.forward_intermediates(  # type: ignore[operator]
            images, indices=list(self.blocks), norm=True, intermediates_only=True
        )
        return OrderedDict(aux=maps[0], out=maps[-1])


def _map_shape(encoder: Encoder) -> MapShape:
    """Found with a trial image, since the stem of an encoder may not be the one timm built.

    Parameters on which the maps do not depend are not trained afterwards.
    """
    model = encoder.model
    weight = next(model.parameters())
    side = _TRIAL_SIDE
    image = torch.zeros(1, 3, side, side, device=weight.device, dtype=weight.dtype)
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.enable_grad():
            maps = backbone(model)(image)
            freeze_unused(model, maps.values())
    except (AssertionError, RuntimeError, TypeError):
        raise _unsupported(encoder) from None
    finally:
        for module, mode in modes.items():
            module.training = mode
    if isinstance(model, VisionTransformer):
        side = maps["out"].shape[-1] * model.patch_embed.patch_size[1]
    stride = side // maps["out"].shape[-1]
    return MapShape(maps["out"].shape[1], maps["aux"].shape[1], stride)


def _unsupported(encoder: Encoder) -> UsageError:
    own = isinstance(encoder, ModuleEncoder)
    name = "a module of your own" if own else f"encoder '{encoder.settings.name}'"
    return UsageError(
        f"{name} cannot be the backbone of a segmenter, which needs the "
        "feature maps of a single network for images of any size; choose a ResNet, a ViT, a "
        "ConvNeXt or another timm model with forward_intermediates"
    )
