"""`--kind multilabel` and `--kind svm`: from images to mean average precision."""

from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from sklearn.metrics import average_precision_score
from torch import Tensor

from tests.probes.painted import SHOWN, Painted
from unshortcut.cli.probe import _table
from unshortcut.data.regions import MultiLabels
from unshortcut.data.shapes.source import COUNTS
from unshortcut.data.source import Subset
from unshortcut.errors import UsageError
from unshortcut.models.load import LoadedModel
from unshortcut.probes.run import probe

CLASSES = ("reddish", "greenish", "bluish")
KINDS = ["multilabel", "svm"]


class Several(Painted):
    """An image shows each color that is bright in it; colors in the middle are unknown."""

    def __init__(self, count: int, seed: int, bad: tuple[int, ...] = ()) -> None:
        super().__init__(count, seed, bad=bad)
        self.classes = self.labels = None
        self.colors = np.random.default_rng(seed).integers(0, 256, (count, 3), np.uint8)
        values = (self.colors > 150).astype(np.int8)
        values[(self.colors > 140) & (self.colors <= 150)] = -1
        self.multilabels = MultiLabels(CLASSES, values)

    def identity(self, index: int) -> str:
        return f"{index}.png"


def colors(images: Tensor) -> Tensor:
    """Features that a linear classifier can decide by."""
    return torch.cat([images[:, :, 0, 0], torch.ones(len(images), 1)], dim=1)


