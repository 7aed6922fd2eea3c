"""Jigsaw against a direct transcription that shuffles the tiles themselves, and its runs."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.methods.plain_parts import PlainJigsaw
from tests.methods.small_runs import assert_resumes_exactly, small_run
from tests.small import PlainEncoder, random_views
from unshortcut import load_recipe, probe
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.imaging.permutations import choose_permutations
from unshortcut.methods.jigsaw import Jigsaw, standardize
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch

SMALL = [
    "method.tile_augmentations.random_crop.size=6",
    "method.permutations=20",
    "method.tile_dim=8",
    "method.hidden=16",
]


def build(**changes: object) -> Jigsaw:
    torch.manual_seed(0)
    settings = {"grid": 3, "permutations": 11, "tile_dim": 7, "hidden": 10, "dropout": 0.0}
    method: Jigsaw = PlainJigsaw(**{**settings, **changes}).build(PlainEncoder()).double()  # type: ignore[arg-type]
    return method


def test_a_step_equals_a_transcription_with_shuffled_tiles() -> None:
    method = build()
    views = random_views(("tiles",), 5, seed=0, size=12)
    result = method.loss(Batch(views))
    orders = choose_permutations(9, 11)
    labels = method.sample_labels(5)
    tile_layer, joined = method.head.tile[0], method.head.joined
    losses, right = [], 0
    for image, label in zip(views["tiles"], labels.tolist(), strict=True):
        tiles = [image[:, 4 * r : 4 * r + 4, 4 * c : 4 * c + 4] for r in range(3) for c in range(3)]
        tiles = [(t - t.mean((1, 2), True)) / t.std((1, 2), keepdim=True) for t in tiles]
        shown = [tiles[number] for number in orders[label]]
        each = [tile_layer(method.encoder(tile[None])).relu() for tile in shown]
        hidden = joined[0](torch.cat(each, dim=1)).relu()
        logits = joined[3](hidden)[0]
        losses.append(logits.logsumexp(0) - logits[label])
        right += int(logits.argmax()) == label
    torch.testing.assert_close(result.loss, torch.stack(losses).mean())
    assert float(result.metrics["pretext_accuracy"]) == pytest.approx(right / 5)
    assert result.embeddings.shape == (5, 6)
    torch.testing.assert_close(result.embeddings.norm(dim=1), torch.ones(5, dtype=torch.float64))


def test_every_step_draws_other_permutations_uniformly_by_its_key() -> None:
    method, same = build(), build()
    drawn = []
    for _ in range(100):
        drawn.append(method.sample_labels(22))
        assert torch.equal(drawn[-1], same.sample_labels(22))
        assert torch.equal(drawn[-1], method.sample_labels(22)), "a step can be repeated"
        method.batches_seen += 1
        same.batches_seen += 1
    counts = torch.cat(drawn).bincount(minlength=11)
    assert len(counts) == 11 and counts.min() > 140 and counts.max() < 260  # 200 expected
    assert not torch.equal(drawn[0], drawn[1])


def test_the_permutations_depend_on_the_seed_and_are_saved() -> None:
    first, other = (
        PlainJigsaw(grid=2, permutations=10, tile_dim=4, hidden=4).build(
            PlainEncoder(), TrainingContext(seed=seed)
        )
        for seed in (0, 1)
    )
    assert not torch.equal(first.permutations, other.permutations)
    other.load_state_dict(first.state_dict())
    assert torch.equal(first.permutations, other.permutations)


def test_tiles_are_standardized_by_channel_and_flat_ones_are_zero() -> None:
    tiles = 3 + 5 * torch.randn(4, 3, 8, 8)
    tiles[1, 2] = 0.7  # e.g. a white sky
    out = standardize(tiles)
    assert torch.equal(out[1, 2], torch.zeros(8, 8))
    out[1, 2] = torch.randn(8, 8)
    torch.testing.assert_close(out[:, :2].mean((2, 3)), torch.zeros(4, 2), atol=1e-5, rtol=0)
    torch.testing.assert_close(out[:, :2].std((2, 3)), torch.ones(4, 2))
    # a scale and a shift of a channel, such as the recipe's mean and std, make no difference
    torch.testing.assert_close(standardize(2 * tiles[2:] - 9), standardize(tiles[2:]))
    flat = torch.full((64, 3, 16, 16), 0.1) / 0.229 - 2.1179
    assert standardize(flat).abs().max() < 1e-5, "rounding is not enlarged"


def test_a_few_steps_learn_to_solve_puzzles() -> None:
    method = build(grid=2, permutations=6, tile_dim=16, hidden=32)
    optimizer = torch.optim.Adam(method.parameters(), lr=1e-2)
    # a bright stripe in every tile says where the tile belongs
    tiles = torch.zeros(1, 3, 32, 32, dtype=torch.float64)
    for number in range(4):
        top, left = (16 * x for x in divmod(number, 2))
        tiles[0, :, top + 4 * number : top + 4 * number + 4, left : left + 16] = 3
    accuracies = []
    for step in range(60):
        noise = random_views(("tiles",), 16, seed=step, size=32)["tiles"]
        result = method.loss(Batch({"tiles": tiles + noise}))
        optimizer.zero_grad()
        result.loss.backward()
        optimizer.step()
        method.on_after_backward()
        accuracies.append(float(result.metrics["pretext_accuracy"]))
    assert np.mean(accuracies[:5]) < 0.5 < 0.9 < np.mean(accuracies[-5:])


def test_its_recipe_runs_and_resumes_exactly(tmp_path: Path) -> None:
    assert_resumes_exactly("jigsaw-patchwise-shapes", tmp_path, [*SMALL, "method.dropout=0.5"])
    entries = [json.loads(line) for line in (tmp_path / "whole" / "log.jsonl").open()]
    assert all({"loss", "pretext_accuracy"} <= entry.keys() for entry in entries)


def test_a_run_with_alexnet_and_a_file_is_exported_and_probed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("four.npy", choose_permutations(4, 12))
    sets = [
        "method={name: jigsaw, grid: 2, permutations: four.npy, tile_dim: 8, hidden: 8, "
        "tile_augmentations: [{name: random_crop, size: 11, padding: 0}, "
        "{name: resize, size: 43}]}",
        "encoder={name: alexnet_jigsaw}",
        "views.eval_size=48",
        "schedule.epochs=1",
        "data.batch_size=8",
    ]
    source = Shapes("train", size=32, count=16)
    with warnings.catch_warnings():
        # Untrained, all features of this network are alike; there is no collapse to warn of.
        warnings.filterwarnings("error", message="the embedding has collapsed")
        run = small_run("jigsaw-shapes", tmp_path / "run", sets, source=source)
    model = run.model()
    assert model.features(torch.randn(1, 3, 48, 48)).shape == (1, 2304)
    train, test = (Shapes(split, size=48, count=30) for split in ("train", "test"))
    assert probe(run.folder, train, kind="knn", tests={"test": test}).scores["test"].mean


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("method.permutations=1", "a number of permutations of at least 2, or a .npy file"),
        ("method.permutations=400000", "3 × 3 tiles have 362880 permutations, not 400000"),
        ("method.grid=2", "2 × 2 tiles have 24 permutations, not 100"),
        ("method.grid=4", "4 × 4 tiles are too many to choose from; name a .npy file"),
        ("method.grid=1", "'grid' must be an integer from 2 to 8"),
        ("method.selection=median", "'selection' must be 'mean' or 'minimum'"),
        ("method.dropout=1", "'dropout' must be a number of at least 0 and below 1"),
    ],
)
def test_a_wrong_setting_is_one_sentence(change: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_recipe("jigsaw-shapes", [change])


def test_a_file_of_another_grid_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    file = tmp_path / "four.npy"
    np.save(file, choose_permutations(4, 12))
    message = "permutations of 4 tiles, but a puzzle of 3 × 3 has 9"
    with pytest.raises(UsageError, match=message):
        small_run("jigsaw-shapes", tmp_path / "run", [*SMALL, f"method.permutations={file}"])
    assert not (tmp_path / "run").exists()
