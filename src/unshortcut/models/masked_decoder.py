"""The decoder of masked autoencoders: from visible tokens to values of patches (MAE; CAN)."""

from functools import partial
from typing import NamedTuple

import torch
from timm.models.vision_transformer import Block
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.fields import PositiveInt
from unshortcut.imaging.patches import PatchGrid
from unshortcut.models.masking import PatchMask
from unshortcut.models.positions import sincos_positions
from unshortcut.models.token_linear import use_token_linear
from unshortcut.parts import settings

FREQUENCY_RANGE = 1e4
"""Ratio of the highest to the lowest of the frequencies that embed a noise level, approached with
many frequencies."""


@settings
class DecoderSettings:
    """A small transformer; the defaults are MAE's and CAN's."""

    width: PositiveInt = 512
    depth: PositiveInt = 8
    """Number of blocks."""
    heads: PositiveInt = 16

    def __post_init__(self) -> None:
        if self.width % 4:
            raise UsageError(
                f"method.decoder: width {self.width} must be a multiple of 4, for its positions"
            )
        if self.width % self.heads:
            raise UsageError(
                f"method.decoder: width {self.width} must be a multiple of heads {self.heads}"
            )


class Predicted(NamedTuple):
    """Predictions of a decoder, as far as it is asked for them."""

    visible: Tensor | None
    """(N, V, P), in the order of `PatchMask.visible`."""
    hidden: Tensor | None
    """(N, L - V, P), in the order of `PatchMask.hidden`."""


class MaskedDecoder(nn.Module):
    """Predicts P values for patches of an image, visible ones or hidden ones or both.

    Hidden patches enter as a learned token with their position, visible ones as their encoded
    tokens. Positions are fixed sines and cosines. With `noise_max`, every token is also told the
    standard deviation of the noise in the image.
    """

    positions: Tensor

    def __init__(
        self,
        settings: DecoderSettings,
        width_in: int,
        grid: PatchGrid,
        *,
        prefix: int,
        predict_visible: bool = False,
        predict_hidden: bool = True,
        noise_max: float | None = None,
    ) -> None:
        super().__init__()
        width = settings.width
        self.prefix = prefix
        self.predict_visible, self.predict_hidden = predict_visible, predict_hidden
        self.embed = nn.Linear(width_in, width)
        self.mask_token = nn.Parameter(torch.empty(1, 1, width))
        positions = sincos_positions(grid.rows, grid.columns, width)
        self.register_buffer("positions", positions, persistent=False)
        norm = partial(nn.LayerNorm, eps=1e-6)
        self.blocks = nn.Sequential(
            *(
                Block(width, settings.heads, qkv_bias=True, norm_layer=norm)
                for _ in range(settings.depth)
            )
        )
        self.norm = norm(width)
        self.output = nn.Linear(width, grid.values)
        self.noise_level = None if noise_max is None else NoiseLevel(width, noise_max)
        self.apply(_initialize)
        use_token_linear(self)
        nn.init.normal_(self.mask_token, std=0.02)

    def forward(
        self, tokens: Tensor, mask: PatchMask, noise_std: Tensor | None = None
    ) -> Predicted:
        """Predictions from tokens (N, prefix + V, C), as `visible_tokens` gives them.

        noise_std: (N,), the standard deviation of the noise in each image.
        """
        # Positions say where a token belongs, so visible and hidden ones need not change places.
        first_hidden = self.prefix + mask.visible.shape[1]
        prefix, visible = self.embed(tokens).split([self.prefix, mask.visible.shape[1]], dim=1)
        visible = visible + F.embedding(mask.visible, self.positions[0])
        hidden = self.mask_token.to(prefix.dtype) + F.embedding(mask.hidden, self.positions[0])
        joined = torch.cat([prefix, visible, hidden], dim=1)
        if self.noise_level is not None and noise_std is not None:
            joined = joined + self.noise_level(noise_std)[:, None]
        decoded = self.blocks(joined)
        return Predicted(
            self._values(decoded[:, self.prefix : first_hidden]) if self.predict_visible else None,
            self._values(decoded[:, first_hidden:]) if self.predict_hidden else None,
        )

    def _values(self, decoded: Tensor) -> Tensor:
        values: Tensor = self.output(self.norm(decoded))
        return values


class NoiseLevel(nn.Module):
    """Embeds standard deviations (N,) from 0 to `largest` as vectors (N, width).

    Sines and cosines of geometrically spaced frequencies, then two layers, as diffusion models
    embed their step. The level is first scaled to 0 to 1000, the range of those steps.
    """

    frequencies: Tensor

    def __init__(self, width: int, largest: float) -> None:
        super().__init__()
        self.scale = 1000 / largest
        falling = -torch.arange(width // 2) / (width // 2)
        self.register_buffer("frequencies", FREQUENCY_RANGE**falling, persistent=False)
        self.layers = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, noise_std: Tensor) -> Tensor:
        phases = noise_std[:, None] * self.scale * self.frequencies  # (N, width / 2)
        embedded: Tensor = self.layers(torch.cat([phases.sin(), phases.cos()], dim=1))
        return embedded


def _initialize(module: nn.Module) -> None:
    """Weights as in MAE: Xavier's uniform distribution, biases 0."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)
