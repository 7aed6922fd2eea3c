"""InfoNCE against the formula in double precision and against cross entropy."""

import math

import pytest
import torch
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.losses.info_nce import InfoNCE, info_nce_loss


def similarities(seed: int = 0) -> tuple[torch.Tensor, list[torch.Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    positive = torch.rand(5, dtype=torch.float64, generator=generator) * 2 - 1
    negatives = [torch.rand(5, k, dtype=torch.float64, generator=generator) * 2 - 1 for k in (3, 7)]
    return positive, negatives


def test_it_is_the_formula_of_the_paper() -> None:
    positive, negatives = similarities()
    for row in range(5):
        p = math.exp(positive[row].item() / 0.2)
        n = sum(math.exp(x / 0.2) for source in negatives for x in source[row].tolist())
        expected = -math.log(p / (p + n))
        assert info_nce_loss(positive, negatives, 0.2)[row].item() == pytest.approx(
            expected, abs=1e-12
        )


def test_it_equals_cross_entropy_with_the_positive_first() -> None:
    positive, negatives = similarities(1)
    logits = torch.cat([positive[:, None], *negatives], dim=1) / 0.1
    expected = F.cross_entropy(logits, torch.zeros(5, dtype=torch.long), reduction="none")
    torch.testing.assert_close(InfoNCE(0.1)(positive, negatives), expected)


def test_an_absent_source_adds_nothing() -> None:
    positive, negatives = similarities()
    absent = torch.zeros(5, 0, dtype=torch.float64)
    expected = info_nce_loss(positive, negatives, 0.2)
    torch.testing.assert_close(info_nce_loss(positive, [*negatives, absent], 0.2), expected)


def test_large_logits_stay_finite_with_finite_gradient() -> None:
    positive = torch.tensor([-1.0], requires_grad=True)
    loss = info_nce_loss(positive, [torch.ones(1, 65536)], temperature=0.01).sum()
    loss.backward()
    assert loss.item() == pytest.approx(200 + math.log(65536), rel=1e-5)
    assert torch.isfinite(positive.grad).all()


def test_a_temperature_of_zero_is_refused() -> None:
    with pytest.raises(UsageError, match="info_nce: 'temperature' must be a number above 0, got 0"):
        InfoNCE(0.0)
