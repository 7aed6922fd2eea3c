"""The base of methods that hide patches: networks, draws, and pictures of what is predicted."""

from collections.abc import Mapping
from functools import cached_property

import torch
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.imaging.patches import PatchGrid, mean_and_scale, put, take
from unshortcut.methods.corruption import Corruption, Corruptor
from unshortcut.methods.method import Method
from unshortcut.models.masked_decoder import DecoderSettings, MaskedDecoder, Predicted
from unshortcut.models.masked_network import MaskedNetwork, MaskedOutput
from unshortcut.models.masked_vit import check_norm, patch_grid, vit_of
from unshortcut.models.masking import count_visible

_GRAY = 127.5
"""The level of hidden patches in pictures, and of no noise."""
_NOISE_RANGE = 3.0
"""Pictures of noise are black and white at this many of its largest standard deviations."""


class MaskedMethod(Method):
    """A method whose encoder sees some of the patches, with or without noise.

    It has no `__init__`, so that it combines with another base: call `build_masked` after that of
    the other.
    """

    corruptor: Corruptor
    decoder: MaskedDecoder | None
    standardizes: bool
    """Whether predicted patches have mean 0 and variance 1."""
    standardizes_noise: bool
    """Whether predicted noise does."""

    def build_masked(
        self,
        mask_ratio: float,
        decoder: DecoderSettings,
        *,
        standardize: bool,
        predict_pixels: bool = True,
        noise_max: float | None = None,
        standardize_noise: bool = False,
    ) -> None:
        """Check the encoder and the size of its images, and build the decoder.

        There is none if neither pixels nor noise, of up to `noise_max`, are to be predicted.
        """
        grid = patch_grid(self.encoder, self.training_context.size)
        num_visible = count_visible(grid.count, mask_ratio)
        if predict_pixels and num_visible == grid.count:
            raise UsageError(
                f"method.mask_ratio {mask_ratio:g} hides none of the {grid.count} patches of an "
                "image, so that there are no pixels to predict"
            )
        self.corruptor = Corruptor(grid, num_visible, noise_max)
        self.standardizes, self.standardizes_noise = standardize, standardize_noise
        self.decoder = None
        if predict_pixels or noise_max is not None:
            check_norm(self.encoder)
            self.decoder = MaskedDecoder(
                decoder,
                self.encoder.dim,
                grid,
                prefix=vit_of(self.encoder).num_prefix_tokens,
                predict_visible=noise_max is not None,
                predict_hidden=predict_pixels,
                noise_max=noise_max,
            )

    @property
    def grid(self) -> PatchGrid:
        """How images are cut into patches."""
        return self.corruptor.grid

    # `cached_property` does not register it as a module, so every weight has one name.
    @cached_property
    def network(self) -> MaskedNetwork:
        """Encoder and decoder, which share their parameters with this method."""
        return MaskedNetwork(self.encoder, self.decoder)

    @property
    def joint_networks(self) -> tuple[nn.Module, ...]:
        return (self.network,)

    def draw(self, images: Tensor, view: str) -> Corruption:
        """The corruption of a view (N, 3, H, W) in this step."""
        seed, step = self.training_context.seed, int(self.batches_seen)
        return self.corruptor.draw(images, seed, step, view)

    @property
    def makes_pictures(self) -> bool:
        return self.decoder is not None

    @torch.no_grad()
    def pictures(self, views: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The first view, what the encoder sees of it, and what is predicted.

        Masks and noise are the same in every epoch. Where patches or noise are predicted with mean
        0 and variance 1, they are shown with those of the image, as in MAE's figures.
        """
        images = views["query"]
        corruption = self.corruptor.draw(images, self.training_context.seed, "pictures")
        patches = self.grid.cut(images)  # (N, L, P)
        seen = corruption.seen(patches)  # (N, V, P)
        was_training = self.training
        self.eval()
        try:
            output: MaskedOutput = self.network(seen, corruption.mask, corruption.noise_std)
        finally:
            self.train(was_training)
        return self._drawn(patches, seen, corruption, output.predicted)

    def _drawn(
        self, patches: Tensor, seen: Tensor, corruption: Corruption, predicted: Predicted
    ) -> dict[str, Tensor]:
        grid, noise_max, mask = self.grid, self.corruptor.noise_max, corruption.mask
        hidden = grid.join(mask.is_hidden()[:, :, None].expand_as(patches))  # (N, 3, H, W)

        def in_place(visible: Tensor) -> Tensor:
            """Visible patches (N, V, P) among the others of the images, as images."""
            return grid.join(put(patches, mask.visible, visible))

        def on_gray(levels: Tensor) -> Tensor:
            """Images (N, 3, H, W) with levels of 0 to 255, as uint8, with hidden patches gray."""
            return _uint8(torch.where(hidden, _GRAY, levels))

        shown = {
            "input": _uint8(self.to_pixels(grid.join(patches))),
            "seen": on_gray(self.to_pixels(in_place(seen))),
        }
        if predicted.hidden is not None:
            values = predicted.hidden
            if self.standardizes:
                mean, scale = mean_and_scale(take(patches, mask.hidden))
                values = values * scale + mean
            completed = grid.join(put(patches, mask.hidden, values))
            shown["reconstruction"] = _uint8(self.to_pixels(completed))
        if predicted.visible is not None and corruption.noise is not None and noise_max is not None:
            strength = _GRAY / (_NOISE_RANGE * noise_max)
            guessed = predicted.visible
            if self.standardizes_noise:
                mean, scale = mean_and_scale(corruption.noise)
                guessed = guessed * scale + mean
            shown["noise"] = on_gray(_GRAY + strength * in_place(corruption.noise))
            shown["predicted noise"] = on_gray(_GRAY + strength * in_place(guessed))
        return shown


def _uint8(pixels: Tensor) -> Tensor:
    return pixels.round().clamp(0, 255).to(torch.uint8)
