"""The correspondence of cells: a case made by hand, and every pair one by one."""

import torch

from unshortcut.models.correspondence import most_similar_cells, take_cells


def test_the_direction_decides_and_not_the_length() -> None:
    keys = torch.tensor([[[10.0, 9.0], [0.1, 0.0], [0.0, 2.0]]])
    queries = torch.tensor([[[5.0, 0.1], [1.0, 1.0], [-1.0, 3.0], [0.0, 1e-3]]])
    found = most_similar_cells(queries, keys)
    assert found.tolist() == [[1, 0, 2, 2]]
    assert torch.equal(take_cells(keys, found), keys[0][[1, 0, 2, 2]][None])


def test_it_equals_a_search_over_every_pair_of_cells_of_an_image() -> None:
    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(3, 6, 4, dtype=torch.float64, generator=generator)
    keys = torch.randn(3, 5, 4, dtype=torch.float64, generator=generator)
    found = most_similar_cells(queries, keys)
    for image in range(3):
        for cell in range(6):
            cosines = [
                float(queries[image, cell] @ key / (queries[image, cell].norm() * key.norm()))
                for key in keys[image]
            ]
            assert int(found[image, cell]) == cosines.index(max(cosines))


def test_cells_are_taken_of_their_own_image() -> None:
    cells = torch.arange(12.0).view(2, 3, 2)
    taken = take_cells(cells, torch.tensor([[2, 2], [0, 1]]))
    assert taken.tolist() == [[[4, 5], [4, 5]], [[6, 7], [8, 9]]]
