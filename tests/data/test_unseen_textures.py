"""The splits of `shapes` whose textures are independent of the class, and the unseen textures."""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from unshortcut import open_data
from unshortcut.data.shapes import SHAPE_NAMES, TEXTURE_NAMES, UNSEEN_TEXTURE_NAMES, Shapes
from unshortcut.data.shapes.draw import paint_texture
from unshortcut.data.shapes.plan import PERIOD, TEXTURE_TILT
from unshortcut.data.shapes.unseen_textures import unseen_pattern

INDEPENDENT = ("paired", "paired-test", "unseen")
ALL = (*TEXTURE_NAMES, *UNSEEN_TEXTURE_NAMES)
FINGERPRINTS = {
    "train": "9f009534486831b4",
    "test": "7701407545765a09",
    "conflict": "e329eac69dc9b846",
    "texture": "dd23492bafb1836f",
}
"""Beginnings of the fingerprints before the splits here were added."""


@pytest.mark.parametrize(("split", "known"), FINGERPRINTS.items())
def test_the_earlier_splits_are_what_they_were(split: str, known: str) -> None:
    assert Shapes(split).fingerprint().startswith(known)


@pytest.mark.parametrize("split", INDEPENDENT)
def test_every_shape_has_each_of_eight_textures_equally_often(split: str) -> None:
    source = Shapes(split, count=64 * 3)
    pairs = np.zeros((8, 16), int)
    np.add.at(pairs, (source.shape_labels, source.texture_labels), 1)
    own, other = (pairs[:, 8:], pairs[:, :8]) if split == "unseen" else (pairs[:, :8], pairs[:, 8:])
    assert (own == 3).all() and not other.any()
    assert source.classes == SHAPE_NAMES and source.labels is source.shape_labels


def test_only_unseen_has_the_further_textures_and_their_names() -> None:
    unseen = open_data("shapes@unseen", label="texture", count=80)
    assert unseen.classes == ALL and unseen.labels is not None
    assert {ALL[label] for label in unseen.labels} == set(UNSEEN_TEXTURE_NAMES)
    assert open_data("shapes@paired", label="texture").classes == TEXTURE_NAMES
    assert (len(open_data("shapes@paired")), len(open_data("shapes@paired-test"))) == (6000, 2000)


def painted(kind: int, seed: int, size: int = 96) -> NDArray[np.float32]:
    """A texture in a whole image, with a period, a tilt and a place as in the splits."""
    rng = np.random.default_rng((kind, seed))
    canvas = np.zeros((size, size, 3), np.float32)
    angle = float(rng.uniform(-TEXTURE_TILT, TEXTURE_TILT))
    colors = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    place = (float(rng.random()), float(rng.random()))
    cover = np.ones((size, size), np.float32)
    paint_texture(canvas, cover, kind, float(rng.uniform(*PERIOD)), angle, place, colors)
    return canvas[:, :, 0]


@cache
def described(seeds: range) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(N, F) and (N,): spectra, which do not know where a texture is, and the textures."""
    rows, kinds = [], []
    for kind, seed in product(range(len(ALL)), seeds):
        image = painted(kind, seed)
        power = np.abs(np.fft.rfft2(image - image.mean())) ** 2
        power = np.fft.fftshift(power, axes=0)[12:84, :36]
        rows.append(np.log(power.reshape(24, 3, 12, 3).mean(axis=(1, 3)) + 1).ravel())
        kinds.append(kind)
    return np.stack(rows), np.array(kinds)


def test_each_texture_is_told_from_all_others_by_its_spectrum() -> None:
    nearest = KNeighborsClassifier(1).fit(*described(range(60)))
    rows, kinds = described(range(60, 80))
    right = nearest.predict(rows) == kinds
    assert min(right[kinds == kind].mean() for kind in range(len(ALL))) >= 0.8


@pytest.mark.parametrize("kind", range(8, 16))
def test_an_unseen_texture_has_two_tones_everywhere(kind: int) -> None:
    for seed in range(5):
        quarters = painted(kind, seed).reshape(2, 48, 2, 48)
        shares = (quarters > 0.5).mean(axis=(1, 3))
        assert shares.min() > 0.12 and shares.max() < 0.88


@pytest.mark.parametrize("kind", range(8))
def test_the_edge_is_a_distance(kind: int) -> None:
    """Near an edge, the value changes by as much as the point moves, so that it is drawn sharp."""
    rng = np.random.default_rng(kind)
    points = [(float(u), float(v)) for u, v in rng.uniform(-5, 5, (4000, 2))]
    near = [point for point in points if abs(unseen_pattern(kind, *point)) < 0.04]
    step, slopes = 1e-4, []
    for u, v in near:
        across = unseen_pattern(kind, u + step, v) - unseen_pattern(kind, u - step, v)
        down = unseen_pattern(kind, u, v + step) - unseen_pattern(kind, u, v - step)
        slopes.append(math.hypot(across, down) / (2 * step))
    assert len(near) > 100
    assert np.median(slopes) == pytest.approx(1, abs=0.02)
    assert np.quantile(np.abs(np.array(slopes) - 1), 0.9) < 0.1


def test_what_is_read_from_texture_alone_is_at_chance() -> None:
    """The best guess of the shape from the texture, fitted on `paired`, in each of the splits."""
    fitted = Shapes("paired")
    table = np.zeros((16, 8))
    np.add.at(table, (fitted.texture_labels, fitted.shape_labels), 1)
    for split in ("paired-test", "unseen"):
        source = Shapes(split)
        guess = table[source.texture_labels].argmax(axis=1)
        assert (guess == source.shape_labels).mean() == pytest.approx(1 / 8, abs=0.01)
