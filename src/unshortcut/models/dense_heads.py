"""Heads for whole images and for the cells of feature maps (DenseCL, Wang et al., section 3.2)."""

from typing import NamedTuple

from torch import Tensor, nn

from unshortcut.models.encoder import Encoder
from unshortcut.models.feature_maps import features_and_map
from unshortcut.models.heads import MLPHead


class DenseHead(nn.Module):
    """An `MLPHead` of two layers for every cell: maps (N, in, h, w) to (N, out, h, w).

    1×1 convolution, ReLU, 1×1 convolution; `batch_norm` adds batch norm after both convolutions,
    which then have no bias.
    """

    def __init__(
        self, width_in: int, width_hidden: int, width_out: int, *, batch_norm: bool = False
    ) -> None:
        super().__init__()

        def layer(before: int, after: int) -> list[nn.Module]:
            norm = [nn.BatchNorm2d(after)] if batch_norm else []
            return [nn.Conv2d(before, after, 1, bias=not batch_norm), *norm]

        self.layers = nn.Sequential(
            *layer(width_in, width_hidden),
            nn.ReLU(inplace=True),
            *layer(width_hidden, width_out),
        )

    def forward(self, maps: Tensor) -> Tensor:
        embeddings: Tensor = self.layers(maps)
        return embeddings


class ImageAndDenseHeads(nn.Module):
    """A head for pooled features and one for feature maps."""

    def __init__(self, image: MLPHead, dense: DenseHead) -> None:
        super().__init__()
        self.image = image
        self.dense = dense


class DenseEmbeddings(NamedTuple):
    """What a `DenseNetwork` computes of N images with S = h · w cells each, row by row."""

    image: Tensor
    """(N, D), embeddings of the images."""
    cells: Tensor
    """(N, S, D), embeddings of the cells."""
    features: Tensor
    """(N, S, C), the encoder's features of the cells."""


class DenseNetwork(nn.Module):
    """An encoder and both heads; the encoder runs once for both."""

    def __init__(self, encoder: Encoder, heads: ImageAndDenseHeads) -> None:
        super().__init__()
        self.encoder = encoder
        self.heads = heads

    def forward(self, images: Tensor) -> DenseEmbeddings:
        features, maps = features_and_map(self.encoder, images)
        cells = _cells(self.heads.dense(maps))
        return DenseEmbeddings(self.heads.image(features), cells, _cells(maps))


def _cells(maps: Tensor) -> Tensor:
    """(N, C, h, w) to (N, h · w, C): no copy for maps that are channels last in memory."""
    return maps.flatten(2).transpose(1, 2)
