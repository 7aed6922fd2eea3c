"""The memory bank: rows follow their images, and nothing else is kept."""

import pytest
import torch

from unshortcut.errors import UsageError
from unshortcut.models.bank import MemoryBank


def test_a_row_goes_part_of_the_way_and_stays_of_unit_length() -> None:
    bank = MemoryBank(3, 2)
    bank.rows = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    bank.update(torch.tensor([2, 0]), torch.tensor([[1.0, 0.0], [0.0, 1.0]]), momentum=0.25)
    # 0.25 (0.6, 0.8) + 0.75 (1, 0) = (0.9, 0.2); 0.25 (1, 0) + 0.75 (0, 1) = (0.25, 0.75)
    expected = torch.tensor([[0.25, 0.75], [0.0, 1.0], [0.9, 0.2]])
    torch.testing.assert_close(bank.rows, expected / expected.norm(dim=1, keepdim=True))


def test_of_two_embeddings_of_one_image_the_last_counts() -> None:
    index, embeddings = torch.tensor([1, 0, 1]), torch.eye(3)
    twice, once = MemoryBank(2, 3), MemoryBank(2, 3)
    twice.update(index, embeddings, 0.5)
    once.update(index[1:], embeddings[1:], 0.5)
    assert torch.equal(twice.rows, once.rows)


def test_rows_start_at_random_by_seed_and_are_all_of_the_state() -> None:
    bank = MemoryBank(5, 4, seed=1)
    torch.testing.assert_close(bank.rows.norm(dim=1), torch.ones(5))
    assert not torch.equal(bank.rows, MemoryBank(5, 4, seed=2).rows)
    assert list(bank.state_dict()) == ["rows"]
    other = MemoryBank(5, 4, seed=2)
    other.load_state_dict(bank.state_dict())
    assert torch.equal(other.rows, bank.rows)


def test_every_image_is_drawn_and_read_by_its_position() -> None:
    bank = MemoryBank(4, 2)
    drawn = bank.sample(4000, torch.Generator().manual_seed(0))
    assert torch.bincount(drawn).min() > 850
    assert torch.equal(bank.read(torch.tensor([3, 3, 0])), bank.rows[[3, 3, 0]])


def test_without_a_number_of_images_there_is_nothing_to_load_nor_to_ask() -> None:
    bank = MemoryBank(None, 2)
    assert not bank.load_state_dict(MemoryBank(9, 2).state_dict(), strict=False).missing_keys
    with pytest.raises(UsageError, match="number of images is unknown"):
        bank.read(torch.tensor([0]))
