"""The pictures of the embedded `shapes` set: what the labels, boxes and masks say is there."""

from functools import cache

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifier

from tests.data.test_shapes import pixels
from unshortcut.data.shapes import SHAPE_NAMES, Shapes
from unshortcut.data.shapes.colors import LUMA, color
from unshortcut.data.shapes.draw import fill, stroke
from unshortcut.data.shapes.outlines import OUTLINES, placed
from unshortcut.data.shapes.paint import masks, paint
from unshortcut.data.shapes.plan import sample_plan
from unshortcut.data.shapes.source import corruption_of
from unshortcut.errors import UsageError
from unshortcut.imaging.corruptions import corrupt
from unshortcut.randomness import generator

Mask = NDArray[np.bool_]


def seen_object(image: NDArray[np.uint8]) -> Mask:
    """Where a silhouette is, from its pixels alone: what is not like the corner."""
    distance = np.abs(image.astype(int) - image[0, 0].astype(int)).sum(axis=2)
    return distance > distance.max() / 2


def normed(mask: Mask) -> Mask:
    """A mask cut to its box and brought to 48 pixels."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    cut = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return cv2.resize(cut.astype(np.float32), (48, 48), interpolation=cv2.INTER_AREA) >= 0.5


def overlap(a: Mask, b: Mask) -> float:
    return float((a & b).sum() / (a | b).sum())


def upright(name: str, degrees: float = 0.0, mirrored: bool = False) -> Mask:
    points = placed(OUTLINES[name], (0.5, 0.5), 0.48, np.radians(degrees), mirrored=mirrored)
    return fill(points, 96) >= 0.5


@cache
def templates(name: str, turn: int) -> list[Mask]:
    """A shape after quarter times counterclockwise, at several tilts and in the mirror."""
    return [
        normed(np.rot90(upright(name, tilt, mirrored), turn))
        for tilt in (-12, -4, 4, 12)
        for mirrored in (False, True)
    ]


def best_fit(mask: Mask) -> tuple[str, int]:
    """The shape and the quarter times whose templates fit a mask best."""
    seen = normed(mask)
    fits = {
        (name, turn): max(overlap(seen, one) for one in templates(name, turn))
        for name in SHAPE_NAMES
        for turn in range(4)
    }
    return max(fits, key=lambda key: fits[key])


def object_before_background(source: Shapes, index: int) -> Mask:
    """Where the object is, from pixels alone: what the palette variant leaves as it was."""
    variant = Shapes(source.split, size=source.size, seed=source.seed, palette=True)
    same = (source.image(index).array == variant.image(index).array).all(axis=2)
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(same.astype(np.uint8), connectivity=4)
    return pieces == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))


def spectrum(image: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Log power by frequency, down and across: texture without position."""
    luma = image @ np.array(LUMA)
    power = np.abs(np.fft.rfft2(luma - luma.mean())) ** 2
    coarse = power[:48, :24].reshape(12, 4, 6, 4).mean(axis=(1, 3))
    return np.log(coarse + 1).ravel()


