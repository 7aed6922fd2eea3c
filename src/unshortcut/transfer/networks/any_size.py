"""ViTs of timm for images of other sizes than that which they were built for."""

from timm.layers import Format
from timm.models.vision_transformer import VisionTransformer


def take_any_size(vit: VisionTransformer) -> None:
    """Let a ViT take images of any size that its patches divide.

    Its position embeddings are resampled to the size of the images, as in a model that is created
    with `dynamic_img_size`. At its own size it computes what it did before.
    """
    vit.dynamic_img_size = True
    vit.patch_embed.strict_img_size = False
    vit.patch_embed.flatten = False
    vit.patch_embed.output_fmt = Format.NHWC
