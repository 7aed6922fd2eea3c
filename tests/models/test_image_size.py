"""Whether a ViT takes images of a size: against timm itself, and in a recipe."""

import pytest
import timm
import torch
from torch import nn

from unshortcut import load_recipe
from unshortcut.errors import UsageError
from unshortcut.models.image_size import check_image_size
from unshortcut.training.pretraining import build_method

TINY = {"embed_dim": 12, "depth": 1, "num_heads": 2}
CASES = {
    "its own size": ({"img_size": 24, "patch_size": 8}, 24, True),
    "another size": ({"img_size": 24, "patch_size": 8}, 32, False),
    "any size": ({"img_size": 24, "patch_size": 8, "dynamic_img_size": True}, 32, True),
    "any size that the patches divide": (
        {"img_size": 24, "patch_size": 8, "dynamic_img_size": True}, 30, False,
    ),
    "any size, padded": (
        {"img_size": 24, "patch_size": 8, "dynamic_img_size": True, "dynamic_img_pad": True},
        30,
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_refused_is_what_timm_cannot_do(case: str) -> None:
    options, size, allowed = CASES[case]
    model = timm.create_model("vit_tiny_patch16_224", num_classes=0, **TINY, **options).eval()
    images = torch.zeros(1, 3, size, size)
    if allowed:
        check_image_size(model, size)
        model(images)
        return
    with pytest.raises(AssertionError):
        model(images)
    with pytest.raises(UsageError):
        check_image_size(model, size)


def test_pixels_that_timm_would_drop_in_silence_are_refused() -> None:
    model = timm.create_model("vit_tiny_patch16_224", img_size=24, patch_size=7, **TINY)
    model(torch.zeros(1, 3, 24, 24))
    with pytest.raises(UsageError, match="patches of 7 pixels do not divide images of 24 × 24"):
        check_image_size(model, 24)


def test_other_networks_and_unknown_sizes_are_not_asked() -> None:
    check_image_size(nn.Conv2d(3, 4, 3), 17)
    check_image_size(timm.create_model("resnet18"), 17)
    check_image_size(timm.create_model("vit_tiny_patch16_224", img_size=24, **TINY), None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("encoder.options.patch_size=7", "patches of 7 pixels do not divide images of 64"),
        ("views.size=48", "views.size 48 is not the image size .* encoder.options.img_size=48"),
    ],
)
def test_a_recipe_without_masks_says_it_before_the_run(change: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build_method(load_recipe("simclr-vit-shapes", [change]))