class TestPictures:
    def test_color_and_position_are_those_in_the_picture(self) -> None:
        source = Shapes("silhouette", count=60)
        for index in range(60):
            image = source.image(index).array
            mask = seen_object(image)
            rows, columns = np.nonzero(mask)
            y = (rows.min() + rows.max() + 1) / 128 - 0.5
            x = (columns.min() + columns.max() + 1) / 128 - 0.5
            if min(abs(x), abs(y)) > 0.05:  # the box of a tilted object is not quite centered
                assert source.position_labels[index] == (x > 0) + 2 * (y > 0)
            mean = image[mask].mean(axis=0).astype(np.float32)
            hue = cv2.cvtColor(mean[None, None], cv2.COLOR_RGB2HSV)[0, 0, 0]
            assert round(float(hue) / 60) % 6 == source.color_labels[index]

    def test_silhouettes_are_upright_and_of_the_labeled_shape(self) -> None:
        source = Shapes("silhouette", count=40)
        fits = [best_fit(seen_object(source.image(i).array)) for i in range(40)]
        assert fits == [(SHAPE_NAMES[k], 0) for k in source.shape_labels]

    @pytest.mark.parametrize("name", SHAPE_NAMES)
    def test_a_rotation_by_90_degrees_is_visible_even_in_a_mirror(self, name: str) -> None:
        for turn in (1, 2, 3):
            nearest = max(
                overlap(one, other) for one in templates(name, 0) for other in templates(name, turn)
            )
            assert nearest < 0.85

    def test_rotated_rotates_the_whole_picture_counterclockwise(self) -> None:
        source = Shapes("rotated", count=64)
        np.testing.assert_array_equal(np.bincount(source.rotation_labels), np.full(4, 16))
        np.testing.assert_array_equal(Shapes("test", count=8).rotation_labels, np.zeros(8))
        fits = [best_fit(object_before_background(source, index)) for index in range(32)]
        labels = zip(source.shape_labels[:32], source.rotation_labels[:32], strict=True)
        assert fits == [(SHAPE_NAMES[shape], times) for shape, times in labels]

    def test_objects_fill_a_good_part_and_stay_inside(self) -> None:
        masks = [seen_object(image) for image in pixels(Shapes("silhouette", count=200))]
        spans = np.array([max(m.any(axis=0).sum(), m.any(axis=1).sum()) / 64 for m in masks])
        assert 0.3 < spans.min() < 0.5 and 0.7 < spans.max() < 0.85
        assert not any(m[0].any() or m[-1].any() or m[:, 0].any() or m[:, -1].any() for m in masks)

    def test_sketches_are_thin_dark_lines_on_light_paper(self) -> None:
        luma = pixels(Shapes("sketch", count=100)) @ np.array(LUMA)
        assert (luma[:, 0, 0] > 200).all()
        dark = (luma < 128).mean(axis=(1, 2))
        assert dark.min() > 0.01 and dark.max() < 0.2

    def test_texture_fills_the_image_with_two_tones(self) -> None:
        luma = pixels(Shapes("texture", count=80)) @ np.array(LUMA) / 255
        quarters = luma.reshape(80, 2, 32, 2, 32)
        assert ((quarters < 0.3).mean(axis=(2, 4)) > 0.05).all()
        assert ((quarters > 0.7).mean(axis=(2, 4)) > 0.05).all()

    def test_corrupted_goes_through_all_corruptions_and_severities_of_drawings_as_in_test(
        self,
    ) -> None:
        source = Shapes("corrupted", size=48, count=75)
        np.testing.assert_array_equal(source.shape_labels, source.texture_labels)
        assert len({corruption_of(index) for index in range(75)}) == 75
        for index in (0, 13, 40):
            name, severity = corruption_of(index)
            clean = paint(sample_plan(0, "corrupted", index, palette=False), "test", 48)
            expected = corrupt(clean, name, severity, generator(0, "corrupted", index))
            np.testing.assert_array_equal(source.image(index).array, expected)
            assert (source.image(index).array != clean).any()

    def test_stylized_shows_the_shape_in_the_colors_of_a_pattern(self) -> None:
        """The object stands out by its mean color from what is around it, in nearly all."""
        source = Shapes("stylized", size=96, count=60)
        visible = 0
        for index in range(60):
            covered = masks(sample_plan(0, "stylized", index, palette=False), 96)[0]
            wide = cv2.dilate(covered.astype(np.uint8), np.ones((17, 17), np.uint8)) > 0
            image = source.image(index).array.astype(float)
            inside, around = image[covered], image[wide & ~covered]
            step = np.abs(inside.mean(axis=0) - around.mean(axis=0)).max()
            visible += step > 20
        assert visible >= 57

    def test_stylized_textures_say_nothing_of_the_class(self) -> None:
        """Plans of one number have one style, and the number is independent of the class."""
        plans = [sample_plan(0, "stylized", index, palette=False) for index in range(800)]
        assert len({plan.style for plan in plans}) == 800
        assert all(sample_plan(0, "test", index, palette=False).style is None for index in range(8))
        texture = {kind: Shapes(kind, size=48, count=240) for kind in ("stylized", "test")}
        power = {
            kind: np.stack([spectrum(source.image(i).array) for i in range(240)])
            for kind, source in texture.items()
        }
        scores = {}
        for kind, rows in power.items():
            labels = texture[kind].shape_labels
            ridge = RidgeClassifier(alpha=1.0).fit(rows[:160], labels[:160])
            scores[kind] = (ridge.predict(rows[160:]) == labels[160:]).mean()
        assert scores["test"] > 0.35
        assert scores["stylized"] < 0.3

    def test_a_small_picture_is_the_large_one_reduced(self) -> None:
        small, large = Shapes("test", size=32), Shapes("test", size=256)
        for index in range(8):
            reduced = cv2.resize(large.image(index).array, (32, 32), interpolation=cv2.INTER_AREA)
            difference = np.abs(reduced.astype(int) - small.image(index).array)
            assert difference.mean() < 8

    @pytest.mark.parametrize("size", [16, 48, 101, 224])
    def test_any_size(self, size: int) -> None:
        image = Shapes("test", size=size).image(3)
        assert image.array.shape == (size, size, 3) and image.array.dtype == np.uint8
        assert (image.height, image.width) == (size, size)

    def test_palette_changes_the_background_hues_and_nothing_else(self) -> None:
        plain, palette = Shapes("test"), Shapes("test", palette=True)
        for index in range(16):
            a, b = plain.image(index).array.astype(int), palette.image(index).array.astype(int)
            assert np.abs((a - b) @ np.array(LUMA)).max() < 1.5
            assert (a != b).any(axis=2)[0].mean() > 0.5
            assert (a == b).all(axis=2).mean() > 0.05
        np.testing.assert_array_equal(plain.color_labels[:16], palette.color_labels[:16])


