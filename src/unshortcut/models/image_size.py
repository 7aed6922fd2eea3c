"""Whether a ViT takes images of a given size: a sentence before the run instead of a traceback."""

from timm.layers import PatchEmbed
from torch import nn

from unshortcut.errors import UsageError


def check_image_size(model: nn.Module, size: int | None) -> None:
    """Raise `UsageError` if views of `size` pixels are not images of a timm model with patches.

    Models without patches, and those built for any size (`dynamic_img_size`), take all of them.
    """
    embed = getattr(model, "patch_embed", None)
    if size is None or not isinstance(embed, PatchEmbed) or embed.img_size is None:
        return
    if not embed.dynamic_img_pad:
        check_patches((size, size), embed.patch_size)
    if embed.strict_img_size and embed.img_size != (size, size):
        raise other_size(size, embed.img_size)


def check_patches(image: tuple[int, int], patch: tuple[int, int]) -> None:
    """Raise `UsageError` unless patches divide the height and the width of images."""
    (height, width), (patch_height, patch_width) = image, patch
    if height % patch_height or width % patch_width:
        side = patch_height if patch_height == patch_width else f"{patch_height} × {patch_width}"
        raise UsageError(
            f"patches of {side} pixels do not divide images of {height} × {width}: choose another "
            "encoder.options.patch_size or views.size"
        )


def other_size(size: int, image: tuple[int, int]) -> UsageError:
    """The error for views of another size than the images of an encoder."""
    now = str(image[0]) if image[0] == image[1] else f"{image[0]} × {image[1]}"
    return UsageError(
        f"views.size {size} is not the image size of the encoder: set "
        f"encoder.options.img_size={size}, it is {now} now"
    )
