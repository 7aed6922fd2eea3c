"""Implicit feature modification against cross entropy of the moved similarities."""

import pytest
import torch
from torch.nn import functional as F

from tests.losses.test_debiased import with_gradient
from tests.losses.test_info_nce import similarities
from unshortcut.errors import UsageError
from unshortcut.losses.ifm import IFM, ifm_loss
from unshortcut.losses.info_nce import info_nce_loss


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.2])
def test_float32_gives_the_mean_of_plain_and_moved_cross_entropy(epsilon: float) -> None:
    positive, negatives = similarities()
    p, n, wide = with_gradient([positive, *negatives], torch.float64)
    columns, moved = (
        torch.cat([p[:, None] - e, *(x + e for x in n)], dim=1) / 0.2 for e in (0, epsilon)
    )
    first = torch.zeros(len(p), dtype=torch.long)
    expected = (
        F.cross_entropy(columns, first, reduction="none")
        + F.cross_entropy(moved, first, reduction="none")
    ) / 2
    expected.sum().backward()
    p, n, narrow = with_gradient([positive, *negatives], torch.float32)
    found = ifm_loss(p, n, 0.2, epsilon)
    found.sum().backward()
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    for ours, theirs in zip(narrow, wide, strict=True):
        torch.testing.assert_close(ours.grad.double(), theirs.grad, rtol=1e-4, atol=1e-5)


def test_without_epsilon_it_is_info_nce() -> None:
    positive, negatives = similarities(1)
    expected = info_nce_loss(positive, negatives, 0.2)
    torch.testing.assert_close(IFM(epsilon=0.0)(positive, negatives), expected)


def test_an_epsilon_below_zero_is_refused() -> None:
    with pytest.raises(UsageError, match="ifm: 'epsilon' must be a number of at least 0"):
        IFM(epsilon=-0.1)
