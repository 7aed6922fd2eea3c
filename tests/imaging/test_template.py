"""Templates against a direct formula, and a tag among changing surroundings."""

import numpy as np
import pytest

from unshortcut.imaging.template import (
    Template,
    best_match,
    correlations,
    steady_part,
)

RNG = np.random.default_rng(0)
TAG = RNG.integers(0, 256, (8, 9, 3)).astype(np.uint8)


def with_tag(left: int, top: int, seed: int) -> np.ndarray:
    """A smooth image with the tag at a place."""
    rng = np.random.default_rng(seed)
    image = np.kron(rng.integers(0, 256, (6, 6, 3)), np.ones((8, 8, 1))).astype(np.uint8)
    image[top : top + 8, left : left + 9] = TAG
    return image


def test_correlations_are_those_of_the_formula() -> None:
    image = RNG.integers(0, 256, (14, 15, 3)).astype(np.uint8)
    mask = RNG.random((5, 4)) < 0.6
    template = Template(RNG.integers(0, 256, (5, 4, 3)).astype(np.uint8), mask)
    found = correlations(image, template)
    assert found.shape == (10, 12)
    for top, left in ((0, 0), (3, 7), (9, 11)):
        window = image[top : top + 5, left : left + 4][mask].astype(np.float64)
        own = template.pixels[mask].astype(np.float64)
        window, own = window - window.mean(axis=0), own - own.mean(axis=0)
        expected = (window * own).sum() / np.sqrt((window**2).sum() * (own**2).sum())
        assert found[top, left] == pytest.approx(expected, abs=1e-4)


def test_a_tag_is_found_where_it_is() -> None:
    match = best_match(with_tag(20, 11, seed=1), Template.of(TAG))
    assert match.box == (20, 11, 29, 19) and match.score == pytest.approx(1, abs=1e-3)
    assert best_match(with_tag(0, 0, seed=1)[8:], Template.of(TAG)).score < 0.6


def test_a_flat_image_and_a_flat_template_match_nothing() -> None:
    flat = np.full((20, 20, 3), 90, np.uint8)
    assert best_match(flat, Template.of(TAG)).score == 0
    assert best_match(with_tag(3, 3, seed=2), Template.of(flat[:5, :5])).score == 0


def test_a_template_larger_than_the_image_is_not_found() -> None:
    assert best_match(TAG[:4, :4], Template.of(TAG)).score == -1


def test_the_steady_part_of_a_patch_is_its_tag() -> None:
    """A square of 16 pixels around the tag, cut from images with other surroundings."""
    cuts = [with_tag(14, 14, seed)[10:26, 10:26] for seed in range(9)]
    found = steady_part(Template.of(cuts[0]), cuts[1:])
    left, top, right, bottom = found.extent()
    assert abs(left - 4) <= 1 and abs(top - 4) <= 1
    assert abs(right - 13) <= 1 and abs(bottom - 12) <= 1
    elsewhere = with_tag(30, 5, seed=99)
    assert best_match(elsewhere, found).score > 0.9
    assert best_match(elsewhere, Template.of(cuts[0])).score < best_match(elsewhere, found).score


def test_a_patch_without_a_steady_part_stays_whole() -> None:
    cuts = [
        np.random.default_rng(seed).integers(0, 256, (16, 16, 3)).astype(np.uint8)
        for seed in range(9)
    ]
    assert steady_part(Template.of(cuts[0]), cuts[1:]).mask.all()
