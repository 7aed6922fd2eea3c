"""Alternatives, and views that are made from a copy of the data set."""

from collections import Counter
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from unshortcut.augmentations.augmentation import Pipeline, make_augmentation
from unshortcut.augmentations.torchvision import AsTransform
from unshortcut.data.copies import ImageWithCopies
from unshortcut.data.source import ArrayImage, BadImageError
from unshortcut.errors import UsageError
from unshortcut.randomness import generator
from unshortcut.recipes.load import load_recipe
from unshortcut.training.plan_copies import plan_copies
from unshortcut.views.plan import ViewPlan
from unshortcut.views.transforms.augmented import Augmented
from unshortcut.views.transforms.textured import Textured

PICTURE = np.random.default_rng(0).integers(0, 256, (40, 48, 3), dtype=np.uint8)
BLUR = {"name": "gaussian_blur", "p": 0.5}
INVERT = {"name": "solarize", "threshold": 0, "p": 0.5}


def test_the_second_is_applied_only_where_the_first_is_not() -> None:
    either = make_augmentation("first_of", {"augmentations": [INVERT, BLUR]})
    samples = [either.sample(generator(0, index), 40, 48) for index in range(2000)]
    counts = Counter(None if sample is None else sample[0] for sample in samples)
    assert abs(counts[0] - 1000) < 100
    assert abs(counts[1] - 500) < 80
    inverted = next(sample for sample in samples if sample is not None and sample[0] == 0)
    assert np.array_equal(either.apply(PICTURE, inverted), 255 - PICTURE)
    assert either.apply(PICTURE, None) is PICTURE


def test_what_is_drawn_after_it_does_not_depend_on_which_was_chosen() -> None:
    def draw_after(p: float) -> float:
        first = {"name": "solarize", "p": p}
        either = make_augmentation("first_of", {"augmentations": [first, {**BLUR, "p": 1.0}]})
        always = make_augmentation("gaussian_blur", {"p": 1.0})
        choice, sigma = Pipeline([either, always]).sample(generator(3), 40, 48)
        assert choice[0] == (0 if p else 1)
        return float(sigma)

    assert draw_after(0.0) == draw_after(1.0)


def test_a_recipe_fills_the_size_of_an_alternative_and_writes_it_out_again() -> None:
    crops = "[{name: first_of, augmentations: [{name: random_resized_crop}, {name: resize}]}]"
    recipe = load_recipe("moco-v2-shapes", ["views.size=32", f"views.augmentations={crops}"])
    (either,) = recipe.views.augmentations
    assert [inner.size for inner in either.augmentations] == [32, 32]
    again = load_recipe(recipe.model_dump(mode="json"))
    assert again.views.augmentations == recipe.views.augmentations


def save(path: Path, array: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    PIL.Image.fromarray(array).save(path)


def picture(identity: str, plan: ViewPlan) -> ImageWithCopies:
    """The picture as the training data give it: with the copies that the plan reads."""
    return ImageWithCopies(ArrayImage(PICTURE), identity, plan_copies(plan).same_size)


def test_a_view_from_the_copy_gets_the_draws_that_one_of_the_image_would_get(
    tmp_path: Path,
) -> None:
    save(tmp_path / "copy" / "train" / "1.png", 255 - PICTURE)
    crop = {"name": "random_resized_crop", "size": 24}

    def views(p: float) -> dict[str, np.ndarray]:
        entries = [crop, {"name": "from_copy", "path": str(tmp_path / "copy"), "p": p}]
        augmentations = [make_augmentation(e.pop("name"), e) for e in map(dict, entries)]
        plan = ViewPlan({"query": Augmented(), "key": Augmented()}, augmentations)
        assert list(plan_copies(plan).same_size) == [str(tmp_path / "copy")]
        return plan(picture("train/1.png", plan), 0, 0, 0)

    image, copy, mixed = views(0.0), views(1.0), views(0.5)
    for name in ("query", "key"):
        # Resizing is linear, so the crop of the negative is the negative of the crop.
        assert np.abs(copy[name].astype(int) - (255 - image[name].astype(int))).max() <= 1
        assert any(np.array_equal(mixed[name], one[name]) for one in (image, copy))


def test_a_copy_is_an_alternative_to_blur(tmp_path: Path) -> None:
    save(tmp_path / "1.png", np.zeros_like(PICTURE))
    entries = [{"name": "from_copy", "path": str(tmp_path), "p": 0.5}, {**BLUR, "p": 1.0}]
    either = make_augmentation("first_of", {"augmentations": entries})
    plan = ViewPlan({"query": Augmented()}, [either])
    image = picture("1.png", plan)
    means = [plan(image, 0, epoch, 0)["query"].mean() for epoch in range(60)]
    assert {mean == 0 for mean in means} == {True, False}
    assert 15 < sum(mean == 0 for mean in means) < 45


def test_a_copy_of_another_size_is_a_bad_image(tmp_path: Path) -> None:
    save(tmp_path / "1.png", PICTURE[:20])
    plan = ViewPlan(
        {"query": Augmented()}, [make_augmentation("from_copy", {"path": str(tmp_path), "p": 1})]
    )
    with pytest.raises(BadImageError, match="its copy is 48 × 20 pixels, it is 48 × 40"):
        plan(picture("1.png", plan), 0, 0, 0)


def test_images_without_copies_are_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    copied = make_augmentation("from_copy", {"path": str(tmp_path / "copy"), "p": 1})
    plan = ViewPlan({"query": Augmented()}, [copied])
    with pytest.raises(UsageError, match=r"these images have no copies; .*plan_copies"):
        plan(ArrayImage(PICTURE), 0, 0, 0)


def test_copies_are_found_inside_alternatives_and_in_every_view(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()

    def copied(name: str) -> dict[str, object]:
        return {"name": "from_copy", "path": str(tmp_path / name)}

    inner = {"name": "first_of", "augmentations": [copied("a"), BLUR]}
    nested = make_augmentation("first_of", {"augmentations": [inner]})
    own = make_augmentation("from_copy", {"path": str(tmp_path / "b")})
    transforms = {
        "query": Augmented(),
        "key": Augmented(),
        "negative": Textured(copy=str(tmp_path / "c")),
    }
    found = plan_copies(ViewPlan(transforms, [nested], {"key": [own]}))
    assert list(found.same_size) == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert list(found.any_size) == [str(tmp_path / "c")]
    assert len(plan_copies(ViewPlan({"query": Textured()}, []))) == 0


def test_other_peoples_pipelines_have_no_copies_to_read(tmp_path: Path) -> None:
    transform = AsTransform(Pipeline([make_augmentation("from_copy", {"path": "x", "p": 1})]))
    with pytest.raises(ValueError, match="in a view plan only"):
        transform(PIL.Image.fromarray(PICTURE))
