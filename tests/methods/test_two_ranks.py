"""Distributed is right: two ranks give the loss and the gradient of one, for every method."""

import pytest

from tests.two_ranks import assert_two_ranks_equal_one
from unshortcut.methods.moco import MoCoSettings
from unshortcut.methods.negatives.batch import BatchSettings
from unshortcut.methods.negatives.queue import QueueSettings
from unshortcut.methods.simclr import SimCLRSettings

CASES = {
    # 8 keys a step into 13 places: the queue wraps in the middle of a batch.
    "moco": MoCoSettings(hidden=8, dim=5, momentum=0.9, negatives=(QueueSettings(13),)),
    # More keys a step than places.
    "moco, short queue": MoCoSettings(hidden=8, dim=5, momentum=0.9, negatives=(QueueSettings(3),)),
    "moco, batch negatives": MoCoSettings(hidden=8, dim=5, negatives=(BatchSettings(),)),
    "simclr": SimCLRSettings(hidden=8, dim=5, head_batch_norm=False),
}


@pytest.mark.parametrize("case", CASES)
def test_two_ranks_equal_one(case: str) -> None:
    assert_two_ranks_equal_one(CASES[case])
