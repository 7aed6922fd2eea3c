"""Probes on subsets of spaces: which subsets, the right columns, and features computed once."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.probes.painted import SPACES, Painted, Seeing
from unshortcut.errors import UsageError
from unshortcut.inference.features import compute_features
from unshortcut.probes.base import PROBES
from unshortcut.probes.run import probe
from unshortcut.spaces.subsets import probe_spaces, select_spaces, subsets_of

TRAIN, TEST = Painted(90, seed=1), Painted(60, seed=2)


def test_few_spaces_give_all_their_subsets() -> None:
    assert subsets_of("ab") == [("a",), ("b",), ("a", "b")]
    found = subsets_of("abcd")
    assert len(found) == len(set(found)) == 2**4 - 1
    assert [len(subset) for subset in found] == [1] * 4 + [2] * 6 + [3] * 4 + [4]


def test_many_spaces_give_each_alone_the_first_with_each_other_and_all() -> None:
    alone = [("a",), ("b",), ("c",), ("d",), ("e",)]
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("a", "e")]
    assert subsets_of("abcde") == [*alone, *pairs, tuple("abcde")]


def test_named_subsets_come_in_the_models_order_each_once() -> None:
    expected = [("color",), ("invariant", "color"), ("invariant", "rotation")]
    assert subsets_of(SPACES, "color+invariant,color,rotation+invariant") == expected
    assert (
        subsets_of(SPACES, ["color", ("color", "invariant"), "invariant + color"]) == expected[:2]
    )


@pytest.mark.parametrize("which", ["colour", "invariant,colour", [("rotation", "colour")]])
def test_an_unknown_space_is_said_with_the_nearest(which: str) -> None:
    with pytest.raises(UsageError, match="unknown space 'colour'; did you mean 'color'"):
        probe_spaces(Seeing().model(), TRAIN, "knn", subsets=which, tests=[TEST])


@pytest.mark.parametrize("kind", ["linear", "knn"])
def test_only_subsets_with_the_space_that_sees_the_class_know_it(kind: str) -> None:
    found = probe_spaces(Seeing().model(), TRAIN, kind, tests={"test": TEST})
    assert list(found) == subsets_of(SPACES)
    for subset, result in found.items():
        accuracy = result.scores["test"].mean
        if "color" not in subset:
            assert accuracy < 65, subset
        elif kind == "linear" or subset == ("color",):
            assert accuracy == 100, subset


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("linear", {"seeds": 1}),
        ("knn", {}),
        ("rotation", {"seeds": 1}),
        ("fewshot", {"shots": [5]}),
    ],
)
def test_every_kind_gives_what_it_gives_of_a_model_of_these_spaces(
    kind: str, settings: dict[str, object]
) -> None:
    """And computes the features of an image once, though nothing of this model is cached."""
    seeing = Seeing()
    subsets = [("invariant",), ("color", "rotation")]
    tests = {"test": TEST}
    found = probe_spaces(seeing.model(), TRAIN, kind, subsets=subsets, tests=tests, **settings)
    assert seeing.calls == 2, "train and test, each in one batch"
    full = Seeing().features
    for subset, keep in zip(subsets, (slice(0, 4), slice(4, 12)), strict=True):
        narrow = replace(
            seeing.model(), features=lambda x, keep=keep: full(x)[:, keep], spaces=None
        )
        assert found[subset] == probe(narrow, TRAIN, kind, tests=tests, **settings)


def test_a_probe_of_ones_own_and_data_without_labels_serve_as_well() -> None:
    class Unlabeled(Painted):
        labels = None

        def __init__(self, count: int) -> None:
            super().__init__(count)
            self.labels = None

    own = PROBES.build({"name": "rotation", "seeds": 1})
    found = probe_spaces(
        Seeing().model(), Unlabeled(40), own, subsets="color", tests={"t": Unlabeled(20)}
    )
    assert list(found) == [("color",)] and found[("color",)].kind == "rotation"
    with pytest.raises(UsageError, match="has no labels"):
        probe_spaces(Seeing().model(), Unlabeled(40), tests={"t": Unlabeled(20)})


def test_a_model_of_chosen_spaces_has_their_columns_and_a_cache_of_its_own() -> None:
    model = Seeing().model("print")
    chosen = select_spaces(model, ["rotation", "invariant"])
    assert chosen.spaces == ("invariant", "rotation")
    images = torch.rand(5, 3, 8, 8, generator=torch.Generator().manual_seed(0)) / 100
    full = model.features(images)
    torch.testing.assert_close(chosen.features(images), full[:, [0, 1, 2, 3, 8, 9, 10, 11]])
    whole = compute_features(model, TEST).values
    part = compute_features(chosen, TEST).values
    np.testing.assert_array_equal(part, whole[:, [0, 1, 2, 3, 8, 9, 10, 11]])
    other = replace(model, spaces=("rotation", "color", "invariant"))
    renamed = compute_features(select_spaces(other, ["rotation", "color"]), TEST).values
    np.testing.assert_array_equal(renamed, whole[:, :8])


def test_what_has_no_equal_blocks_is_said() -> None:
    model = Seeing().model()
    with pytest.raises(UsageError, match="'seeing' has no spaces"):
        probe_spaces(replace(model, spaces=None), TRAIN, tests=[TEST])
    uneven = replace(model, spaces=(*SPACES, "a", "b"))
    with pytest.raises(UsageError, match="12 feature columns cannot be split into 5 equal blocks"):
        probe_spaces(uneven, TRAIN, tests=[TEST])
    with pytest.raises(UsageError, match="must name at least one"):
        probe_spaces(model, TRAIN, tests=[TEST], subsets=[])


def test_probing_any_model_imports_no_lightning() -> None:
    """Only loading the spaces of a run does: `measuring` and `probes` go without."""
    modules = "unshortcut.probes.run, unshortcut.spaces.subsets, unshortcut.spaces.choice"
    check = f"import sys, {modules}; sys.exit('lightning' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
