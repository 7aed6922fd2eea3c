"""The dense head: an MLP head for every cell."""

import pytest
import torch

from tests.methods.plain_parts import PlainMapEncoder
from unshortcut.models.dense_heads import DenseHead, DenseNetwork, ImageAndDenseHeads
from unshortcut.models.heads import MLPHead


@pytest.mark.parametrize("batch_norm", [False, True])
def test_a_cell_is_projected_as_an_mlp_head_would(batch_norm: bool) -> None:
    torch.manual_seed(0)
    dense = DenseHead(7, 8, 5, batch_norm=batch_norm).double()
    mlp = MLPHead(7, 8, 5, batch_norm=batch_norm).double()
    for convolved, linear in zip(dense.parameters(), mlp.parameters(), strict=True):
        linear.data.copy_(convolved.view_as(linear))
    maps = torch.randn(3, 7, 2, 4, dtype=torch.float64)
    found = dense(maps)
    assert found.shape == (3, 5, 2, 4)
    # Statistics of batch norm are over the cells of all images.
    cells = maps.permute(0, 2, 3, 1).reshape(-1, 7)
    expected = mlp(cells).view(3, 2, 4, 5).permute(0, 3, 1, 2)
    torch.testing.assert_close(found, expected)


def test_the_network_gives_images_and_cells_row_by_row() -> None:
    torch.manual_seed(0)
    encoder = PlainMapEncoder()
    heads = ImageAndDenseHeads(MLPHead(6, 8, 5), DenseHead(7, 8, 5))
    images = torch.randn(3, 3, 4, 6)
    found = DenseNetwork(encoder, heads)(images)
    maps = encoder.model.forward_features(images)  # (3, 7, 2, 3)
    torch.testing.assert_close(found.image, heads.image(encoder(images)))
    for row in range(2):
        for column in range(3):
            cell = 3 * row + column
            torch.testing.assert_close(found.features[:, cell], maps[:, :, row, column])
            one = heads.dense(maps[:, :, row : row + 1, column : column + 1]).flatten(1)
            torch.testing.assert_close(found.cells[:, cell], one)
