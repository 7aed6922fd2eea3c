"""Our augmentations as transforms in torchvision's pipelines."""

import numpy as np
import PIL.Image
import pytest
import torch
from torchvision import tv_tensors
from torchvision.transforms import v2

from unshortcut.augmentations.augmentation import Pipeline, make_augmentation
from unshortcut.augmentations.torchvision import AsTransform
from unshortcut.randomness import generator


@pytest.fixture
def pipeline() -> Pipeline:
    crop = make_augmentation("random_resized_crop", {"size": 24})
    return Pipeline([crop, make_augmentation("color_jitter", {"p": 1.0})])


@pytest.fixture
def picture() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)


def test_pil_and_tensor_get_the_draw_of_the_key(pipeline: Pipeline, picture: np.ndarray) -> None:
    transform = AsTransform(pipeline)
    sampled = pipeline.sample(generator(7, 3), 40, 60)
    expected = pipeline.apply(picture, sampled)
    image = transform.keyed(PIL.Image.fromarray(picture), 7, 3)
    assert isinstance(image, PIL.Image.Image)
    np.testing.assert_array_equal(np.asarray(image), expected)
    tensor = transform.keyed(torch.from_numpy(picture).permute(2, 0, 1), 7, 3)
    np.testing.assert_array_equal(tensor.permute(1, 2, 0).numpy(), expected)


def test_the_draw_follows_torchs_seed(pipeline: Pipeline, picture: np.ndarray) -> None:
    transform = v2.Compose([v2.ToImage(), AsTransform(pipeline), v2.ToDtype(torch.float32, True)])
    views = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        views.append(transform(picture))
    assert isinstance(views[0], tv_tensors.Image)
    assert views[0].shape == (3, 24, 24)
    assert torch.equal(views[0], views[1])
    assert not torch.equal(views[0], views[2])
    assert not torch.equal(transform(picture), transform(picture))


def test_images_of_one_call_share_a_draw_and_labels_pass(
    pipeline: Pipeline, picture: np.ndarray
) -> None:
    image = PIL.Image.fromarray(picture)
    first, second, label = AsTransform(pipeline)(image, image, 5)
    np.testing.assert_array_equal(np.asarray(first), np.asarray(second))
    assert label == 5
    batch = torch.from_numpy(picture).permute(2, 0, 1).expand(2, 3, 40, 60)
    views = AsTransform(pipeline)({"image": batch, "name": "a"})
    assert views["image"].shape == (2, 3, 24, 24)
    assert torch.equal(views["image"][0], views["image"][1])
    assert views["name"] == "a"


def test_what_cannot_be_transformed_is_refused(pipeline: Pipeline) -> None:
    transform = AsTransform(pipeline)
    with pytest.raises(TypeError, match="uint8"):
        transform(torch.zeros(3, 40, 60))
    with pytest.raises(TypeError, match="Mask"):
        transform(tv_tensors.Mask(torch.zeros(40, 60, dtype=torch.uint8)))
    images = torch.zeros(3, 40, 60, dtype=torch.uint8), torch.zeros(3, 20, 60, dtype=torch.uint8)
    with pytest.raises(ValueError, match="one size"):
        transform(*images)


def test_a_single_augmentation_can_be_wrapped(picture: np.ndarray) -> None:
    flip = AsTransform(make_augmentation("horizontal_flip", {"p": 1.0}))
    np.testing.assert_array_equal(
        np.asarray(flip(PIL.Image.fromarray(picture))), np.fliplr(picture)
    )
    assert "HorizontalFlip" in repr(flip)
