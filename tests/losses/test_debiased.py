"""Debiased InfoNCE against its formula in double precision, its floor and its limits."""

import math

import pytest
import torch
from torch import Tensor

from tests.losses.test_info_nce import similarities
from unshortcut.errors import UsageError
from unshortcut.losses.debiased import Debiased, debiased_loss
from unshortcut.losses.info_nce import info_nce_loss


def direct(positive: Tensor, negatives: list[Tensor], temperature: float, share: float) -> Tensor:
    """The published formula, exponentials and all."""
    p = torch.exp(positive / temperature)
    n = torch.exp(torch.cat(negatives, dim=1) / temperature)
    count = n.shape[1]
    rest = (n.sum(dim=1) - share * count * p) / (1 - share)
    g = torch.clamp(rest, min=count * math.exp(-1 / temperature))
    return -torch.log(p / (p + g))


def with_gradient(
    of: list[Tensor], dtype: torch.dtype
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    leaves = [x.detach().to(dtype).requires_grad_() for x in of]
    return leaves[0], leaves[1:], leaves


@pytest.mark.parametrize("temperature", [0.5, 0.2, 0.1])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.1])
def test_float32_gives_value_and_gradient_of_the_formula_in_double(
    temperature: float, share: float
) -> None:
    positive, negatives = similarities()
    p, n, wide = with_gradient([positive, *negatives], torch.float64)
    expected = direct(p, n, temperature, share)
    expected.sum().backward()
    p, n, narrow = with_gradient([positive, *negatives], torch.float32)
    found = debiased_loss(p, n, temperature, share)
    found.sum().backward()
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-5)
    for ours, theirs in zip(narrow, wide, strict=True):
        torch.testing.assert_close(ours.grad.double(), theirs.grad, rtol=1e-3, atol=1e-4)


def test_without_positives_among_the_negatives_it_is_info_nce() -> None:
    positive, negatives = similarities(1)
    expected = info_nce_loss(positive, negatives, 0.3)
    torch.testing.assert_close(debiased_loss(positive, negatives, 0.3, 0.0), expected)


def test_where_positives_would_explain_more_than_all_negatives_the_floor_holds() -> None:
    positive = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    negatives = torch.full((1, 4), -0.9, dtype=torch.float64, requires_grad=True)
    loss = debiased_loss(positive, [negatives], 0.5, 0.1)
    expected = math.log(1 + 4 * math.exp(-2) / math.exp(2))
    assert loss.item() == pytest.approx(expected, abs=1e-12)
    loss.sum().backward()
    assert negatives.grad.abs().sum() == 0  # a floor does not move with the negatives
    assert positive.grad.item() == pytest.approx(2 * math.expm1(-expected), abs=1e-12)


def test_low_temperatures_stay_finite_with_finite_gradient() -> None:
    for value in (1.0, -1.0):
        positive = torch.tensor([value], requires_grad=True)
        negatives = torch.full((1, 65536), -value, requires_grad=True)
        loss = debiased_loss(positive, [negatives], 0.005, 0.1)
        loss.sum().backward()
        assert torch.isfinite(loss).all()
        assert torch.isfinite(positive.grad).all()
        assert torch.isfinite(negatives.grad).all()


def test_a_share_of_one_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'positive_share' must be .* of at least 0 and below 1"):
        Debiased(positive_share=1.0)
    with pytest.raises(UsageError, match="debiased: 'temperature' must be a number above 0"):
        Debiased(temperature=0)
