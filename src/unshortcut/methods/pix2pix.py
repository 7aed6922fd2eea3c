"""Pix2Pix (Isola et al. 2017): a network that learns a filter, here one that suppresses texture.

Section 2.3.2 of the dissertation: from photographs to their Perona–Malik diffused versions. What is
trained is the generator, which is then a filter for data sets and an augmentation; there is no
encoder.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.augmentations.anisotropic_diffusion import AnisotropicDiffusion
from unshortcut.augmentations.augmentation import AnyAugmentation
from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber
from unshortcut.losses.adversarial import discriminator_loss, fooling_loss
from unshortcut.methods.alternating import AlternatingMethod, Turn, frozen
from unshortcut.methods.method import MethodSettings, TrainingContext
from unshortcut.methods.optimization import OptimizerSettings
from unshortcut.methods.step import Batch
from unshortcut.models.encoder import Encoder
from unshortcut.parts import part_to_mapping, settings
from unshortcut.translation.discriminator import DiscriminatorSettings, PatchDiscriminator
from unshortcut.translation.generator import AnyGenerator, Generator, GeneratorSettings
from unshortcut.translation.trained import (
    GENERATOR_FILE,
    GeneratorCard,
    save_generator,
    to_pixels,
)
from unshortcut.translation.unet import UNetSettings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented
from unshortcut.views.transforms.filtered import Filtered


@settings
class TranslationSettings(MethodSettings):
    """Settings that the training of a generator has, alone or with a classifier."""

    generator: AnyGenerator = UNetSettings()
    discriminator: DiscriminatorSettings = DiscriminatorSettings()
    target: AnyAugmentation = AnisotropicDiffusion(iterations=20, p=1.0)
    """The filter to learn; it is applied to the finished view."""
    l1: NonNegativeNumber = 100.0
    """Weight of the mean absolute difference from the target, on the scale of −1 to 1."""
    gan: NonNegativeNumber = 1.0
    """Weight of the adversarial loss; with 0 there is no discriminator."""

    def __post_init__(self) -> None:
        if not self.l1 and not self.gan:
            raise UsageError(f"method '{self.name}': 'l1' and 'gan' must not both be 0")

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"input": Augmented(), "target": Filtered(self.target)}


@settings
class Pix2PixSettings(TranslationSettings):
    """The defaults are the published ones: a U-Net with a 70 × 70 PatchGAN and 100 · L1."""

    name = "pix2pix"
    has_encoder = False
    smallest_batch = 1

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "Pix2Pix":
        size = None if training is None else training.size
        generator = self.generator.fitted(size)
        if size is not None:
            generator.check(size)
        return Pix2Pix(self, generator, encoder, training)


class Translation(AlternatingMethod):
    """A generator, and a discriminator unless its weight is 0.

    Views are normalized by the recipe's mean and std, as an encoder needs them; the two networks
    see images on the scale of −1 to 1 (`signed`).
    """

    signed_scale: Tensor
    signed_shift: Tensor

    def __init__(
        self,
        settings: TranslationSettings,
        generator: GeneratorSettings,
        encoder: Encoder,
        training: TrainingContext | None,
    ) -> None:
        super().__init__(encoder, training)
        self.settings = settings
        self.generator_settings = generator
        layout: Any = {"memory_format": encoder.memory_format}
        self.generator: Generator = generator.build().to(**layout)
        self.discriminator: PatchDiscriminator | None = None
        if settings.gan:
            if self.training_context.size is not None:
                settings.discriminator.check(self.training_context.size)
            self.discriminator = PatchDiscriminator(settings.discriminator).to(**layout)
        mean, std = (
            torch.tensor(values).view(1, 3, 1, 1)
            for values in (self.training_context.mean, self.training_context.std)
        )
        self.register_buffer("signed_scale", 2 * std, persistent=False)
        self.register_buffer("signed_shift", 2 * mean - 1, persistent=False)

    def signed(self, view: Tensor) -> Tensor:
        """A normalized view (N, 3, H, W) on the scale of −1 to 1."""
        return view * self.signed_scale + self.signed_shift

    def normalized(self, image: Tensor) -> Tensor:
        """An image on the scale of −1 to 1 (N, 3, H, W) as a normalized view."""
        return (image - self.signed_shift) / self.signed_scale

    def discriminator_turns(
        self, photo: Tensor, generated: Tensor, target: Tensor
    ) -> Iterator[Turn]:
        """The discriminator's turn, if there is one: images (N, 3, H, W) from −1 to 1."""
        if self.discriminator is None:
            return
        real = self.discriminator(photo, target)
        fake = self.discriminator(photo, generated.detach())
        loss = discriminator_loss(real, fake)
        metrics = {
            "discriminator": loss.detach(),
            "right_real": (real > 0).float().mean(),
            "right_generated": (fake < 0).float().mean(),
        }
        yield Turn(("discriminator",), loss, metrics)

    def translation_loss(
        self, photo: Tensor, generated: Tensor, target: Tensor
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The generator's loss, gan · GAN + l1 · L1, and its parts for the log."""
        l1 = F.l1_loss(generated, target)
        metrics = {"l1": l1.detach(), "psnr": psnr(generated.detach(), target)}
        loss = self.settings.l1 * l1
        if self.discriminator is not None:
            with frozen(self.discriminator):
                fooling = fooling_loss(self.discriminator(photo, generated))
            loss = loss + self.settings.gan * fooling
            metrics["gan"] = fooling.detach()
        return loss, metrics

    @property
    def makes_pictures(self) -> bool:
        return True

    @torch.no_grad()
    def pictures(self, views: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The photograph, what the generator makes of it in use, and the target."""
        photo, was_training = self.signed(views["input"]), self.generator.training
        self.generator.eval()
        generated = self.generator(photo)
        self.generator.train(was_training)
        images = {"input": photo, "output": generated, "target": self.signed(views["target"])}
        return {title: to_pixels(image) for title, image in images.items()}

    def export(self, folder: Path, about: Mapping[str, Any]) -> None:
        """Write the generator, which is then a filter."""
        card = GeneratorCard(
            generator=self.generator_settings,
            size=self.training_context.size,
            target=part_to_mapping(self.settings.target),
            **about,
        )
        save_generator(self.generator, card, folder / GENERATOR_FILE)


class Pix2Pix(Translation):
    """The generator's loss is GAN + 100 · L1, and the discriminator's counts half (section 3)."""

    def networks(self) -> dict[str, tuple[nn.Module, OptimizerSettings]]:
        optimizer = self.training_context.optimizer
        found: dict[str, tuple[nn.Module, OptimizerSettings]] = {
            "generator": (self.generator, optimizer)
        }
        if self.discriminator is not None:
            found["discriminator"] = (self.discriminator, optimizer)
        return found

    def turns(self, batch: Batch) -> Iterator[Turn]:
        photo, target = self.signed(batch.views["input"]), self.signed(batch.views["target"])
        generated = self.generator(photo)
        yield from self.discriminator_turns(photo, generated, target)
        loss, metrics = self.translation_loss(photo, generated, target)
        yield Turn(("generator",), loss, metrics)

    def embed(self, images: Tensor) -> Tensor:
        raise UsageError("method 'pix2pix' trains a filter and no encoder: it has no embedding")


def psnr(images: Tensor, targets: Tensor) -> Tensor:
    """Mean peak signal-to-noise ratio in decibels; both (N, 3, H, W) on the scale of −1 to 1.

    >>> psnr(torch.full((1, 3, 2, 2), 0.2), torch.zeros(1, 3, 2, 2))
    tensor(20.)
    """
    errors = (images.clamp(-1, 1) - targets).square().mean(dim=(1, 2, 3)).clamp(min=1e-10)
    return (10 * torch.log10(4 / errors)).mean()
