"""BYOL's loss against the distances themselves, in double precision (NSN, equation 2)."""

import pytest
import torch
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.losses.squared_distance import SquaredDistance


def unit(*shape: int) -> torch.Tensor:
    return F.normalize(torch.randn(*shape, dtype=torch.float64), dim=-1)


@pytest.mark.parametrize("alpha", [0.05, 1.0, 3.0])
def test_it_is_the_squared_distance_less_alpha_times_that_of_the_negatives(alpha: float) -> None:
    torch.manual_seed(0)
    query, positive, negatives = unit(6, 4), unit(6, 4), unit(6, 3, 4)
    query.requires_grad_()
    loss = SquaredDistance()
    weighed = loss.weigh(torch.einsum("nd,nkd->nk", query, negatives), alpha, "inside")
    found = loss((query * positive).sum(1), [weighed])

    away = (query[:, None] - negatives).square().sum(2).sum(1)
    expected = (query - positive).square().sum(1) - alpha * away
    torch.testing.assert_close(found, expected)
    # The expanded form of equation 2, with one negative: 2 − 2α − 2 q·p + 2α q·n.
    one = loss((query * positive).sum(1), [weighed[:, :1]])
    products = (query * positive).sum(1), (query * negatives[:, 0]).sum(1)
    torch.testing.assert_close(one, 2 - 2 * alpha - 2 * products[0] + 2 * alpha * products[1])


def test_a_weight_before_an_exponential_is_refused() -> None:
    with pytest.raises(UsageError, match="placement"):
        SquaredDistance().weigh(torch.zeros(1, 1), 2.0, "outside")
