"""Hard-negative reweighing against its formula in double precision and its limits."""

import math

import pytest
import torch
from torch import Tensor

from tests.losses.test_debiased import with_gradient
from tests.losses.test_info_nce import similarities
from unshortcut.errors import UsageError
from unshortcut.losses.debiased import debiased_loss
from unshortcut.losses.hard import Hard, hard_loss


def direct(
    positive: Tensor, negatives: list[Tensor], temperature: float, share: float, beta: float
) -> Tensor:
    """The published formula, exponentials and all."""
    p = torch.exp(positive / temperature)
    n = torch.exp(torch.cat(negatives, dim=1) / temperature)
    count = n.shape[1]
    weights = n**beta / (n**beta).mean(dim=1, keepdim=True)
    rest = ((weights * n).sum(dim=1) - share * count * p) / (1 - share)
    g = torch.clamp(rest, min=count * math.exp(-1 / temperature))
    return -torch.log(p / (p + g))


@pytest.mark.parametrize("temperature", [0.5, 0.2])
@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 2.0])
def test_float32_gives_value_and_gradient_of_the_formula_in_double(
    temperature: float, beta: float
) -> None:
    positive, negatives = similarities()
    p, n, wide = with_gradient([positive, *negatives], torch.float64)
    expected = direct(p, n, temperature, 0.1, beta)
    expected.sum().backward()
    p, n, narrow = with_gradient([positive, *negatives], torch.float32)
    found = hard_loss(p, n, temperature, 0.1, beta)
    found.sum().backward()
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-5)
    for ours, theirs in zip(narrow, wide, strict=True):
        torch.testing.assert_close(ours.grad.double(), theirs.grad, rtol=1e-3, atol=1e-4)


def test_without_beta_it_is_debiased() -> None:
    positive, negatives = similarities(1)
    expected = debiased_loss(positive, negatives, 0.5, 0.1)
    torch.testing.assert_close(Hard(beta=0.0)(positive, negatives), expected)


def test_a_large_beta_counts_every_negative_as_the_hardest() -> None:
    positive, negatives = similarities(2)
    hardest = torch.cat(negatives, dim=1).amax(dim=1, keepdim=True).expand(-1, 10)
    expected = debiased_loss(positive, [hardest], 0.5, 0.1)
    torch.testing.assert_close(hard_loss(positive, negatives, 0.5, 0.1, beta=1e4), expected)


def test_low_temperatures_stay_finite_with_finite_gradient() -> None:
    positive = torch.tensor([-1.0], requires_grad=True)
    negatives = torch.linspace(-1, 1, 4096)[None].requires_grad_()
    loss = hard_loss(positive, [negatives], 0.01, 0.1, 1.0)
    loss.sum().backward()
    assert torch.isfinite(loss).all()
    assert torch.isfinite(positive.grad).all()
    assert torch.isfinite(negatives.grad).all()


def test_a_beta_below_zero_is_refused() -> None:
    with pytest.raises(UsageError, match="hard: 'beta' must be a number of at least 0, got -1"):
        Hard(beta=-1)
