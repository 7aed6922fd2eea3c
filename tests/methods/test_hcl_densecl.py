"""Hyperbolic learning on DenseCL against a direct transcription, in float64 and cell by cell."""

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.methods.plain_parts import PlainHCLDenseCL, PlainMapEncoder
from tests.methods.small_runs import assert_resumes_exactly
from tests.methods.test_hcl import VIEWS, T, hyperbolic, in_ball
from tests.small import random_views
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.methods.hcl_densecl import HCLDenseCL
from unshortcut.methods.step import Batch
from unshortcut.negatives.patch import PatchSettings
from unshortcut.negatives.queue import QueueSettings

DENSE = 0.3


def build(**changed: object) -> HCLDenseCL:
    torch.manual_seed(0)
    settings = {
        "hidden": 8,
        "dim": 5,
        "negatives": (QueueSettings(7),),
        "dense_negatives": (QueueSettings(9),),
        "dense_weight": DENSE,
        "hyperbolic_queue": 6,
    }
    return PlainHCLDenseCL(**{**settings, **changed}).build(PlainMapEncoder()).double()


def nce(query: Tensor, positive: Tensor, queue: Tensor) -> Tensor:
    logits = torch.cat([(query @ positive)[None], queue @ query]) / T
    return torch.logsumexp(logits, 0) - logits[0]


def transcribed(method: HCLDenseCL, views: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """The Euclidean and the hyperbolic loss before the first step, when both networks are equal."""
    unit = {}
    raw = {}
    for name, view in views.items():
        maps = method.encoder.model.forward_features(view)  # (N, C, 2, 2)
        raw[name] = method.head.image(method.encoder(view))
        cells = method.head.dense(maps).flatten(2)  # (N, D, 4)
        unit[name] = F.normalize(raw[name], dim=1), cells, maps.flatten(2)
    directions = []
    for query, key, sources, dense_sources in (
        ("query", "key", method.sources, method.dense_sources),
        ("key", "query", method.back_sources, method.back_dense_sources),
    ):
        queue, dense_queue = (one[0].queue.rows for one in (sources, dense_sources))  # type: ignore[union-attr,index]
        of_images, of_cells = [], []
        for n in range(len(views["query"])):
            (a, a_cells, a_maps), (b, b_cells, b_maps) = (
                [part[n] for part in unit[name]] for name in (query, key)
            )
            of_images.append(nce(a, b, queue))
            for cell in range(4):
                cosines = [F.cosine_similarity(a_maps[:, cell], b_maps[:, k], 0) for k in range(4)]
                best = max(range(4), key=lambda k: cosines[k].item())
                one, other = (F.normalize(c, dim=0) for c in (a_cells[:, cell], b_cells[:, best]))
                of_cells.append(nce(one, other, dense_queue))
        means = torch.stack(of_images).mean(), torch.stack(of_cells).mean()
        directions.append((1 - DENSE) * means[0] + DENSE * means[1])
    scenes = []
    for a, b in zip(in_ball(raw["scene"]), in_ball(raw["object"]), strict=True):
        past = (hyperbolic(a, row) for row in method.objects.rows)
        logits = -torch.stack([hyperbolic(a, b), *past]) / T
        scenes.append(torch.logsumexp(logits, 0) - logits[0])
    return torch.stack(directions).mean(), torch.stack(scenes).mean()


def test_the_loss_is_that_of_the_formulas_and_every_queue_gets_its_keys() -> None:
    method, views = build(), random_views(VIEWS, 4, seed=0)
    euclidean, scenes = transcribed(method, views)
    found = method.loss(Batch(views))
    torch.testing.assert_close(found.loss, euclidean + 0.1 * scenes)
    torch.testing.assert_close(found.metrics["loss_euclidean"], euclidean.detach())
    torch.testing.assert_close(found.metrics["loss_hyperbolic"], scenes.detach())
    keys = {view: method.encode_dense_keys(views[view]) for view in ("query", "key")}
    points = in_ball(method.head.image(method.encoder(views["object"]))).detach()
    method.after_backward()
    for sources, rows in (
        (method.sources, keys["key"].image),
        (method.back_sources, keys["query"].image),
        (method.dense_sources, keys["key"].mean),
        (method.back_dense_sources, keys["query"].mean),
    ):
        torch.testing.assert_close(sources[0].queue.rows[:4], rows)  # type: ignore[union-attr]
    torch.testing.assert_close(method.objects.rows[:4], points)


def test_each_loss_alone_is_its_part_and_asks_only_for_its_views() -> None:
    views = random_views(VIEWS, 4, seed=0)
    euclidean, scenes = transcribed(build(), views)
    objects, ball = build(hyperbolic_weight=0.0), build(euclidean_weight=0.0)
    torch.testing.assert_close(objects.loss(Batch(views)).loss, euclidean)
    torch.testing.assert_close(ball.loss(Batch(views)).loss, 0.1 * scenes)
    assert list(objects.settings.view_transforms()) == ["query", "key"]
    assert list(ball.settings.view_transforms()) == ["object", "scene"]
    ball.loss(Batch(views)).loss.backward()
    waiting = [n for n, one in ball.named_parameters() if one.requires_grad and one.grad is None]
    assert waiting == [], "ranks wait for every gradient"
    with pytest.raises(UsageError, match="must not both be 0"):
        build(euclidean_weight=0.0, hyperbolic_weight=0.0)


def test_patch_negatives_of_both_views_are_made_for_both_losses() -> None:
    patches = (QueueSettings(9), PatchSettings())
    dense = build(dense_negatives=patches).settings
    both = build(negatives=patches, dense_negatives=patches).settings
    assert set(dense.view_transforms()) == set(both.view_transforms())
    assert len(both.view_transforms()) == len(VIEWS) + 2, "a tile of each view of the object"
    views = random_views(tuple(both.view_transforms()), 4, seed=0)
    with_patches = build(negatives=patches, dense_negatives=patches).loss(Batch(views)).loss
    without = build(negatives=(QueueSettings(9),)).loss(Batch(views)).loss
    assert with_patches.item() > without.item()


def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    sets = ["method.hidden=16", "method.dim=8"] + [
        f"views.overrides.{view}.resize.size=[24,24]" for view in ("object", "scene")
    ]
    assert_resumes_exactly("hcl-densecl-shapes", tmp_path, sets, Shapes("scene", size=48, count=96))
