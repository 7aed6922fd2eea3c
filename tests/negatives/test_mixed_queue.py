"""MoCHi's mixes: made of the hardest keys, of unit length, without gradient, after a start."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.negatives.mixed_queue import MixedQueueNegatives, MixedQueueSettings
from unshortcut.negatives.source import ContrastStep
from unshortcut.randomness import torch_generator

SIZE, DIM, QUERIES = 40, 6, 4


def units(count: int, seed: int) -> Tensor:
    return F.normalize(torch.randn(count, DIM, generator=torch_generator(seed)).double(), dim=1)


def contrast(progress: float = 0.5, step: int = 0) -> ContrastStep:
    return ContrastStep(
        queries=units(QUERIES, 1).requires_grad_(),
        positives=units(QUERIES, 2),
        query_views=("query",),
        views={},
        encode=lambda images: images,
        weigh=InfoNCE().weigh,
        generator=lambda purpose: torch_generator(step, purpose),
        progress=progress,
    )


def source(hardest: int = 3, mixes: int = 400, query_mixes: int = 0) -> MixedQueueNegatives:
    settings = MixedQueueSettings(SIZE, hardest, mixes, query_mixes, start=0.25)
    return settings.build(DIM, seed=0).double()


def test_before_the_start_it_is_the_queue_and_then_columns_are_added() -> None:
    made, before, after = source(mixes=5, query_mixes=7), contrast(0.24), contrast(0.25)
    plain = before.queries @ made.queue.rows.T
    torch.testing.assert_close(made.similarities(before), plain)
    similarities = made.similarities(after)
    assert similarities.shape == (QUERIES, SIZE + 5 + 7)
    torch.testing.assert_close(similarities[:, :SIZE], plain)


def test_mixes_lie_between_two_of_the_hardest_keys() -> None:
    """Two keys at an angle φ, mixed with share a: the cosine with a query has a closed form."""
    made, step = source(hardest=2), contrast()
    mixed = made.similarities(step)[:, SIZE:]
    cosines = step.queries.detach() @ made.queue.rows.T
    for row in range(QUERIES):
        hardest, second = made.queue.rows[cosines[row].topk(2).indices]
        shares = torch.linspace(0, 1, 1001, dtype=torch.float64)[:, None]
        possible = F.normalize(shares * hardest + (1 - shares) * second, dim=1)
        possible = possible @ step.queries[row].detach()
        nearest = (mixed[row][:, None] - possible[None]).abs().amin(dim=1)
        assert nearest.max() < 2e-3
        assert mixed[row].min() < possible.min() + 0.01, "shares reach both ends"
        assert mixed[row].max() > possible.max() - 0.01


def test_mixes_with_the_query_are_at_most_half_query() -> None:
    made, step = source(hardest=1, mixes=0, query_mixes=400), contrast()
    mixed = made.similarities(step)[:, SIZE:]
    hardest = (step.queries @ made.queue.rows.T).amax(dim=1)
    # Half of each of two unit vectors stands in the middle of their angle.
    middle = torch.cos(torch.acos(hardest) / 2)
    for row in range(QUERIES):
        assert hardest[row] <= mixed[row].min() < hardest[row] + 0.02
        assert middle[row] - 0.02 < mixed[row].max() <= middle[row]


def test_no_gradient_enters_through_a_mix() -> None:
    made, step = source(hardest=1, mixes=0, query_mixes=1), contrast()
    mixed = made.similarities(step)[:, SIZE:]
    mixed.sum().backward()
    # With respect to q the gradient of q·m, m held fixed, is m, which has length 1.
    gradient = step.queries.grad
    torch.testing.assert_close(gradient.norm(dim=1), torch.ones(QUERIES, dtype=torch.float64))
    torch.testing.assert_close((gradient * step.queries).sum(1), mixed.squeeze(1))


def test_a_step_repeats_and_steps_differ() -> None:
    made = source(mixes=3, query_mixes=3)
    first, again, other = (made.similarities(contrast(step=step)) for step in (0, 0, 1))
    assert torch.equal(first, again)
    assert (first != other)[:, SIZE:].all()


def test_keys_enter_the_queue_and_mixes_do_not() -> None:
    made, step = source(mixes=5), contrast()
    made.similarities(step)
    made.after_backward()
    torch.testing.assert_close(made.queue.rows[:QUERIES], step.positives)
    assert int(made.queue.pointer) == QUERIES


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"size": 8, "hardest": 9},
            "'hardest' must be at most the size of the queue, 8",
        ),
        ({"mixes": -1}, "mixed_queue: 'mixes' must be an integer of at least 0, got -1"),
        (
            {"query_mixes": -2},
            "'query_mixes' must be an integer of at least 0, got -2",
        ),
        ({"start": 1.5}, "mixed_queue: 'start' must be a number from 0 to 1, got 1.5"),
    ],
)
def test_a_wrong_setting_is_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        MixedQueueSettings(**settings)  # type: ignore[arg-type]
