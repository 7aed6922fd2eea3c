"""Patches against loops over rows and columns."""

import pytest
import torch

from unshortcut.imaging.patches import PatchGrid, put, standardize, take


@pytest.mark.parametrize("grid", [PatchGrid(2, 3, 4), PatchGrid(4, 1, 2), PatchGrid(1, 2, 2)])
def test_patches_are_cut_row_by_row_and_joined_again(grid: PatchGrid) -> None:
    images = torch.randn(2, 3, grid.rows * grid.side, grid.columns * grid.side)
    patches = grid.cut(images)
    assert patches.shape == (2, grid.count, grid.values)
    for row in range(grid.rows):
        for column in range(grid.columns):
            top, left = row * grid.side, column * grid.side
            cell = images[1, :, top : top + grid.side, left : left + grid.side]
            # Pixel by pixel, the three channels of each side by side.
            assert torch.equal(
                patches[1, row * grid.columns + column], cell.permute(1, 2, 0).flatten()
            )
    assert torch.equal(grid.join(patches), images)


def test_a_standardized_patch_has_mean_0_and_variance_1_and_a_flat_one_is_0() -> None:
    patches = 7 + 5 * torch.randn(2, 3, 48, dtype=torch.float64)
    patches[0, 1] = 4.0
    found = standardize(patches)
    assert torch.equal(found[0, 1], torch.zeros(48, dtype=torch.float64))
    rest = found[1]
    torch.testing.assert_close(rest.mean(1), torch.zeros(3, dtype=torch.float64))
    torch.testing.assert_close(rest.var(1), torch.ones(3, dtype=torch.float64), rtol=1e-6, atol=0)


def test_rows_are_taken_by_index() -> None:
    rows = torch.arange(24).reshape(2, 4, 3)
    taken = take(rows, torch.tensor([[3, 0], [1, 1]]))
    assert taken[:, :, 0].tolist() == [[9, 0], [15, 15]]


def test_rows_are_put_back_where_they_were_taken() -> None:
    rows = torch.randn(2, 4, 3)
    index = torch.tensor([[3, 0], [1, 2]])
    assert torch.equal(
        put(torch.zeros(2, 4, 3), index, take(rows, index)).sum(1), take(rows, index).sum(1)
    )
    assert torch.equal(put(rows, index, take(rows, index)), rows)
