"""Normalization: the formula to the bit, channels last."""

import torch

from unshortcut.inference.preprocessing import Preprocessing, normalize, stack


def test_every_level_of_every_channel_is_that_of_the_formula_to_the_bit() -> None:
    shown = Preprocessing(mean=(0.4, 0.5, 0.11), std=(0.21, 0.3, 0.47))
    images = torch.arange(256, dtype=torch.uint8).view(1, 1, 16, 16).repeat(2, 3, 1, 1)
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in (shown.mean, shown.std))
    expected = (images.float() / 255 - mean) / std
    for given in (images, images.contiguous(memory_format=torch.channels_last)):
        found = normalize(given, shown)
        assert torch.equal(found, expected)
        assert found.is_contiguous(memory_format=torch.channels_last)


def test_stacked_images_are_channels_last_views_of_their_pixels() -> None:
    pixels = torch.randint(0, 256, (3, 5, 4, 3), dtype=torch.uint8)
    stacked = stack([one.numpy() for one in pixels])
    assert torch.equal(stacked, pixels.permute(0, 3, 1, 2))
    assert stacked.is_contiguous(memory_format=torch.channels_last)