class TestScenes:
    def test_masks_are_tight_in_their_boxes_and_apart(self) -> None:
        source = Shapes("scene", size=96, count=60)
        counts = set()
        for index in range(60):
            scene = source.scene(index)
            counts.add(len(scene.boxes))
            assert len(scene.boxes) == len(scene.masks) == len(scene.shape_labels)
            assert scene.masks.sum(axis=0).max() == 1
            for (x0, y0, x1, y1), mask in zip(scene.boxes.astype(int), scene.masks, strict=True):
                inside = mask[y0:y1, x0:x1]
                assert inside.sum() == mask.sum() > 50
                assert inside[0].any() and inside[-1].any()
                assert inside[:, 0].any() and inside[:, -1].any()
        assert counts == {2, 3, 4, 5}

    def test_objects_are_drawn_where_the_masks_say(self) -> None:
        source = Shapes("scene", size=96, count=20)
        for index in range(20):
            scene = source.scene(index)
            luma = scene.image @ np.array(LUMA) / 255
            covered = scene.masks.any(axis=0).astype(np.uint8)
            behind = cv2.dilate(covered, np.ones((3, 3), np.uint8)) == 0
            np.testing.assert_array_equal(scene.image, source.image(index).array)
            for mask in scene.masks:
                assert luma[mask].std() > 1.5 * luma[behind].std()

    def test_objects_have_the_labeled_shape_and_its_texture(self) -> None:
        source = Shapes("scene", size=128, count=16)
        for index in range(16):
            scene = source.scene(index)
            np.testing.assert_array_equal(scene.shape_labels, scene.texture_labels)
            assert scene.shape_labels[0] == source.shape_labels[index]
            names = [best_fit(mask)[0] for mask in scene.masks]
            assert names == [SHAPE_NAMES[k] for k in scene.shape_labels]

    def test_other_splits_have_no_scene(self) -> None:
        with pytest.raises(UsageError, match="has boxes, not 'test'"):
            Shapes("test").scene(0)


class TestKernels:
    @pytest.mark.parametrize("name", SHAPE_NAMES)
    def test_coverage_sums_to_the_area_and_the_line_to_its_length(self, name: str) -> None:
        points = placed(OUTLINES[name], (0.47, 0.52), 0.4, angle=0.2, stretch=0.9)
        contour = (points * 1000).astype(np.float32)
        assert fill(points, 64).sum() / 64**2 == pytest.approx(
            cv2.contourArea(contour) / 1e6, rel=0.01
        )
        length = cv2.arcLength(contour, closed=True) / 1000
        assert stroke(points, 256, 0.01).sum() / 256**2 == pytest.approx(0.01 * length, rel=0.1)

    @pytest.mark.parametrize("hue", [0.0, 0.13, 0.5, 0.9])
    @pytest.mark.parametrize("luma", [0.1, 0.5, 0.9])
    def test_colors_have_the_luma_asked_for(self, hue: float, luma: float) -> None:
        rgb = np.array(color(hue, 0.7, luma))
        assert rgb @ np.array(LUMA) == pytest.approx(luma)
        assert rgb.min() >= 0 and rgb.max() <= 1
