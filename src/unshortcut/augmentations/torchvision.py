"""Augmentations as torchvision-v2 transforms, for use in other pipelines."""

from collections.abc import Callable
from typing import Any

import numpy as np
import PIL.Image
import torch
from torch.utils import _pytree as pytree
from torchvision import tv_tensors
from torchvision.transforms import v2

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation, Pipeline, requested_variant
from unshortcut.randomness import Key, Rng, generator


class AsTransform(v2.Transform):
    """Applies an augmentation or a pipeline to PIL images and uint8 tensors (..., 3, H, W).

    As with torchvision's own transforms, all images of one call get the same parameters, and other
    inputs (a label, a name) pass through. Sampling follows torch's random state, so seeding torch
    and its workers works as usual; `keyed` samples by a key instead.

    >>> crop = AsTransform(make_augmentation("random_resized_crop", {"size": 96}))
    >>> view = v2.Compose([crop, v2.RandomErasing()])(tensor)
    """

    def __init__(self, augmentation: Augmentation | Pipeline) -> None:
        super().__init__()
        self.augmentation = augmentation

    def forward(self, *inputs: Any) -> Any:
        seed = int(torch.randint(2**62, ()))
        return self._apply(inputs[0] if len(inputs) == 1 else inputs, generator(seed))

    def keyed(self, inputs: Any, *key: Key) -> Any:
        """Sample by a key, e.g. `transform.keyed(image, seed, epoch, index)`."""
        return self._apply(inputs, generator(*key))

    def extra_repr(self) -> str:
        return repr(self.augmentation)

    def _apply(self, inputs: Any, rng: Rng) -> Any:
        leaves, structure = pytree.tree_flatten(inputs)
        size: tuple[int, int] | None = None
        sampled: Any = None
        for index, leaf in enumerate(leaves):
            if not _is_image(leaf):
                continue
            arrays, back = _to_arrays(leaf)
            if size is None:
                size = arrays.shape[1], arrays.shape[2]
                sampled = self.augmentation.sample(rng, *size)
                if requested_variant(sampled) is not None:
                    raise ValueError("a copy of a data set can be read in a view plan only")
            elif size != arrays.shape[1:3]:
                raise ValueError("the images of one call must have one size")
            leaves[index] = back(np.stack([self.augmentation.apply(a, sampled) for a in arrays]))
        return pytree.tree_unflatten(leaves, structure)


def _is_image(leaf: Any) -> bool:
    if isinstance(leaf, tv_tensors.TVTensor) and not isinstance(leaf, tv_tensors.Image):
        raise TypeError(f"only images can be transformed here, not {type(leaf).__name__}")
    return isinstance(leaf, PIL.Image.Image | torch.Tensor)


def _to_arrays(
    image: PIL.Image.Image | torch.Tensor,
) -> tuple[ImageArray, Callable[[ImageArray], Any]]:
    """The image as uint8 (n, H, W, 3), and a function that converts such an array back."""
    if isinstance(image, PIL.Image.Image):
        return np.array(image.convert("RGB"))[None], lambda out: PIL.Image.fromarray(out[0])
    if image.dtype != torch.uint8 or image.ndim < 3 or image.shape[-3] != 3:
        raise TypeError(
            f"a tensor must be uint8 (..., 3, H, W), not {image.dtype} {tuple(image.shape)}"
        )
    leading = image.shape[:-3]
    arrays = image.reshape(-1, *image.shape[-3:]).permute(0, 2, 3, 1).cpu().numpy()

    def back(out: ImageArray) -> torch.Tensor:
        tensor = torch.from_numpy(out).permute(0, 3, 1, 2).contiguous()
        tensor = tensor.reshape(*leading, *tensor.shape[1:]).to(image.device)
        return (
            tv_tensors.wrap(tensor, like=image) if isinstance(image, tv_tensors.Image) else tensor
        )

    return arrays, back
