"""MAE, CAN and SimCLR on ViTs: the published settings, number by number."""

import pytest

from unshortcut import load_recipe
from unshortcut.methods.can import CANSettings
from unshortcut.methods.mae import MAESettings
from unshortcut.methods.simclr import SimCLRSettings
from unshortcut.recipes.schema import Recipe

VITS = {
    "b": "vit_base_patch16_224",
    "l": "vit_large_patch16_224",
    "h": "vit_huge_patch14_224",
}


def recipe(method: str, size: str) -> Recipe:
    return load_recipe(f"{method}-vit-{size}-imagenet")


@pytest.mark.parametrize("size", list(VITS))
@pytest.mark.parametrize(("method", "rate"), [("mae", 0.0024), ("can", 0.004), ("simclr", 0.004)])
def test_encoder_optimizer_and_schedule(method: str, rate: float, size: str) -> None:
    chosen = recipe(method, size)
    assert (chosen.encoder.name, chosen.encoder.positions) == (VITS[size], "sincos")
    assert (chosen.data.batch_size, chosen.views.size) == (4096, 224)
    optimizer = chosen.optimizer
    assert (optimizer.name, optimizer.lr, optimizer.weight_decay) == ("adamw", rate, 0.05)
    assert optimizer.options == {"betas": [0.9, 0.95]} and not optimizer.decay_norm_and_bias
    schedule = chosen.schedule
    epochs = 1600 if (method, size) == ("mae", "b") else 800
    assert (schedule.epochs, schedule.warmup_epochs, schedule.kind) == (epochs, 40, "cosine")


@pytest.mark.parametrize("size", list(VITS))
def test_mae_hides_three_quarters_and_predicts_standardized_patches(size: str) -> None:
    settings = recipe("mae", size).method
    assert isinstance(settings, MAESettings)
    assert (settings.mask_ratio, settings.standardize) == (0.75, True)
    decoder = settings.decoder
    assert (decoder.width, decoder.depth, decoder.heads) == (512, 8, 16)
    crop, flip = recipe("mae", size).views.augmentations
    assert (crop.name, flip.name) == ("random_resized_crop", "horizontal_flip")
    assert crop.scale == (0.2, 1.0)  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", list(VITS))
def test_can_hides_half_adds_noise_and_has_the_weights_of_the_code(size: str) -> None:
    settings = recipe("can", size).method
    assert isinstance(settings, CANSettings)
    assert (settings.mask_ratio, settings.noise_max) == (0.5, 0.05)
    assert settings.standardize and settings.loss.temperature == 0.1  # type: ignore[union-attr]
    weights = (settings.contrast, settings.reconstruct, settings.denoise)
    assert weights == pytest.approx((0.03, 0.97 * 0.7, 0.97 * 0.3))
    decoder = settings.decoder
    assert (decoder.width, decoder.depth, decoder.heads) == (512, 8, 16)
    head = (settings.head_layers, settings.hidden, settings.dim, settings.head_batch_norm)
    assert head == (3, 4096, 128, "hidden")
    mocos = load_recipe("moco-v2-imagenet").views.augmentations
    assert recipe("can", size).views.augmentations == mocos


@pytest.mark.parametrize("size", list(VITS))
def test_simclr_sees_the_views_of_can_with_its_temperature(size: str) -> None:
    chosen = recipe("simclr", size)
    assert isinstance(chosen.method, SimCLRSettings) and not isinstance(chosen.method, CANSettings)
    assert chosen.method.loss.temperature == 0.1  # type: ignore[union-attr]
    assert chosen.views == recipe("can", size).views
