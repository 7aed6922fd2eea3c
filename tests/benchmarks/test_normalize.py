"""Normalizing against torchvision's `ToTensor` and `Normalize`."""

import numpy as np
import torch
import torchvision.transforms.functional as functional
from benchmarks.normalize import to_float


def test_it_is_to_tensor_and_normalize() -> None:
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    images = np.random.default_rng(0).integers(0, 256, (3, 17, 23, 3), dtype=np.uint8)
    reference = torch.stack(
        [functional.normalize(functional.to_tensor(image), mean, std) for image in images]
    )
    floats = to_float(images, mean, std)
    assert floats.dtype == np.float32
    np.testing.assert_allclose(floats, reference.numpy(), atol=1e-5)