def model(seen: int = 3) -> LoadedModel:
    """A model that sees the first colors."""
    mask = torch.tensor([float(channel < seen) for channel in range(3)] + [1.0])
    return LoadedModel("colors", SHOWN, lambda images: colors(images) * mask, None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_sees_scores_high_and_one_that_does_not_scores_the_frequency(
    kind: str,
) -> None:
    train, test = Several(120, 0, bad=(3,)), Several(80, 1, bad=(5,))
    found = probe(model(), train, kind, tests={"test": test}).scores["test"]
    assert found.metric == "map"
    assert found.mean > 95
    assert 0 < found.others["map_11pt"] <= 100
    assert found.to_dict().keys() == {
        "map",
        "map_interpolated",
        "map_11pt",
        "map_mean_over_batches",
    }
    blind = probe(model(0), train, kind, tests={"test": test}).scores["test"].mean
    kept = np.arange(80) != 5
    values = test.multilabels.values[kept] if test.multilabels else np.zeros(0)
    rates = [(one[one >= 0] == 1).mean() for one in values.T]
    assert blind == pytest.approx(100 * np.mean(rates))


@pytest.mark.parametrize("kind", KINDS)
def test_the_classes_of_a_test_set_may_be_fewer_and_in_another_order(kind: str) -> None:
    train, test = Several(120, 0), Several(60, 1)
    assert test.multilabels is not None
    found = probe(model(2), train, kind, tests={"test": test}).scores["test"].mean
    order = [2, 1]
    fewer = Several(60, 1)
    fewer.multilabels = MultiLabels(("bluish", "greenish"), test.multilabels.values[:, order])
    own = probe(model(2), train, kind, tests={"test": fewer}).scores["test"].mean
    red = Several(60, 1)
    red.multilabels = MultiLabels(("reddish",), test.multilabels.values[:, :1])
    of_red = probe(model(2), train, kind, tests={"test": red}).scores["test"].mean
    assert found == pytest.approx((2 * own + of_red) / 3)
    assert of_red > 95 > own
    other = Several(60, 1)
    other.multilabels = MultiLabels(("gray",), test.multilabels.values[:, :1])
    with pytest.raises(UsageError, match="'test' has other classes than the training data: gray"):
        probe(model(), train, kind, tests={"test": other})


def test_the_score_is_that_of_scikit_learn_for_the_machines_outputs() -> None:
    """A single cost leaves nothing to choose, so scikit-learn's machine is the same."""
    from sklearn.svm import LinearSVC

    train, test = Several(100, 0), Several(60, 1)
    found = probe(model(), train, "svm", tests={"test": test}, costs=(1.0,)).scores["test"]

    def rows(source: Several) -> np.ndarray:
        features = np.c_[source.colors / 255, np.ones(len(source))]
        return features / np.linalg.norm(features, axis=1, keepdims=True)

    assert train.multilabels is not None and test.multilabels is not None
    precisions = []
    for one, truth in zip(train.multilabels.values.T, test.multilabels.values.T, strict=True):
        machine = LinearSVC(C=1.0, class_weight={1: 2, 0: 1}, dual=False)
        machine.fit(rows(train)[one >= 0], one[one >= 0])
        scores = machine.decision_function(rows(test))[truth >= 0]
        precisions.append(average_precision_score(truth[truth >= 0], scores))
    assert found.mean == pytest.approx(100 * np.mean(precisions), abs=0.05)


def test_the_table_has_every_figure_with_its_name() -> None:
    result = probe(model(), Several(60, 0), "multilabel", tests={"test": Several(40, 1)})
    console = Console(width=120)
    with console.capture() as shown:
        console.print(_table(result, "title"))
    for word in ("mean AP", "11-point", "interpolated", "mean over batches of 256"):
        assert word in shown.get()
    assert f"{result.scores['test'].others['map_11pt']:.2f} %" in shown.get()


def test_machines_classify_images_with_one_label() -> None:
    train, test = Painted(90, 0, classes=3), Painted(60, 1, classes=3)

    def features(images: Tensor) -> Tensor:
        red = (images[:, 0, 0, 0] * 255).round().long()
        return torch.nn.functional.one_hot(red, 4).float() + images[:, 1:2, 0, 0]

    seeing = LoadedModel("seeing", SHOWN, features, None)
    found = probe(seeing, train, "svm", tests={"test": test, "part": Subset(test, np.arange(6))})
    assert found.scores["test"].metric == "accuracy"
    assert found.means() == {"test": 100, "part": 100}
    blind = LoadedModel("blind", SHOWN, lambda images: images[:, 1:, 0, 0], None)
    assert probe(blind, train, "svm", tests={"test": test}).scores["test"].mean < 70


def test_data_that_do_not_say_which_classes_an_image_shows_are_refused() -> None:
    train, single = Several(30, 0), Painted(30, 1)
    with pytest.raises(UsageError, match=r"a multilabel probe needs .*; the training data does"):
        probe(model(), single, "multilabel", tests={"test": train})
    for kind in KINDS:
        with pytest.raises(UsageError, match=r"'test' does not say. For one class per image"):
            probe(model(), train, kind, tests={"test": single})
        with pytest.raises(UsageError, match="has no labels"):
            probe(model(), train, "knn", tests={"test": train})
    unlabeled = Painted(30, 1)
    unlabeled.labels = None
    with pytest.raises(UsageError, match="'train' has no labels"):
        probe(model(), unlabeled, "svm", tests={"test": unlabeled})
    empty = Several(30, 1)
    empty.multilabels = MultiLabels(CLASSES, np.zeros((30, 3), np.int8))
    with pytest.raises(UsageError, match="no training image shows any of the classes"):
        probe(model(), empty, "multilabel", tests={"test": train})
    with pytest.raises(UsageError, match="no image of 'test' shows any of the classes"):
        probe(model(), train, "multilabel", tests={"test": empty})
    with pytest.raises(UsageError, match="'folds' must be an integer of at least 2, got 1"):
        probe(model(), train, "svm", tests={"test": train}, folds=1)


def test_scenes_are_tested_on_scenes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path))
    monkeypatch.setitem(COUNTS, "scene-train", 40)
    monkeypatch.setitem(COUNTS, "scene-test", 30)
    found = probe(model(), "shapes@scene-train", "multilabel", workers=0)
    assert list(found.scores) == ["scene-test"]
    assert found.scores["scene-test"].metric == "map"
