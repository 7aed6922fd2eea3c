import math
from functools import partial

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from torch import Tensor
from torch.autograd import gradcheck

from unshortcut.models.poincare import distance as ball_distance
from unshortcut.models.poincare import (
    exp0,
    largest_radius,
    mobius_add,
    pairwise_distance,
    project,
    riemannian,
)

CURVATURES = (0.05, 1.0)
ROWS = arrays(
    "float32", (2, 3), elements=st.floats(width=32, allow_nan=False, allow_infinity=False)
)


def points(count: int, c: float, seed: int = 0, radius: float = 0.95) -> Tensor:
    """(count, 4) in float64, up to a share of the ball's radius."""
    generator = torch.Generator().manual_seed(seed)
    direction = torch.nn.functional.normalize(
        torch.randn(count, 4, generator=generator, dtype=torch.float64), dim=1
    )
    share = torch.rand(count, 1, generator=generator, dtype=torch.float64)
    return direction * share * radius / math.sqrt(c)


def direct_distance(x: Tensor, y: Tensor, c: float) -> Tensor:
    """2/√c · artanh(√c‖(−x) ⊕ y‖), row by row, with scalars."""
    found = []
    for a, b in zip(-x, y, strict=True):
        dot, aa, bb = a @ b, a @ a, b @ b
        top = (1 + 2 * c * dot + c * bb) * a + (1 - c * aa) * b
        sum_ = top / (1 + 2 * c * dot + c**2 * aa * bb)
        found.append(2 / math.sqrt(c) * torch.atanh(math.sqrt(c) * sum_.norm()))
    return torch.stack(found)


@pytest.mark.parametrize("c", CURVATURES)
def test_the_distance_is_that_of_the_direct_formula(c: float) -> None:
    x, y = points(6, c, 0), points(6, c, 1)
    torch.testing.assert_close(ball_distance(x, y, c), direct_distance(x, y, c))
    moved = mobius_add(-x, y, c).norm(dim=1)
    by_sum = 2 / math.sqrt(c) * torch.atanh(math.sqrt(c) * moved)
    torch.testing.assert_close(by_sum, direct_distance(x, y, c))


@pytest.mark.parametrize("c", CURVATURES)
def test_pairwise_distances_are_those_of_the_pairs(c: float) -> None:
    x, y = points(3, c, 0), points(5, c, 1)
    pairs = [[direct_distance(a[None], b[None], c).item() for b in y] for a in x]
    expected = torch.tensor(pairs, dtype=torch.float64)
    torch.testing.assert_close(pairwise_distance(x, y, c), expected)


@pytest.mark.parametrize("c", CURVATURES)
def test_a_vector_is_as_far_from_the_origin_as_twice_its_length(c: float) -> None:
    vectors = torch.tensor([[0.3, -0.4], [0.0, 0.0], [1.2, 0.5]], dtype=torch.float64)
    origin = torch.zeros_like(vectors)
    expected = 2 * torch.tensor([0.5, 0.0, 1.3], dtype=torch.float64)
    torch.testing.assert_close(ball_distance(origin, exp0(vectors, c), c), expected)


@pytest.mark.parametrize("c", CURVATURES)
def test_gradients_are_those_of_differences(c: float) -> None:
    x, y = (points(3, c, seed, radius=0.8).requires_grad_() for seed in (0, 1))
    for function in (ball_distance, pairwise_distance, mobius_add):
        assert gradcheck(partial(function, c=c), (x, y))
    assert gradcheck(partial(exp0, c=c), (x,))
    assert gradcheck(partial(project, c=c), (3 * x,))


def test_geoopt_agrees() -> None:
    geoopt = pytest.importorskip("geoopt")
    for c in CURVATURES:
        ball = geoopt.PoincareBall(c=torch.tensor(c, dtype=torch.float64))
        x, y = (points(5, c, seed).requires_grad_() for seed in (0, 1))
        for ours, theirs in (
            (ball_distance(x, y, c), ball.dist(x, y)),
            (mobius_add(x, y, c), ball.mobius_add(x, y)),
            (exp0(x, c), ball.expmap0(x)),
        ):
            torch.testing.assert_close(ours, theirs)
            expected = torch.autograd.grad(theirs.sum(), x, retain_graph=True)[0]
            found = torch.autograd.grad(ours.sum(), x, retain_graph=True)[0]
            torch.testing.assert_close(found, expected)
        gradient = torch.randn_like(x)
        found = torch.autograd.grad(riemannian(x, c), x, gradient)[0]
        torch.testing.assert_close(found, ball.egrad2rgrad(x, gradient))


def test_the_riemannian_gradient_vanishes_toward_the_border() -> None:
    x = torch.tensor([[0.0, 0.0], [1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    assert torch.equal(riemannian(x, 0.5), x)
    (found,) = torch.autograd.grad(riemannian(x, 0.5).sum(), x)
    torch.testing.assert_close(found, torch.tensor([[1 / 4] * 2, [1 / 16] * 2]).double())


def test_single_precision_is_accurate_up_to_the_border() -> None:
    c = 0.05
    far = torch.tensor([[1e4, 1.0], [-2e3, 5e3]], dtype=torch.float64)
    x, y = exp0(far, c), exp0(-far.flip(0), c)
    assert (x.norm(dim=1) * math.sqrt(c) - 0.999).abs().max() < 1e-12
    exact = direct_distance(x, y, c)
    torch.testing.assert_close(
        ball_distance(x.float(), y.float(), c).double(), exact, rtol=1e-4, atol=0
    )


@pytest.mark.parametrize("half", [False, True])
def test_pairs_of_near_points_are_accurate_near_the_border(half: bool) -> None:
    """There a difference in the last digits of the squares is far."""
    c = 0.05
    directions = torch.nn.functional.normalize(torch.randn(6, 128), dim=1)
    x = exp0(12 * directions, c)
    y = exp0(12 * (directions + 1e-3 * torch.randn(6, 128)), c)
    exact = torch.stack([direct_distance(one.expand(6, -1).double(), y.double(), c) for one in x])
    with torch.autocast("cpu", dtype=torch.float16, enabled=half):
        found = pairwise_distance(x, y, c)
    torch.testing.assert_close(found.double(), exact, rtol=1e-3, atol=1e-3)


@settings(max_examples=60, deadline=None)
@given(ROWS, ROWS, st.sampled_from([1e-3, 0.05, 1.0]))
def test_every_finite_input_gives_finite_values_and_gradients(
    a: object, b: object, c: float
) -> None:
    u, v = (torch.from_numpy(one).clone().requires_grad_() for one in (a, b))  # type: ignore[arg-type]
    x, y = exp0(u, c), project(v, c)
    for inside in (x, y):
        assert (inside.double().norm(dim=1) <= largest_radius(c) * (1 + 1e-5)).all()
    outputs = (x, y, ball_distance(x, y, c), pairwise_distance(x, y, c), mobius_add(x, y, c))
    for output in outputs:
        assert output.isfinite().all()
        gradients = torch.autograd.grad(
            riemannian(output, c).sum() if output.shape == x.shape else output.sum(),
            (u, v),
            retain_graph=True,
            allow_unused=True,
        )
        assert all(one is None or one.isfinite().all() for one in gradients)


def test_points_in_one_place_are_at_distance_0_and_do_not_pull() -> None:
    x = torch.tensor([[0.3, 0.1]], requires_grad=True)
    apart = ball_distance(x, x.detach(), 0.05)
    assert apart.item() == 0
    assert torch.autograd.grad(apart.sum(), x)[0].abs().max() == 0
