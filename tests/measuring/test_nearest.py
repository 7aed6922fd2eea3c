"""Nearest neighbors side by side: against scikit-learn, never itself, and what the sheet shows."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from tests.probes.painted import SIDE, Painted, Seeing
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features
from unshortcut.measuring.nearest import nearest, neighbors
from unshortcut.measuring.neighbor_sheet import FRAMES
from unshortcut.models.load import LoadedModel

DATA = Painted(40, seed=3)


def colors(name: str = "colors") -> LoadedModel:
    """Features that are the color, less gray."""
    model = replace(Seeing().model(name=name), spaces=None)
    return replace(model, features=lambda images: images[:, :, 0, 0] - 0.5)


def test_neighbors_are_scikit_learns_without_the_query() -> None:
    random = np.random.default_rng(0)
    values = random.normal(size=(300, 16)).astype(np.float32)
    labels = random.integers(0, 4, 300)
    bank = Features(values, labels, ("a", "b", "c", "d"), np.arange(300))
    queries = np.array([7, 250, 0])
    found = nearest(bank, bank, queries, 5, same_images=True, labeled=True)
    peer = NearestNeighbors(n_neighbors=6, metric="cosine").fit(values.astype(np.float64))
    distances, indices = peer.kneighbors(values[queries].astype(np.float64))
    assert indices[:, 0].tolist() == queries.tolist()
    np.testing.assert_array_equal(found.indices, indices[:, 1:])
    np.testing.assert_allclose(found.similarities, 1 - distances[:, 1:], atol=1e-6)
    expected = labels[indices[:, 1:]] == labels[queries][:, None]
    assert found.agreement == pytest.approx(expected.mean())


def test_a_query_is_not_its_own_neighbor_but_its_copy_is() -> None:
    data = Painted(20)
    data.colors[11] = data.colors[4]
    found = neighbors([colors()], data, queries=["004.png"], neighbors=19).models["colors"]
    assert found.indices[0, 0] == 11 and found.similarities[0, 0] == pytest.approx(1)
    assert sorted(found.indices[0].tolist()) == [i for i in range(20) if i != 4]
    assert (np.diff(found.similarities[0]) <= 0).all()


def test_other_data_may_be_searched_and_then_nothing_is_left_out() -> None:
    searched = Painted(41, seed=3)
    searched.colors[:40] = DATA.colors
    result = neighbors([colors()], DATA, queries=40, neighbors=1, against=searched)
    found = result.models["colors"]
    np.testing.assert_array_equal(found.indices[:, 0], result.queries)
    assert found.agreement == 1


def test_the_space_that_sees_the_class_finds_it_and_other_models_stay_as_they_are() -> None:
    models = {"a": Seeing().model(), "b": colors()}
    result = neighbors(models, DATA, spaces=["color"], queries=10, neighbors=4)
    assert list(result.models) == ["a (color)", "b"]
    assert result.models["a (color)"].agreement == 1
    alone = neighbors({"b": colors()}, DATA, queries=10, neighbors=4)
    np.testing.assert_array_equal(alone.queries, result.queries)
    np.testing.assert_array_equal(alone.models["b"].indices, result.models["b"].indices)
    assert result.models["b"].agreement != 1


def test_the_seed_chooses_the_queries() -> None:
    first, again, other = (
        neighbors([colors()], DATA, queries=6, seed=seed).queries.tolist() for seed in (1, 1, 2)
    )
    assert first == again != other and len(set(first)) == 6


def test_images_that_cannot_be_read_are_neither_queries_nor_neighbors() -> None:
    data = Painted(40, seed=3, bad=(3, 20))
    with pytest.warns(UserWarning, match="2 of 40 images cannot be read"):
        result = neighbors([colors()], data, queries=38, neighbors=37)
    shown = set(result.models["colors"].indices.ravel().tolist())
    assert not {3, 20} & (shown | set(result.queries.tolist()))
    whole = neighbors([colors()], DATA, queries=["021.png"], neighbors=39)
    place = result.queries.tolist().index(21)
    kept = [i for i in whole.models["colors"].indices[0].tolist() if i not in (3, 20)]
    assert result.models["colors"].indices[place].tolist() == kept


def test_without_labels_in_common_no_class_is_compared() -> None:
    result = neighbors([colors()], DATA, queries=3, against=Painted(20, classes=4))
    assert result.models["colors"].agreement is None
    assert json.loads(json.dumps(result.to_dict()))["models"]["colors"]["same_class"] is None
    plain = np.array(result.sheet(side=SIDE)).reshape(-1, 3)
    assert not any((plain == color).all(1).any() for color in FRAMES.values())


def test_figures_name_images_with_their_similarities() -> None:
    result = neighbors([colors(), colors()], DATA, queries=["1/004.png", "000.png"])
    metrics = json.loads(json.dumps(result.to_dict()))
    assert metrics["queries"] == ["1/004.png", "0/000.png"]
    assert list(metrics["models"]) == ["colors", "colors (2)"]
    row = metrics["models"]["colors (2)"]["neighbors"][1]
    found = result.models["colors"]
    assert [one["image"] for one in row] == [DATA.identity(i) for i in found.indices[1]]
    assert [one["similarity"] for one in row] == found.similarities[1].tolist()


def test_the_sheet_shows_queries_and_neighbors_in_green_and_red_frames() -> None:
    result = neighbors([colors("a"), colors("b")], DATA, queries=5, neighbors=3)
    page = np.array(result.sheet(side=20))
    same = result.models["a"].same_class
    assert same is not None and 0 < same.mean() < 1
    for color, which in ((FRAMES["good"], same), (FRAMES["bad"], ~same)):
        # Images of 8 × 8 in a frame of 1 pixel, doubled: 20 × 20 without 16 × 16.
        assert (page == color).all(2).sum() == 2 * which.sum() * (20**2 - 16**2)
    for row, query in enumerate(result.queries):
        ys, xs = np.nonzero((page == DATA.colors[query]).all(2))
        line = page[ys[len(ys) // 2], xs.min() :].tolist()
        shown = [c for n, c in enumerate(line) if c != line[n - 1] or n == 0]
        shown = [c for c in shown if tuple(c) not in (*FRAMES.values(), (255, 255, 255))]
        found = result.models["a"].indices[row].tolist()
        assert shown == DATA.colors[[query, *found, *found]].tolist()


def test_what_cannot_be_found_is_said() -> None:
    model = colors()
    with pytest.raises(UsageError, match="at least one model"):
        neighbors([], DATA)
    with pytest.raises(UsageError, match="neighbors must be from 1 to 39, not 40"):
        neighbors([model], DATA, neighbors=40)
    with pytest.raises(UsageError, match="queries must be from 1 to 40, not 41"):
        neighbors([model], DATA, queries=41)
    with pytest.raises(UsageError, match=r"no image '0/005.pn' .* did you mean '2/005.png'"):
        neighbors([model], DATA, queries=["0/005.pn"])
    with pytest.raises(UsageError, match="none of the models has spaces"):
        neighbors([model], DATA, spaces=["color"])
    with pytest.raises(UsageError, match="unknown space 'colour'; did you mean 'color'"):
        neighbors([Seeing().model()], DATA, spaces=["colour"])
    twice = Shapes("train", size=16, count=20)
    twice.identity = lambda index: f"{index}/same.png"  # type: ignore[method-assign]
    with pytest.raises(UsageError, match=r"can be 0/same.png or 1/same.png: give more"):
        neighbors([model], twice, queries=["same.png"])
