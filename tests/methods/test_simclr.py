"""SimCLR against a naive double loop over all pairs of views."""

import math

import torch

from tests.small import PlainEncoder, random_views
from unshortcut.methods.simclr import SimCLRSettings
from unshortcut.methods.step import Batch


def test_the_loss_is_the_mean_over_all_ordered_pairs() -> None:
    torch.manual_seed(0)
    method = SimCLRSettings(hidden=8, dim=5, head_batch_norm=False).build(PlainEncoder()).double()
    views = random_views(("query", "key"), 4, seed=0)
    z = method.embed(torch.cat([views["query"], views["key"]])).detach()
    terms = []
    for i in range(8):
        j = (i + 4) % 8
        scores = {k: math.exp(float(z[i] @ z[k]) / 0.1) for k in range(8) if k != i}
        terms.append(-math.log(scores[j] / sum(scores.values())))
    assert abs(method.loss(Batch(views)).loss.item() - sum(terms) / 8) < 1e-9


def test_both_views_take_a_gradient() -> None:
    torch.manual_seed(0)
    method = SimCLRSettings(hidden=8, dim=5).build(PlainEncoder()).double()
    views = {k: v.requires_grad_() for k, v in random_views(("query", "key"), 4, seed=0).items()}
    method.loss(Batch(views)).loss.backward()
    assert all(view.grad is not None and view.grad.abs().sum() > 0 for view in views.values())
