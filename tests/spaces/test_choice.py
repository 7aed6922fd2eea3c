"""The choice of spaces: intervals, the rule, and how often chance is taken for a difference."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from unshortcut.probes.cross_validation import held_out_hits, stratified_folds
from unshortcut.spaces import choice
from unshortcut.spaces.choice import Candidate, Choice, choose, standard_error

SPACES = ("invariant", "color", "rotation")
Floats = NDArray[np.float64]


def right(count: int, of: int = 200, first: int = 0) -> Floats:
    """Hits of which `count` in a row are 1, from image `first` on."""
    hits = np.zeros(of)
    hits[first : first + count] = 1
    return hits


def decide(own: Floats, **subsets: Floats) -> Choice:
    """Subsets are named by the first letters of their spaces, such as `ic`."""
    named = {space[0]: space for space in SPACES}
    candidates = [
        Candidate(name, tuple(named[letter] for letter in name), 8, hits)
        for name, hits in subsets.items()
    ]
    return choose(Candidate("backbone", None, 8, own), candidates)


def test_the_interval_of_an_accuracy_is_wilsons_also_over_repeats() -> None:
    """Over repeats the number of correct images may be a fraction."""
    found = decide(right(7, 12), c=np.full(12, 7 / 12))
    expected = stats.binomtest(7, 12).proportion_ci(0.95, "wilson")
    for one in found.candidates:
        assert one.interval == pytest.approx((100 * expected.low, 100 * expected.high))


def test_the_error_of_a_difference_is_that_of_agresti_and_min_with_the_variance_twice() -> None:
    gained, lost, same = 12, 5, 43
    differences = np.repeat([1.0, -1.0, 0.0], [gained, lost, same])
    mean = differences.mean()
    padded = [*differences, 0]
    weights = np.array([1.0] * len(padded) + [0.5, 0.5])
    values = np.array([*padded, 1, -1])
    variance = (weights * (values - mean) ** 2).sum() / (weights.sum() - 1)
    assert standard_error(differences) == pytest.approx(np.sqrt(2 * variance / weights.sum()))


def test_images_of_one_mind_are_no_certainty() -> None:
    few, many = (decide(np.zeros(count), c=np.ones(count)) for count in (4, 40))
    assert not few.conclusive and few.subsets[0].margin > 0
    assert many.chosen.name == "c" and many.chosen.difference == 100


def test_the_margin_is_of_students_t_shared_between_the_comparisons() -> None:
    own, subset = right(100), right(110)
    for number in (1, 3):
        names = ("i", "c", "r")[:number]
        found = decide(own, **dict.fromkeys(names, subset)).subsets[0]
        reach = stats.t.ppf(1 - 0.025 / number, 199)
        assert found.margin == pytest.approx(100 * reach * standard_error(subset - own))
        assert found.difference == pytest.approx(5)


def test_the_runs_own_representation_stays_unless_a_subset_is_better_beyond_chance() -> None:
    unsure = decide(right(100), i=right(90), c=right(104))
    assert unsure.chosen is unsure.own and not unsure.conclusive
    assert [one.outcome for one in unsure.subsets] == ["no clear difference"] * 2
    worse = decide(right(150), i=right(60), c=right(80))
    assert worse.chosen is worse.own and worse.conclusive
    assert [one.outcome for one in worse.subsets] == ["worse", "worse"]
    assert worse.images_needed is None
    better = decide(right(80), i=right(60), c=right(150))
    assert better.chosen.name == "c" and better.conclusive and better.chosen.outcome == "better"
    assert better.chosen.difference == pytest.approx(35)


def test_of_better_subsets_the_fewest_spaces_about_as_good_as_the_best_are_chosen() -> None:
    own = right(60)
    near = decide(own, r=right(61), c=right(150), ic=right(151), icr=right(149))
    assert near.best.name == "ic" and near.chosen.name == "c"
    far = decide(own, r=right(61), c=right(110), ic=right(150), icr=right(151))
    assert far.best.name == "icr" and far.chosen.name == "ic", "c is better, and far from the best"
    equal = decide(own, i=right(150), c=right(151), ic=right(152))
    assert equal.chosen.name == "c", "of as many spaces the more accurate"


def test_as_many_images_as_are_said_to_be_needed_would_tell() -> None:
    """The same images over and over: told with that many, and not with a half of them."""
    own, subset = right(110), np.concatenate([right(100, 100), right(30, 100)])
    subset[:12] = 0
    found = decide(own, c=subset)
    assert not found.conclusive and found.subsets[0].difference == pytest.approx(4)
    reach, error = stats.t.ppf(0.975, 199), standard_error(subset - own)
    assert found.images_needed == np.ceil(200 * ((reach + 0.8416) * error / 0.04) ** 2)
    times = found.images_needed // 200
    assert decide(np.tile(own, times + 1), c=np.tile(subset, times + 1)).conclusive
    assert not decide(np.tile(own, times // 2), c=np.tile(subset, times // 2)).conclusive
    assert decide(right(100), c=right(99)).images_needed is None, "it is behind"


def simulate(
    seed: int,
    count: int,
    classes: int,
    signal: dict[str, float],
    sizes: tuple[int, ...] = (1, 2, 3),
) -> Choice:
    """A small problem from features to choice: spaces that know the classes by `signal`.

    The subsets are those of so many spaces as `sizes` say.
    """
    rng = np.random.default_rng((seed, count))
    labels = np.arange(count) % classes
    centers = np.eye(classes, 8)
    features = {
        name: (signal.get(name, 0) * centers[labels] + rng.standard_normal((count, 8))).astype("f4")
        for name in ("backbone", *SPACES)
    }
    folds = stratified_folds(labels, repeats=3, seed=seed)

    def candidate(names: tuple[str, ...]) -> Candidate:
        rows = np.hstack([features[name] for name in names])
        return Candidate("+".join(names), names, rows.shape[1], held_out_hits(rows, labels, folds))

    subsets = [names for size in sizes for names in combinations(SPACES, size)]
    return choose(candidate(("backbone",)), [candidate(names) for names in subsets])


@pytest.mark.parametrize(("count", "classes"), [(16, 2), (40, 4)])
def test_random_labels_cannot_tell(count: int, classes: int) -> None:
    told = [simulate(seed, count, classes, {}).conclusive for seed in range(30)]
    assert sum(told) <= 1


@pytest.mark.parametrize(("count", "classes"), [(24, 2), (40, 4)])
def test_equally_good_spaces_are_not_called_better_or_worse(
    count: int, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spaces one by one: two know more than one, so that "better" would be right of them.

    Nor would it do to take the images for independent.
    """
    alike = dict.fromkeys(("backbone", *SPACES), 2.0)
    problems = [simulate(seed, count, classes, alike, sizes=(1,)) for seed in range(60)]
    assert 60 < np.mean([problem.own.accuracy for problem in problems]) < 90
    assert sum(map(tells_some_apart, problems)) <= 3
    monkeypatch.setattr(choice, "VARIANCE_FACTOR", 1.0)
    again = [
        choose(problem.own.candidate, [one.candidate for one in problem.subsets])
        for problem in problems
    ]
    assert sum(map(tells_some_apart, again)) >= 8


def tells_some_apart(choice: Choice) -> bool:
    return any(one.outcome != "no clear difference" for one in choice.subsets)


def test_the_space_that_knows_the_classes_is_found() -> None:
    for seed in range(5):
        found = simulate(seed, 40, 4, {"color": 5.0})
        assert found.chosen.name == "color" and found.conclusive
        verdicts = {one.name: one.outcome for one in found.subsets}
        assert verdicts["invariant"] == verdicts["rotation"] == "no clear difference"
        assert found.chosen.accuracy > found.own.accuracy + 40
