"""Texture only: textures keep what textures have, and models that need more are told apart."""

import numpy as np
import pytest
import torch
from scipy.stats import fisher_exact
from torch import Tensor

from tests.measuring.made import arrays, subject_of
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.data.source import ImageSource
from unshortcut.measurements.texture_only import TextureOnly, TextureOnlyResult
from unshortcut.measuring.exhibits import Pictures, Plot, Table
from unshortcut.measuring.texture_images import solved_by_texture, texture_of, tiles_of

SIDE = 32


def colored() -> ImageSource:
    """Reddish, greenish or bluish; the label's third of the columns is brighter, too."""
    rng = np.random.default_rng(0)
    labels = np.arange(30) % 3
    images = rng.integers(40, 90, (30, SIDE, SIDE, 3))
    for image, label in zip(images, labels, strict=True):
        image[..., label] += 60
        image[:, label * 11 : label * 11 + 10] += 80
    return arrays(images.astype(np.uint8), labels, ("red", "green", "blue"))


def by_color(images: Tensor) -> Tensor:
    return 50 * images.mean(dim=(2, 3))


def by_place(images: Tensor) -> Tensor:
    columns = images.mean(dim=(1, 2))
    return 50 * torch.stack([columns[:, k * 11 : k * 11 + 10].mean(dim=1) for k in range(3)], dim=1)


def measured(model: object, **settings: object) -> TextureOnlyResult:
    calls: list[tuple[int, int]] = []
    subject = subject_of(model, colored(), **settings)  # type: ignore[arg-type]
    result = TextureOnly().measure(subject, lambda done, total: calls.append((done, total)))
    assert calls[-1] == (60, 60)
    return result


@pytest.fixture(scope="module")
def color() -> TextureOnlyResult:
    return measured(by_color)


@pytest.fixture(scope="module")
def place() -> TextureOnlyResult:
    return measured(by_place)


def test_a_model_that_looks_at_color_is_right_on_textures(color: TextureOnlyResult) -> None:
    assert color.plain.value == color.synthesized.value == color.tiled.value == 1
    assert set(color.solved) == {"red", "green", "blue"}
    metrics = TextureOnly().metrics(color, None)
    assert metrics["texture_only_accuracy"].value == metrics["patch_tiling_accuracy"].value == 1
    assert metrics["texture_only_accuracy"].low == pytest.approx(0.886, abs=0.001)  # 30 of 30
    assert metrics["texture_solved_classes"].value == 1
    finding = TextureOnly().finding(color)
    assert finding is not None
    assert finding.text == (
        "classifies 100 % of images correctly by their texture alone (chance 33 %)"
    )
    assert finding.weight == pytest.approx(0.9)


def test_a_model_that_looks_at_where_things_are_is_not(place: TextureOnlyResult) -> None:
    assert place.plain.value == 1
    assert place.synthesized.value < 0.65 and place.tiled.value < 0.65
    assert place.solved == ()
    assert [one.num_images for one in place.classes] == [10, 10, 10]
    assert TextureOnly().finding(place) is None


def test_one_name_for_all_textures_solves_no_class() -> None:
    labels = np.repeat(np.arange(4), 20)
    assert not solved_by_texture(np.zeros(80, np.int64), labels, 4).any()


def test_solved_is_more_than_half_and_more_than_elsewhere_by_fishers_test() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(5), 12)
    seen = set()
    for share in (0.2, 0.4, 0.55, 0.7, 0.9):
        decided = np.where(rng.random(60) < share, labels, rng.integers(0, 2, 60))
        found = solved_by_texture(decided, labels, 5)
        for one in range(5):
            own, named = labels == one, decided == one
            table = [
                [(own & named).sum(), (own & ~named).sum()],
                [(~own & named).sum(), (~own & ~named).sum()],
            ]
            chance = fisher_exact(table, alternative="greater").pvalue
            expected = (own & named).sum() > 6 and chance < 0.01
            assert found[one] == expected
            seen.add(bool(expected))
    assert seen == {True, False}


@pytest.mark.parametrize("make", [texture_of, tiles_of])
def test_textures_are_made_of_the_images_own_pixels(make: object) -> None:
    image = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    first, again, other = (
        make(image, np.random.default_rng(seed))  # type: ignore[operator]
        for seed in (0, 0, 1)
    )
    assert first.shape == image.shape and first.dtype == np.uint8
    assert (first == again).all() and (first != other).any() and (first != image).any()
    known = {pixel.tobytes() for pixel in image.reshape(-1, 3)}
    assert {pixel.tobytes() for pixel in first.reshape(-1, 3)} <= known


def test_the_seed_decides_on_the_textures(color: TextureOnlyResult) -> None:
    sources = {one.pictures[1].source for one in color.examples}
    again = {one.pictures[1].source for one in measured(by_color).examples}
    other = {one.pictures[1].source for one in measured(by_color, seed=1).examples}
    assert sources == again and not sources & other


def test_examples_are_right_and_results_survive_json(
    color: TextureOnlyResult, place: TextureOnlyResult
) -> None:
    assert from_json(TextureOnlyResult, to_json(color)) == color
    assert len(color.examples) == 3
    assert all(one.mark == "good" for example in color.examples for one in example.pictures)
    assert color.examples[0].pictures[1].caption.startswith(f"{color.examples[0].name} (")
    shown = TextureOnly().exhibits({"color": color, "place": place}, None)
    overall, classes = (one for one in shown if isinstance(one, Plot))
    assert list(overall.figure["data"][0]["y"]) == [1.0, 1.0, 1.0]
    assert set(classes.figure["data"][0]["x"]) == {"red", "green", "blue"}
    (pictures,) = (one for one in shown if isinstance(one, Pictures))
    assert pictures.columns == ("image", "synthesized", "tiled")
    (table,) = (one for one in shown if isinstance(one, Table))
    assert len(table.rows) == 6 and len(table.rows[0]) == len(table.columns)
    assert classes.caption.startswith("color: texture alone solves 3 of 3 classes (")
    assert classes.caption.endswith("place: texture alone solves 0 of 3 classes.")
