"""Leave-one-out and add-one views: what is shared is equal to the bit, the rest independent."""

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from unshortcut.augmentations.augmentation import Augmentation, Pipeline, make_augmentation
from unshortcut.augmentations.random_resized_crop import RandomResizedCrop
from unshortcut.data.batches import collate
from unshortcut.data.loader import KeyedDataset
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ArrayImage
from unshortcut.errors import UsageError
from unshortcut.views.plan import ViewPlan
from unshortcut.views.transform import ViewContext, ViewTransform
from unshortcut.views.transforms.augmented import Augmented
from unshortcut.views.transforms.leave_one_out import Lacking, Sharing

CROP = make_augmentation("random_resized_crop", {"size": 24, "scale": [0.2, 0.9]})
ROTATION = make_augmentation("rotation", {"p": 0.5})
JITTER = make_augmentation("color_jitter", {"hue": 0.5, "p": 0.8})
GRAY = make_augmentation("grayscale", {"p": 0.5})
DIFFUSION = make_augmentation("anisotropic_diffusion", {"iterations": [1, 9], "p": 0.5})
TEXTURE = make_augmentation("texture_randomization", {"p": 0.5})
FLIP = make_augmentation("horizontal_flip", {"p": 0.5})
ALL = (CROP, TEXTURE, ROTATION, JITTER, GRAY, DIFFUSION, FLIP)
SPACES = {
    "color": ("color_jitter", "grayscale"),
    "rotation": ("rotation",),
    "texture": ("texture_randomization",),
    "diffusion": ("anisotropic_diffusion",),
    "crop": ("random_resized_crop",),
}
PICTURE = np.random.default_rng(0).integers(0, 256, (40, 56, 3), dtype=np.uint8)


def leave_one_out(augmentations: tuple[Augmentation, ...] = ALL) -> ViewPlan:
    compares = tuple(SPACES.values())
    transforms: dict[str, ViewTransform] = {"query": Augmented(), "key": Sharing(compares=compares)}
    for space, names in SPACES.items():
        transforms[f"key_{space}"] = Sharing(shares=names, compares=compares)
    return ViewPlan(transforms, augmentations)


def sampled_params(plan: ViewPlan, index: int) -> dict[str, list[Any]]:
    context = ViewContext(ArrayImage(PICTURE), (3, 0, index), plan.pipelines)
    for name, transform in plan.transforms.items():
        rng = context.generator(name)
        context.sampled[name] = transform.sample(context, plan.pipelines[name], rng)
    return context.sampled


def test_a_key_has_the_query_s_parameters_of_its_augmentations_and_of_no_other() -> None:
    plan = leave_one_out()
    names = [augmentation.name for augmentation in ALL]
    equal = {(key, name): 0 for key in plan.transforms for name in names}
    rounds = 60
    for index in range(rounds):
        sampled = sampled_params(plan, index)
        for key, name in equal:
            position = names.index(name)
            equal[key, name] += sampled[key][position] == sampled["query"][position]
    for space, shared in SPACES.items():
        for name in names:
            times = equal[f"key_{space}", name]
            assert (times == rounds) if name in shared else times < 0.75 * rounds, (space, name)
    assert all(equal["key", name] < 0.75 * rounds for name in names)


def test_what_is_not_shared_is_drawn_as_if_nothing_were() -> None:
    """The parameters of a key without sharing, except for the shared ones: they are independent."""
    plan = leave_one_out()
    for index in range(20):
        sampled = sampled_params(plan, index)
        for space, shared in SPACES.items():
            context = ViewContext(ArrayImage(PICTURE), (3, 0, index), plan.pipelines)
            alone = Pipeline(ALL).sample(context.generator(f"key_{space}"), 40, 56)
            for position, augmentation in enumerate(ALL):
                if augmentation.name not in shared:
                    assert sampled[f"key_{space}"][position] == alone[position]


def test_angles_of_query_and_independent_key_are_uncorrelated() -> None:
    """Rotation has p 0.5: both unturned in a quarter, equal turns in a twelfth."""
    plan = ViewPlan({"query": Augmented(), "key": Sharing(compares=(("rotation",),))}, (ROTATION,))
    pairs = [sampled_params(plan, index) for index in range(1500)]
    share = np.mean([sampled["query"] == sampled["key"] for sampled in pairs])
    assert share == pytest.approx(1 / 3, abs=4 * np.sqrt(2 / 9 / 1500))


