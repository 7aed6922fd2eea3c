"""Cutting views into pieces, and the head that joins them."""

import torch

from unshortcut.models.heads import JigsawHead, cut


def test_pieces_come_row_by_row_image_by_image() -> None:
    images = torch.arange(2 * 3 * 6 * 9).view(2, 3, 6, 9)
    pieces = cut(images, 3)
    assert pieces.shape == (18, 3, 2, 3)
    for number, piece in enumerate(pieces):
        image, (row, column) = number // 9, divmod(number % 9, 3)
        expected = images[image, :, 2 * row : 2 * row + 2, 3 * column : 3 * column + 3]
        assert torch.equal(piece, expected)


def test_what_does_not_fill_a_piece_is_left_out() -> None:
    images = torch.randn(1, 3, 8, 7)
    assert torch.equal(cut(images, 3), cut(images[:, :, :6, :6], 3))


def test_an_embedding_is_of_all_pieces_of_its_own_image() -> None:
    torch.manual_seed(0)
    head = JigsawHead(4, 8, 3, pieces=9)
    features = torch.randn(18, 4, requires_grad=True)
    embeddings = head(features)
    assert embeddings.shape == (2, 3)
    (gradient,) = torch.autograd.grad(embeddings[1].sum(), features)
    touched = gradient.abs().sum(1) > 0
    assert touched.tolist() == [False] * 9 + [True] * 9
