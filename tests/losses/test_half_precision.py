"""Losses of similarities in half precision, as mixed precision gives them on a GPU."""

import math

import pytest
import torch

from unshortcut.losses.debiased import Debiased
from unshortcut.losses.hard import Hard
from unshortcut.losses.ifm import IFM
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.losses.loss import Loss
from unshortcut.losses.squared_distance import SquaredDistance

LOSSES = [InfoNCE(), IFM(), Debiased(), Hard(), SquaredDistance()]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_a_loss_is_computed_in_single_precision(loss: Loss) -> None:
    """As precise as its input: equal to the loss of the same numbers in double precision."""
    torch.manual_seed(0)
    positive = torch.rand(16).mul(2).sub(1).half().requires_grad_()
    queue, own = (torch.rand(16, k).mul(2).sub(1).half() for k in (4096, 3))
    exact = positive.detach().double().requires_grad_()
    found = loss(positive, [queue, loss.weigh(own, 1.7, "inside")])
    expected = loss(exact, [queue.double(), loss.weigh(own.double(), 1.7, "inside")])
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    found.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(positive.grad, exact.grad.half())


def test_a_collapsed_embedding_has_a_finite_loss_with_a_queue_of_the_papers() -> None:
    """Sixteen bits reach 65,504, and there are 65,537 similarities of 1."""
    ones = torch.ones(2, 65536, dtype=torch.float16)
    loss = InfoNCE()(ones[:, 0], [ones])
    torch.testing.assert_close(loss, torch.full((2,), math.log(65537)))
