import numpy as np
import pytest

from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.augmentations.horizontal_flip import HorizontalFlip
from unshortcut.augmentations.random_resized_crop import RandomResizedCrop
from unshortcut.augmentations.resize import Resize
from unshortcut.augmentations.rotation import Rotation
from unshortcut.data.decode import EncodedImage
from unshortcut.data.objects import ImageWithObjects
from unshortcut.data.source import ArrayImage, Image
from unshortcut.errors import UsageError
from unshortcut.imaging.geometry import resize_box
from unshortcut.views.objects import ObjectViews
from unshortcut.views.plan import OBJECTS, ViewPlan
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented
from unshortcut.views.transforms.leave_one_out import Sharing
from unshortcut.views.transforms.of_region import OfRegion
from unshortcut.views.transforms.textured import Textured
from unshortcut.views.transforms.tiled import TiledView

SIDE = 8
WHOLE = [Resize((SIDE, SIDE))]
PAIR: dict[str, ViewTransform] = {"query": Augmented(), "key": Augmented()}
BOXES = np.array([[20, 30, 60, 50]], np.float32)
DILATED = (28, 16, 24, 48)  # top, left, height, width: 0.1 of 40 × 20 on every side


def picture(height: int = 100, width: int = 120) -> Image:
    rng = np.random.default_rng(0)
    return ArrayImage(rng.integers(256, size=(height, width, 3), dtype=np.uint8))


def plan(
    objects: ObjectViews,
    transforms: dict[str, ViewTransform] = PAIR,
    augmentations: list[Augmentation] | None = None,
    **overrides: list[Augmentation],
) -> ViewPlan:
    return ViewPlan(transforms, augmentations or list(WHOLE), overrides, objects=objects)


def views(made: ViewPlan, boxes: np.ndarray = BOXES, epoch: int = 0) -> dict[str, np.ndarray]:
    return made(ImageWithObjects(picture(), boxes), 0, epoch, 0)


def cut(region: tuple[int, int, int, int]) -> np.ndarray:
    return resize_box(picture().pixels(), region, SIDE, SIDE)


def test_the_query_shows_the_object_and_the_key_the_dilated_object() -> None:
    made = views(plan(ObjectViews(dilation=0.1, window=0, swap=0)))
    np.testing.assert_array_equal(made["query"], cut((30, 20, 20, 40)))
    np.testing.assert_array_equal(made["key"], cut(DILATED))


def test_query_and_key_change_places_with_their_augmentations() -> None:
    flipped: list[Augmentation] = [*WHOLE, HorizontalFlip(p=1)]
    for swap in (0, 1):
        made = views(plan(ObjectViews(dilation=0.1, window=0, swap=swap), query=flipped))
        ours, theirs = ("query", "key") if swap == 0 else ("key", "query")
        np.testing.assert_array_equal(made[ours], cut((30, 20, 20, 40))[:, ::-1])
        np.testing.assert_array_equal(made[theirs], cut(DILATED))


def test_half_of_the_pairs_change_places_by_default() -> None:
    made = plan(ObjectViews(window=0))
    first = cut((30, 20, 20, 40))
    swapped = [not np.array_equal(views(made, epoch=e)["query"], first) for e in range(200)]
    assert 70 < sum(swapped) < 130


def test_object_and_scene_and_both_objects() -> None:
    made = views(plan(ObjectViews(key="scene", window=0, swap=0)))
    np.testing.assert_array_equal(made["key"], cut((0, 0, 100, 120)))
    made = views(plan(ObjectViews(key="object", window=0)))
    np.testing.assert_array_equal(made["key"], made["query"])


def test_every_object_is_drawn_and_a_chosen_one_always() -> None:
    boxes = np.array([[0, 0, 30, 30], [50, 50, 90, 90]], np.float32)
    made = plan(ObjectViews(window=0, swap=0))
    crops = [cut((0, 0, 30, 30)), cut((50, 50, 40, 40))]
    drawn = [views(made, boxes, epoch)["query"] for epoch in range(40)]
    shares = [sum(np.array_equal(one, crop) for one in drawn) for crop in crops]
    assert sum(shares) == 40
    assert min(shares) > 8
    for epoch in range(5):
        image = ImageWithObjects(picture(), boxes, chosen=1)
        np.testing.assert_array_equal(made(image, 0, epoch, 0)["query"], crops[1])