def test_the_maker_tells_which_draws_are_equal_by_accident() -> None:
    plan = leave_one_out()
    for index in range(20):
        made = plan(ArrayImage(PICTURE), 3, 0, index)
        sampled = sampled_params(plan, index)
        for key in ("key", "key_rotation", "key_color"):
            for space, equal_params in zip(SPACES.values(), made.metadata[key], strict=True):
                positions = [position for position, one in enumerate(ALL) if one.name in space]
                assert equal_params == all(
                    sampled[key][p] == sampled["query"][p] for p in positions
                )
        assert "query" not in made.metadata


def test_facts_reach_the_batch() -> None:
    data = KeyedDataset(Shapes("train", size=32, count=8), leave_one_out(), seed=0)
    batch = collate([data[0, index] for index in range(8)])
    metadata = batch["metadata"]
    assert metadata["key_crop"].shape == (8, len(SPACES))
    assert metadata["key_crop"][:, list(SPACES).index("crop")].all()
    assert not metadata["key_color"][:, list(SPACES).index("crop")].any()


def test_the_pixels_of_views_that_share_everything_are_equal_to_the_bit() -> None:
    shares = tuple(augmentation.name for augmentation in ALL)
    plan = ViewPlan({"query": Augmented(), "key": Sharing(shares=shares)}, ALL)
    for index in range(5):
        made = plan(ArrayImage(PICTURE), 0, 0, index)
        assert np.array_equal(made["query"], made["key"])


def test_an_image_is_decoded_once_and_a_shared_crop_is_cut_once() -> None:
    plan = leave_one_out((CROP, ROTATION, JITTER, GRAY, TEXTURE, DIFFUSION, FLIP))
    image = ArrayImage(PICTURE)
    with (
        patch.object(ArrayImage, "pixels", autospec=True, side_effect=ArrayImage.pixels) as pixels,
        patch.object(RandomResizedCrop, "apply", autospec=True) as cut,
    ):
        cut.side_effect = lambda crop, picture, params: picture[:24, :24]
        plan(image, 0, 0, 0)
    assert pixels.call_count == 1
    assert cut.call_count == len(plan.transforms) - 1  # `key_crop` has the query's


def test_what_is_done_once_gives_the_same_pixels() -> None:
    plan = leave_one_out()
    for index in range(5):
        made = plan(ArrayImage(PICTURE), 3, 0, index)
        sampled = sampled_params(plan, index)
        for name, view in made.items():
            assert np.array_equal(view, Pipeline(ALL).apply(PICTURE, sampled[name])), name


def test_add_one_views_lack_what_they_are_to_lack_and_nothing_else() -> None:
    everything = ("color_jitter", "grayscale", "rotation")
    plan = ViewPlan(
        {"query": Lacking(lacks=everything), "key_rotation": Lacking(lacks=everything[:2])}, ALL
    )
    names = [augmentation.name for augmentation in ALL]
    found = {key: dict.fromkeys(names, 0) for key in plan.transforms}
    for index in range(40):
        for key, sampled in sampled_params(plan, index).items():
            for name, params in zip(names, sampled, strict=True):
                found[key][name] += params is not None
    assert all(found["query"][name] == 0 for name in everything)
    assert found["key_rotation"]["color_jitter"] == found["key_rotation"]["grayscale"] == 0
    assert 5 < found["key_rotation"]["rotation"] < 35
    assert found["query"]["anisotropic_diffusion"] > 5
    assert found["query"]["random_resized_crop"] == 40


def test_a_crop_is_shared_only_where_both_views_are_turned_alike() -> None:
    """A quarter turn before the crop swaps the sides of the image that a box was sampled for."""
    turn_first = (ROTATION, CROP)
    crop_alone = {"query": Augmented(), "key": Sharing(shares=("random_resized_crop",))}
    with pytest.raises(UsageError, match="cannot share 'random_resized_crop'"):
        ViewPlan(crop_alone, turn_first)
    both = Sharing(shares=("random_resized_crop", "rotation"))
    made = ViewPlan({"query": Augmented(), "key": both}, turn_first)(ArrayImage(PICTURE), 0, 0, 0)
    assert np.array_equal(made["query"], made["key"])
    ViewPlan(crop_alone, (CROP, ROTATION, GRAY))


@pytest.mark.parametrize(
    ("transform", "overrides", "message"),
    [
        (Sharing(shares=("rotatoin",)), {}, "rotatoin.*'rotation'"),
        (Sharing(compares=(("blur",),)), {}, "blur"),
        (Lacking(lacks=("color",)), {}, "color"),
        (Lacking(lacks=("random_resized_crop",)), {}, "cannot leave out 'random_resized_crop'"),
        (Sharing(shares=("grayscale",)), {"key": [CROP, make_augmentation("grayscale", {"p": 1})]},
         "overrides"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_refused(
    transform: ViewTransform, overrides: dict[str, list[Augmentation]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        ViewPlan({"query": Augmented(), "key": transform}, ALL, overrides)
