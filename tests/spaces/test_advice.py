"""Advice from a run and labeled images: what is compared, what is said, what is written."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tests.methods.small_runs import small_run
from tests.probes.painted import Painted
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.inference.features import compute_features
from unshortcut.models.load import LoadedModel, load_model
from unshortcut.probes.cross_validation import held_out_hits, stratified_folds
from unshortcut.spaces import advice as advice_module
from unshortcut.spaces.advice import Advice, advise, usable
from unshortcut.spaces.choice import Candidate, choose
from unshortcut.spaces.loading import load_spaces

IMAGES = Shapes("val", size=32, count=48)
SPACES = ("invariant", "color", "rotation")
PAIRS = ("invariant + color", "invariant + rotation", "color + rotation")
WIDTH = 12
SETS = ("schedule.epochs=1", f"method.hidden={WIDTH}", "method.dim=8")


@pytest.fixture(scope="module")
def looc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("a") / "run"
    return small_run("looc-color-rotation-shapes", folder, SETS).folder


@pytest.fixture(scope="module")
def plus_plus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("b") / "run"
    return small_run("looc-pp-color-rotation-shapes", folder, SETS).folder


def values(model: LoadedModel) -> NDArray[np.float32]:
    return compute_features(model, IMAGES, cache=False).values


def test_each_candidate_has_the_accuracy_of_its_own_features(looc: Path) -> None:
    found = advise(looc, IMAGES, out=None, repeats=2, seed=3).choice
    assert found.own.name == "backbone" and found.own.candidate.dim == 16
    assert [one.name for one in found.subsets] == [*SPACES, *PAIRS, " + ".join(SPACES)]
    folds = stratified_folds(IMAGES.labels, repeats=2, seed=3)
    for one in (found.own, *found.subsets):
        spaces = one.candidate.spaces
        model = load_model(looc) if spaces is None else load_spaces(looc, spaces)
        hits = held_out_hits(values(model), IMAGES.labels, folds)
        assert one.candidate.dim == values(model).shape[1]
        assert (hits != one.candidate.hits).mean() <= 0.05, one.name
        assert one.accuracy == pytest.approx(100 * one.candidate.hits.mean())


def test_all_spaces_of_looc_plus_plus_are_its_own_representation(
    plus_plus: Path, tmp_path: Path
) -> None:
    found = advise(plus_plus, IMAGES, out=tmp_path / "new" / "folder", repeats=1)
    assert found.choice.own.candidate.spaces == SPACES
    assert [one.name for one in found.choice.subsets] == [*SPACES, *PAIRS]
    if found.chosen is found.choice.own:
        written = load_model(tmp_path / "new" / "folder")
        np.testing.assert_array_equal(values(written), values(load_model(plus_plus)))


@pytest.mark.parametrize("run", ["looc", "plus_plus"])
def test_the_encoder_written_gives_the_recommended_features(
    run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(run)
    everything = values(load_spaces(folder))
    width = everything.shape[1] // 3
    wanted = everything[:, [*range(width), *range(2 * width, 3 * width)]]

    def only_those(
        features: NDArray[np.float32], labels: NDArray[np.int64], _: object
    ) -> NDArray[np.float64]:
        known = features.shape == wanted.shape and np.allclose(features, wanted, atol=1e-5)
        return np.full(len(labels), float(known))

    monkeypatch.setattr(advice_module, "held_out_hits", only_those)
    found = advise(folder, IMAGES, out=tmp_path / "out")
    assert found.chosen.name == "invariant + rotation"
    encoder = load_model(tmp_path / "out" / "encoder.safetensors")
    assert encoder.spaces == ("invariant", "rotation")
    np.testing.assert_allclose(values(encoder), wanted, atol=1e-5)
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["metrics"]["use"] == "invariant + rotation"
    assert (tmp_path / "out" / "advice.png").stat().st_size > 10_000


def test_the_backbone_is_written_where_it_stays(looc: Path, tmp_path: Path) -> None:
    labels = np.random.default_rng(0).permutation(IMAGES.labels)
    source = Shapes("val", size=32, count=48)
    source.labels = labels
    found = advise(looc, source, out=tmp_path, repeats=1)
    assert found.chosen.name == "backbone" and not found.choice.conclusive
    encoder = load_model(tmp_path / "encoder.safetensors")
    assert encoder.spaces is None
    images = torch.randn(3, 3, 24, 24, generator=torch.Generator().manual_seed(0))
    assert torch.equal(encoder.features(images), load_model(looc).features(images))


def summed_up(own: float, *, counts: tuple[int, ...] = (50, 50), **subsets: float) -> Advice:
    """Advice for given shares of right images."""

    def candidate(name: str, share: float, spaces: tuple[str, ...] | None) -> Candidate:
        total = sum(counts)
        return Candidate(name, spaces, 8, (np.arange(total) < share * total).astype(float))

    others = [candidate(name, share, (name,)) for name, share in subsets.items()]
    choice = choose(candidate("backbone", own, None), others)
    return Advice(choice, ("cat", "dog"), counts, 5, 0, True)


def test_the_sentence_names_what_to_use_and_by_how_much_it_is_better() -> None:
    found = summed_up(0.6, color=0.92, invariant=0.5)
    margin = found.chosen.margin
    assert found.sentence() == (
        "Use color: its accuracy is 92.0 %, that of the backbone is 60.0 % "
        f"(difference 32.0 ± {margin:.1f} points)."
    )


def test_the_sentence_says_that_every_choice_is_worse() -> None:
    said = summed_up(0.95, color=0.5, invariant=0.6).sentence()
    assert said.startswith(
        "Use the backbone: its accuracy is 95.0 %, and every other choice of spaces is worse"
    )
    assert "the best, invariant, by 35.0 ± " in said


def test_the_sentence_says_that_the_labels_are_inconclusive_and_how_many_might_do() -> None:
    found = summed_up(0.8, color=0.84, invariant=0.7)
    assert found.sentence().startswith(
        "The labels are inconclusive, so use the backbone: with 100 images, no subset of spaces is "
        "significantly better than its 80.0 % (the best, color, is 4.0 ± "
    )
    assert found.choice.images_needed is not None
    each = found.choice.images_needed / 2
    told = int(found.sentence().partition("about ")[2].split()[0])
    assert each <= told <= 1.1 * each + 1
    assert "would show it" not in summed_up(0.8, color=0.79).sentence()


def test_the_sentence_says_that_nothing_does_better_than_guessing() -> None:
    said = summed_up(0.72, color=0.74, counts=(30, 70)).sentence()
    assert said.endswith(
        "No representation is significantly better than always predicting 'dog', which is correct "
        "for 70.0 % of the images."
    )


def test_a_class_of_one_image_is_left_out_with_a_warning() -> None:
    labels = np.array([0, 0, 2, 3, 3, 3])
    with pytest.warns(UserWarning, match="left out.*: fish"):
        kept, truth, classes = usable(labels, ("cat", "none", "fish", "dog"))
    assert kept.tolist() == [True, True, False, True, True, True]
    assert truth.tolist() == [0, 0, 1, 1, 1] and classes == ("cat", "dog")


def test_what_cannot_be_advised_on_is_said(looc: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="two or more images of at least two classes; the data have 5"
    ):
        advise(looc, Painted(5, classes=1), out=None)
    with pytest.raises(UsageError, match=r"1 of 'class 0', 1 of 'class 1'"):
        advise(looc, Painted(2, classes=2), out=None)
    unlabeled = Painted(6)
    unlabeled.labels = None
    with pytest.raises(UsageError, match="no labels: advice needs class folders"):
        advise(looc, unlabeled, out=None)
    with pytest.raises(UsageError, match="repeats must be at least 1"):
        advise(looc, IMAGES, out=None, repeats=0)
    moco = small_run("moco-v2-shapes", tmp_path / "moco", SETS).folder
    with pytest.raises(UsageError, match="has no spaces"):
        advise(moco, IMAGES, out=None)
    with pytest.raises(UsageError, match="is not a run"):
        advise("timm:resnet18@random", IMAGES, out=None)