def test_an_image_without_objects_gives_views_of_the_scene_and_says_so() -> None:
    objects = plan(ObjectViews(), augmentations=[RandomResizedCrop(SIDE)])
    plain = ViewPlan(PAIR, [RandomResizedCrop(SIDE)])
    for image in (ImageWithObjects(picture(), BOXES[:0]), picture()):
        made = objects(image, 0, 3, 7)
        assert made.metadata[OBJECTS].tolist() == [False]
        for name, view in plain(picture(), 0, 3, 7).items():
            np.testing.assert_array_equal(made[name], view)
    assert views(objects).metadata[OBJECTS].tolist() == [True]  # type: ignore[attr-defined]


def test_groups_are_unions_of_boxes_with_the_object() -> None:
    transforms: dict[str, ViewTransform] = {
        "object": OfRegion(role="box"),
        "scene": OfRegion(role="group"),
    }
    boxes = np.array([[0, 0, 10, 10], [80, 80, 90, 90], [100, 0, 120, 20]], np.float32)
    made = plan(ObjectViews(window=50), transforms)
    pairs = {}
    for epoch in range(60):
        found = views(made, boxes, epoch)
        pairs[found["object"].tobytes(), found["scene"].tobytes()] = found
    objects = [cut((0, 0, 10, 10)), cut((80, 80, 10, 10)), cut((0, 100, 20, 20))]
    unions = {
        (0, 1): cut((0, 0, 90, 90)),
        (0, 2): cut((0, 0, 20, 120)),
        (1, 2): cut((0, 80, 90, 40)),
        (0, 1, 2): cut((0, 0, 90, 120)),
    }
    allowed = {
        (objects[one].tobytes(), scene.tobytes())
        for members, scene in unions.items()
        for one in members
    }
    assert set(pairs) == allowed
    # A single box has no group: the scene is the whole image.
    np.testing.assert_array_equal(views(made, boxes[:1])["scene"], cut((0, 0, 100, 120)))


def test_negatives_and_shared_parameters_are_those_of_the_query_of_the_object() -> None:
    transforms: dict[str, ViewTransform] = {
        **PAIR,
        "key_rotation": Sharing(shares=("rotation",)),
        "tiles": TiledView(),
        "texture": Textured(patch=8),
    }
    augmentations: list[Augmentation] = [Rotation(), *WHOLE]
    made = plan(ObjectViews(dilation=0.1, window=0, swap=0), transforms, augmentations)
    turns = set()
    for epoch in range(12):
        found = views(made, epoch=epoch)
        queries = [np.rot90(picture().pixels()[30:50, 20:60], k) for k in range(4)]
        keys = [np.rot90(picture().pixels()[28:52, 16:64], k) for k in range(4)]
        turn = [np.array_equal(_small(one), found["query"]) for one in queries].index(True)
        assert np.array_equal(_small(keys[turn]), found["key_rotation"])
        pixels = {tuple(pixel) for pixel in found["query"].reshape(-1, 3).tolist()}
        assert {tuple(pixel) for pixel in found["tiles"].reshape(-1, 3).tolist()} <= pixels
        assert found["texture"].shape == (SIDE, SIDE, 3)
        turns.add(turn)
    assert len(turns) > 1


def _small(pixels: np.ndarray) -> np.ndarray:
    return resize_box(np.ascontiguousarray(pixels), (0, 0, *pixels.shape[:2]), SIDE, SIDE)


def test_a_region_of_a_jpeg_that_is_decoded_smaller_is_the_same_but_for_rounding() -> None:
    import cv2
    import simplejpeg

    coarse = np.random.default_rng(0).integers(256, size=(6, 8, 3), dtype=np.uint8)
    smooth = cv2.resize(coarse, (803, 601), interpolation=cv2.INTER_CUBIC)
    image = EncodedImage(simplejpeg.encode_jpeg(smooth, quality=95))
    boxes = np.array([[203, 101, 603, 501]], np.float32)
    made = plan(ObjectViews(window=0, swap=0, key="object"), augmentations=[Resize((32, 32))])
    shrunk = made(ImageWithObjects(image, boxes), 0, 0, 0)["query"]
    assert image.pixels(4.0).shape[0] < 601
    exact = resize_box(image.pixels(), (101, 203, 400, 400), 32, 32)
    assert np.abs(shrunk.astype(int) - exact).mean() < 2


def test_a_box_beyond_the_image_still_gives_a_view() -> None:
    boxes = np.array([[500, 500, 600, 600]], np.float32)
    assert views(plan(ObjectViews(window=0)), boxes)["query"].shape == (SIDE, SIDE, 3)


def test_methods_without_a_pair_and_regions_without_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="has a view 'image'"):
        plan(ObjectViews(), {"image": Augmented()})
    with pytest.raises(UsageError, match=r"set views\.objects"):
        ViewPlan({"scene": OfRegion(role="group")}, WHOLE)
