"""Permutation sets against a brute-force version, and their distances for nine tiles."""

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from unshortcut.imaging.permutations import Selection, choose_permutations
from unshortcut.models.permutations import cached_permutations


def by_brute_force(
    elements: int, count: int, by: Selection, first: tuple[int, ...]
) -> list[tuple[int, ...]]:
    """All distances anew in every step, on plain tuples."""
    chosen = [first]
    rest = [one for one in permutations(range(elements)) if one != first]
    while len(chosen) < count:

        def score(one: tuple[int, ...]) -> tuple[float, ...]:
            distances = [sum(a != b for a, b in zip(one, two, strict=True)) for two in chosen]
            mean = sum(distances) / len(distances)
            return (mean,) if by == "mean" else (min(distances), mean)

        best = max(rest, key=score)  # the first of the best
        chosen.append(best)
        rest.remove(best)
    return chosen


@pytest.mark.parametrize("by", ["mean", "minimum"])
@pytest.mark.parametrize(("elements", "count"), [(3, 6), (4, 11), (4, 24)])
def test_every_choice_is_that_of_brute_force(by: Selection, elements: int, count: int) -> None:
    firsts = set()
    for seed in range(5):
        chosen = [tuple(row) for row in choose_permutations(elements, count, by=by, seed=seed)]
        assert chosen == by_brute_force(elements, count, by, chosen[0])
        firsts.add(chosen[0])
    assert len(firsts) > 1, "the first one is random"


def distances(chosen: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Distances of all pairs."""
    pairs = (chosen[:, None] != chosen).sum(axis=2)
    return np.asarray(pairs[np.triu_indices(len(chosen), 1)])


def test_a_hundred_for_nine_tiles_are_far_apart_and_ours_have_no_similar_pair() -> None:
    published, ours = (
        cached_permutations(9, 100, by=by, seed=3)
        for by in ("mean", "minimum")  # type: ignore[arg-type]
    )
    assert (np.sort(published, axis=1) == np.arange(9)).all()
    assert published.shape == ours.shape == (100, 9) and published.dtype == np.uint8
    for chosen in (published, ours):
        assert 8.0 < distances(chosen).mean() < 8.2
    # random permutations differ in 8 of 9 places on average, and some pairs in few
    assert distances(published).min() < distances(ours).min()
    assert distances(ours).min() >= 6
    assert np.array_equal(published, choose_permutations(9, 100, seed=3))
    assert not np.array_equal(published[:9], choose_permutations(9, 9, seed=4))


@pytest.mark.slow
def test_a_thousand_have_the_distances_of_the_published_file_and_ours_larger_ones() -> None:
    published, ours = (distances(choose_permutations(9, 1000, by=by)) for by in ("mean", "minimum"))  # type: ignore[arg-type]
    # the file of the public code: mean 8.0, minimum 2
    assert published.mean() == pytest.approx(8.0, abs=0.05)
    assert published.min() == 2
    assert ours.mean() == pytest.approx(8.0, abs=0.05)
    assert ours.min() >= 5


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="there are 6 permutations of 3 elements, not 7"):
        choose_permutations(3, 7)
    with pytest.raises(ValueError, match="1 to 9 elements, not 16"):
        choose_permutations(16, 100)
