"""The jigsaw branch of PIRL and InfoMin: an image embedded by its pieces."""

from torch import Tensor, nn

from unshortcut.models.heads import MLPHead


def cut(images: Tensor, grid: int) -> Tensor:
    """Cut images (N, C, H, W) into grid × grid pieces (N·grid², C, H // grid, W // grid).

    The pieces of an image are in row-major order, followed by those of the next image.
    """
    height, width = (side // grid for side in images.shape[2:])
    pieces = images.unfold(2, height, height).unfold(3, width, width)  # (N, C, rows, columns, h, w)
    pieces = pieces[:, :, :grid, :grid].permute(0, 2, 3, 1, 4, 5)
    return pieces.reshape(-1, images.shape[1], height, width)


class JigsawHead(nn.Module):
    """Maps features of pieces (N·pieces, in) to embeddings of images (N, out).

    Each piece goes through an MLP, then the concatenated pieces through one linear layer.
    """

    def __init__(
        self,
        width_in: int,
        width_hidden: int,
        width_out: int,
        *,
        pieces: int,
        batch_norm: bool = False,
    ) -> None:
        super().__init__()
        self.pieces = pieces
        self.piece = MLPHead(width_in, width_hidden, width_out, batch_norm=batch_norm)
        self.joined = nn.Linear(pieces * width_out, width_out)

    def forward(self, features: Tensor) -> Tensor:
        each = self.piece(features)  # (N·pieces, out)
        embeddings: Tensor = self.joined(each.reshape(len(each) // self.pieces, -1))
        return embeddings
