"""The two ways to apply alpha, against what the NSN paper prints in appendix B.1."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from unshortcut.losses.info_nce import InfoNCE
from unshortcut.losses.loss import Placement

TAU = 0.2


def unit(*shape: int) -> Tensor:
    return F.normalize(torch.randn(*shape, dtype=torch.float64), dim=-1)


def loss_of(
    query: Tensor, positive: Tensor, own: Tensor, others: Tensor, alpha: float, placement: Placement
) -> Tensor:
    """One query (D,), its positive (D,), its non-semantic negative (D,), the others (K, D)."""
    loss = InfoNCE(TAU)
    weighed = loss.weigh((query @ own).view(1, 1), alpha, placement)
    return loss((query @ positive).view(1), [weighed, (others @ query)[None]])[0]


def printed_gradient(
    query: Tensor, positive: Tensor, own: Tensor, others: Tensor, alpha: float, placement: Placement
) -> Tensor:
    """∂L/∂z_i as printed, term by term."""
    to_positive = torch.exp(query @ positive / TAU)
    to_others = torch.exp(others @ query / TAU)
    if placement == "inside":
        to_own = torch.exp(alpha * query @ own / TAU)
        pull_of_own = alpha * own / TAU * to_own
    else:
        to_own = alpha * torch.exp(query @ own / TAU)
        pull_of_own = alpha * own / TAU * torch.exp(query @ own / TAU)
    over = (
        positive / TAU * to_positive + pull_of_own + (others / TAU * to_others[:, None]).sum(dim=0)
    )
    return over / (to_positive + to_own + to_others.sum()) - positive / TAU


@pytest.mark.parametrize("placement", ["inside", "outside"])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 3.0])
def test_the_gradient_is_the_printed_one(alpha: float, placement: Placement) -> None:
    torch.manual_seed(0)
    query, *rest = unit(5).requires_grad_(), unit(5), unit(5), unit(7, 5)
    loss_of(query, *rest, alpha, placement).backward()
    expected = printed_gradient(query.detach(), *rest, alpha, placement)
    torch.testing.assert_close(query.grad, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("copies", [1, 2, 5])
def test_outside_with_a_whole_alpha_equals_so_many_copies_of_the_negative(copies: int) -> None:
    torch.manual_seed(1)
    query, positive, own, others = unit(5), unit(5), unit(5), unit(7, 5)
    weighed = loss_of(query, positive, own, others, copies, "outside")
    similarities = torch.cat([(query @ own).expand(copies), others @ query])
    copied = InfoNCE(TAU)((query @ positive).view(1), [similarities[None]])[0]
    torch.testing.assert_close(weighed, copied, rtol=1e-12, atol=0)


def test_inside_weighs_hard_negatives_more_than_outside_does() -> None:
    torch.manual_seed(2)
    query, positive, others = unit(5), unit(5), unit(7, 5)
    hard = F.normalize(query + 0.3 * unit(5), dim=0)
    inside, outside = (
        loss_of(query, positive, hard, others, 2.0, placement)
        for placement in ("inside", "outside")
    )
    assert inside > outside
