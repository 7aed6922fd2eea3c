from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from tests.methods.small_runs import assert_resumes_exactly
from tests.small import PlainEncoder, random_views
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.methods.hcl import HCL, HCLSettings
from unshortcut.methods.step import Batch
from unshortcut.negatives.queue import QueueSettings
from unshortcut.recipes.load import load_recipe

VIEWS = ("query", "key", "object", "scene")
C, T = 0.05, 0.2


def hcl(**settings: float) -> HCL:
    torch.manual_seed(0)
    made = HCLSettings(
        hidden=8, dim=5, momentum=0.9, negatives=(QueueSettings(7),), hyperbolic_queue=6, **settings
    )
    return made.build(PlainEncoder()).double()


def in_ball(v: torch.Tensor) -> torch.Tensor:
    norm = v.norm(dim=-1, keepdim=True)
    return torch.tanh(C**0.5 * norm) * v / (C**0.5 * norm)


def hyperbolic(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """2/√c artanh(√c‖(−x) ⊕ y‖) of single points."""
    x = -x
    dot, xx, yy = x @ y, x @ x, y @ y
    top = (1 + 2 * C * dot + C * yy) * x + (1 - C * xx) * y
    return 2 / C**0.5 * torch.atanh(C**0.5 * (top / (1 + 2 * C * dot + C**2 * xx * yy)).norm())


def test_the_loss_is_that_of_the_formulas() -> None:
    method, views = hcl(), random_views(VIEWS, 4, seed=0)
    forward, back = (one[0].queue.rows.clone() for one in (method.sources, method.back_sources))  # type: ignore[union-attr,index]
    past = method.objects.rows.clone()
    assert not torch.equal(forward, back)
    # Before the first step the momentum copy equals the network.
    raw = {name: method.head(method.encoder(view)) for name, view in views.items()}
    euclidean = []
    for query, key, queue in (("query", "key", forward), ("key", "query", back)):
        for a, b in zip(raw[query], raw[key], strict=True):
            a, b = F.normalize(a, dim=0), F.normalize(b, dim=0)
            logits = torch.cat([(a @ b)[None], queue @ a]) / T
            euclidean.append(torch.logsumexp(logits, 0) - logits[0])
    scenes = []
    for a, b in zip(in_ball(raw["scene"]), in_ball(raw["object"]), strict=True):
        logits = -torch.stack([hyperbolic(a, b), *(hyperbolic(a, row) for row in past)]) / T
        scenes.append(torch.logsumexp(logits, 0) - logits[0])
    expected = torch.stack(euclidean).mean() + 0.1 * torch.stack(scenes).mean()
    found = method.loss(Batch(views))
    torch.testing.assert_close(found.loss, expected)
    method.after_backward()
    torch.testing.assert_close(method.objects.rows[:4], in_ball(raw["object"]).detach())
    torch.testing.assert_close(method.back_sources[0].queue.rows[:4], F.normalize(raw["query"]))  # type: ignore[union-attr]


def test_the_gradient_of_scenes_is_scaled_by_the_metric() -> None:
    method = hcl(euclidean_weight=0.0, hyperbolic_weight=1.0)
    views = random_views(VIEWS[2:], 4, seed=0)
    seen = []
    method.head.register_full_backward_hook(
        lambda module, given, gradient: seen.append(gradient[0])
    )
    method.loss(Batch(views)).loss.backward()
    vectors = method.head(method.encoder(views["scene"])).detach().requires_grad_()
    points = in_ball(vectors)
    objects = in_ball(method.head(method.encoder(views["object"]))).detach()
    rows = method.objects.rows
    losses = []
    for a, b in zip(points, objects, strict=True):
        logits = -torch.stack([hyperbolic(a, b), *(hyperbolic(a, row) for row in rows)]) / T
        losses.append(torch.logsumexp(logits, 0) - logits[0])
    (plain,) = torch.autograd.grad(torch.stack(losses).mean(), points, retain_graph=True)
    scaled = plain * (1 - C * points.square().sum(1, keepdim=True)) ** 2 / 4
    (expected,) = torch.autograd.grad(points, vectors, scaled.detach())
    torch.testing.assert_close(seen[0], expected)


def test_batch_norm_leaves_scenes_longer_than_objects() -> None:
    """Normalized alone, a batch of scenes would be as long as a batch of objects."""
    method = hcl(head_batch_norm=True, batch_norm_groups=2)
    views = random_views(VIEWS, 32, seed=1)
    views["scene"] = 5 * views["scene"]
    encoded = method.encode_together(Batch(views))
    lengths = {name: one[0].norm(dim=1).mean().item() for name, one in encoded.items()}
    assert lengths["scene"] > 1.8 * max(lengths["query"], lengths["key"])
    alone = [method.vectors(views[name]).norm(dim=1).mean().item() for name in ("scene", "query")]
    assert alone[0] < 1.3 * alone[1]


def test_views_of_another_size_are_encoded_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    views = random_views(VIEWS, 4, seed=1)
    views["scene"] = views["scene"][..., :-2, :-2]
    method, sizes = hcl(), []

    def means(images: torch.Tensor) -> tuple[torch.Tensor]:
        sizes.append(len(images))
        return (images.mean(dim=(2, 3)),)

    monkeypatch.setattr(method, "encode_rows", means)
    encoded = method.encode_together(Batch(views))
    assert sizes == [8, 4]
    for name in ("query", "key", "scene"):
        torch.testing.assert_close(encoded[name][0], views[name].mean(dim=(2, 3)))


def test_each_loss_alone_asks_only_for_its_views() -> None:
    assert list(HCLSettings(hyperbolic_weight=0.0).view_transforms()) == ["query", "key"]
    assert list(HCLSettings(euclidean_weight=0.0).view_transforms()) == ["object", "scene"]
    both = hcl().loss(Batch(random_views(VIEWS, 4, seed=0))).loss
    parts = [
        hcl(**{weight: 0.0}).loss(Batch(random_views(VIEWS, 4, seed=0))).loss
        for weight in ("euclidean_weight", "hyperbolic_weight")
    ]
    torch.testing.assert_close(both, sum(parts))
    with pytest.raises(UsageError, match="must not both be 0"):
        HCLSettings(euclidean_weight=0.0, hyperbolic_weight=0.0)


@pytest.mark.parametrize(
    ("weight", "views"),
    [("hyperbolic_weight", ["query", "key"]), ("euclidean_weight", ["object", "scene"])],
)
def test_a_recipe_with_one_loss_leaves_out_the_augmentations_of_the_other(
    weight: str, views: list[str]
) -> None:
    recipe = load_recipe("hcl-shapes", [f"method.{weight}=0"])
    assert list(recipe.view_plan().transforms) == views


def test_a_stopped_run_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    sets = ["method.hidden=16", "method.dim=8"] + [
        f"views.overrides.{view}.resize.size=[24,24]" for view in ("object", "scene")
    ]
    assert_resumes_exactly("hcl-shapes", tmp_path, sets, Shapes("scene", size=48, count=96))
