"""Encoders: a timm model without its classifier, or a combination of such models."""

from collections.abc import Sequence
from typing import Any, Literal

import timm
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from unshortcut.errors import UsageError, unknown
from unshortcut.models.alexnet import alexnet_jigsaw  # noqa: F401 (importing registers it)
from unshortcut.models.branches import Branched
from unshortcut.models.color_split import ColorSplit
from unshortcut.models.heads import HiddenLayerSettings, WithHiddenLayers
from unshortcut.models.positions import sincos_positions
from unshortcut.models.token_linear import use_token_linear
from unshortcut.models.wide_resnet import wrn_40_2  # noqa: F401 (importing registers it)

INITIAL_ONLY = frozenset({"zero_init_last", "weight_init"})
"""Options of timm models that change the initial weights and nothing else."""


class EncoderSettings(BaseModel):
    """Which timm model to build, and how."""

    model_config = ConfigDict(extra="forbid")

    name: str = "resnet50"
    options: dict[str, Any] = {}
    """Further arguments of `timm.create_model`, e.g. `{layers: [1, 1, 1, 1]}`."""
    small_stem: bool = False
    """For small images: a 3×3 convolution of stride 1 as the stem, and no max-pooling (ResNets)."""
    color_split: bool = False
    """One network for lightness and one for color, each with half of the features (CMC)."""
    positions: Literal["learned", "sincos"] = "learned"
    """Positions of a ViT's patches: trained, or fixed sines and cosines as in MAE."""
    branches: int = Field(1, ge=1)
    """Number of copies of the last stage on a shared trunk; features are concatenated (LooC++)."""
    hidden_layers: HiddenLayerSettings | None = None
    """Layers on top whose outputs are the features: the spaces of an exported LooC run."""

    @property
    def plain(self) -> bool:
        """Whether it is a timm model as timm builds it."""
        return not self.color_split and self.branches == 1 and self.hidden_layers is None

    def trained(self) -> "EncoderSettings":
        """The settings that an encoder with trained weights needs: without `INITIAL_ONLY`.

        Fixed positions are among the weights, so that they need no setting either.
        """
        kept = {key: value for key, value in self.options.items() if key not in INITIAL_ONLY}
        return self.model_copy(update={"options": kept, "positions": "learned"})


class Encoder(nn.Module):
    """Maps images (N, 3, H, W) to features (N, dim).

    `self.model` is the bare timm model, whose state dict timm loads strictly, or the combination
    that `color_split`, `branches` or `hidden_layers` ask for. Weights and images are channels last
    in memory unless it says otherwise, which nearly doubles the speed of small convolutions on
    CPUs. The layout is not part of the weights: an exported encoder is loaded channels last.
    """

    memory_format: torch.memory_format = torch.channels_last
    checkpointed = False
    """Whether activations are recomputed in the backward pass (`models.checkpointing`)."""

    def __init__(self, settings: EncoderSettings, *, channels_last: bool = True) -> None:
        super().__init__()
        self.settings = settings
        if not channels_last:
            self.memory_format = torch.contiguous_format
        self.model = _create(settings, self.memory_format).to(memory_format=self.memory_format)
        use_token_linear(self.model)
        self.dim: int = getattr(self.model, "num_features")  # noqa: B009 (timm's, untyped)

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.model(images.contiguous(memory_format=self.memory_format))
        return features

    def set_normalization(self, mean: Sequence[float], std: Sequence[float]) -> None:
        """Set how images are normalized, for an encoder that restores their colors."""
        if isinstance(self.model, ColorSplit):
            self.model.set_normalization(mean, std)

    def features_and_maps(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Features (N, dim) and, as in `feature_maps`, those before pooling, in one forward pass.

        For encoders that are timm models as timm builds them (`EncoderSettings.plain`).
        """
        maps = self.feature_maps(images)
        features: Tensor = self.model.forward_head(maps)  # type: ignore[operator]
        return features, maps

    def feature_maps(self, images: Tensor) -> Tensor:
        """Features before pooling: (N, C, h, w), or (N, tokens, C) for a ViT."""
        images = images.contiguous(memory_format=self.memory_format)
        features: Tensor = self.model.forward_features(images)  # type: ignore[operator]
        return features


class NoEncoder(Encoder):
    """In the place of an encoder, for a method that trains none; it has no parameters."""

    def __init__(self, *, channels_last: bool = True) -> None:
        nn.Module.__init__(self)
        self.settings = EncoderSettings()
        self.model = nn.Identity()
        self.dim = 0
        if not channels_last:
            self.memory_format = torch.contiguous_format

    def forward(self, images: Tensor) -> Tensor:
        raise UsageError("this method trains no encoder, so there are no features")


def create_encoder(settings: EncoderSettings, seed: int) -> Encoder:
    """Create an encoder with initial weights that depend only on the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Encoder(settings)


def _create(settings: EncoderSettings, memory_format: torch.memory_format) -> nn.Module:
    if settings.hidden_layers is not None:
        below = settings.model_copy(update={"hidden_layers": None})
        return WithHiddenLayers(_create(below, memory_format), settings.hidden_layers)
    if settings.color_split and settings.branches > 1:
        raise UsageError("encoder.color_split and encoder.branches exclude each other")
    if settings.color_split:
        lightness, color = (_network(settings, channels) for channels in (1, 2))
        return ColorSplit(lightness, color, memory_format)
    networks = [_network(settings, channels=3) for _ in range(settings.branches)]
    return networks[0] if len(networks) == 1 else Branched(networks, settings.name)


def _network(settings: EncoderSettings, channels: int) -> nn.Module:
    if not timm.is_model(settings.name):
        raise unknown("encoder", settings.name, timm.list_models())
    options = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in settings.options.items()
    }
    try:
        model: nn.Module = timm.create_model(
            settings.name, pretrained=False, num_classes=0, in_chans=channels, **options
        )
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(
            f"encoder.options {settings.options} do not fit '{settings.name}': {error}"
        ) from error
    if settings.small_stem:
        _shrink_stem(model, settings.name)
    if settings.positions == "sincos":
        _fix_positions(model, settings.name)
    return model


def _fix_positions(model: nn.Module, name: str) -> None:
    """Replace the learned positions of a ViT by sines and cosines, which are not trained."""
    positions = getattr(model, "pos_embed", None)
    grid = getattr(getattr(model, "patch_embed", None), "grid_size", None)
    if not isinstance(positions, nn.Parameter) or positions.dim() != 3 or grid is None:
        raise UsageError(f"encoder.positions sincos is for ViTs with positions, not for '{name}'")
    _, tokens, width = positions.shape
    rows, columns = grid
    table = sincos_positions(rows, columns, width, prefix=tokens - rows * columns)
    model.pos_embed = nn.Parameter(table, requires_grad=False)


def _shrink_stem(model: nn.Module, name: str) -> None:
    stem = getattr(model, "conv1", None)
    if not isinstance(stem, nn.Conv2d) or not hasattr(model, "maxpool"):
        raise UsageError(f"encoder.small_stem is for ResNets with a plain stem, not for '{name}'")
    model.conv1 = nn.Conv2d(stem.in_channels, stem.out_channels, 3, stride=1, padding=1, bias=False)
    nn.init.kaiming_normal_(model.conv1.weight, mode="fan_out", nonlinearity="relu")
    model.maxpool = nn.Identity()
