"""Jigsaw: which permutation are the tiles of an image in? (Noroozi and Favaro; dissertation, 2.5).

The encoder sees one tile at a time, so shuffling its features is the same as shuffling the tiles.
The method draws the permutations itself, for the batch of all ranks at once: two ranks solve the
puzzles that a single process would.
"""

from math import factorial
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from unshortcut.augmentations.augmentation import AnyAugmentation
from unshortcut.augmentations.color_shift import ColorShift
from unshortcut.augmentations.random_crop import RandomCrop
from unshortcut.distributed import own_part, world_size
from unshortcut.errors import UsageError
from unshortcut.fields import Allowed, Integer, Number, PositiveInt
from unshortcut.imaging.permutations import MOST_ELEMENTS, Selection
from unshortcut.methods.method import Method, MethodSettings, TrainingContext
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import PuzzleHead, cut
from unshortcut.models.permutations import cached_permutations, read_permutations
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.puzzle import Puzzle

Permutations = Annotated[
    int | str,
    Allowed(
        "a number of permutations of at least 2, or a .npy file of them",
        lambda given: given != "" if isinstance(given, str) else given >= 2,
    ),
]
FLAT = 1e-6
"""A std below this value is rounding; a single pixel that differs by one level gives more."""


@settings
class JigsawSettings(MethodSettings):
    """Settings of Jigsaw; the defaults are the dissertation's and its code base's."""

    name = "jigsaw"

    grid: Annotated[Integer, Field(ge=2, le=8)] = 3
    """Tiles per side."""
    permutations: Permutations = 1000
    """Number of permutations to choose, or a file that lists them."""
    selection: Selection = "mean"
    """Whether the mean or the minimum Hamming distance of the chosen permutations is large."""
    tile_augmentations: tuple[AnyAugmentation, ...] = (RandomCrop(64, padding=0), ColorShift())
    """Augmentations of each tile, which starts as one cell of the grid."""
    tile_dim: PositiveInt = 1024
    """Width of the layer on the features of each tile."""
    hidden: PositiveInt = 4096
    """Width of the layer on all tiles."""
    dropout: Annotated[Number, Field(ge=0, lt=1)] = 0.5
    """In the head, after both layers."""

    def __post_init__(self) -> None:
        if isinstance(self.permutations, str):
            return
        if self.tiles > MOST_ELEMENTS:
            raise UsageError(
                f"method.permutations: those of {self.grid} × {self.grid} tiles are too many to "
                "choose from; name a .npy file"
            )
        if self.permutations > factorial(self.tiles):
            raise UsageError(
                f"method.permutations: {self.grid} × {self.grid} tiles have "
                f"{factorial(self.tiles)} permutations, not {self.permutations}"
            )

    @property
    def tiles(self) -> int:
        """Number of tiles."""
        return self.grid**2

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "Jigsaw":
        return Jigsaw(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"tiles": Puzzle(self.grid, self.tile_augmentations)}

    def chosen_permutations(self, seed: int) -> NDArray[np.uint8]:
        """The permutations (P, tiles): in place i is the tile that stands in column i."""
        if isinstance(self.permutations, str):
            return read_permutations(self.permutations, self.grid)
        return cached_permutations(self.tiles, self.permutations, by=self.selection, seed=seed)


class Jigsaw(Method):
    """One encoder for all tiles, and a head that names the permutation."""

    can_collapse = False
    encodes_views = False
    permutations: Tensor

    def __init__(
        self, encoder: Encoder, settings: JigsawSettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, training)
        self.settings = settings
        chosen = settings.chosen_permutations(self.training_context.seed)
        self.register_buffer("permutations", torch.from_numpy(chosen.astype(np.int64)))
        self.head = PuzzleHead(
            encoder.dim,
            settings.tile_dim,
            settings.hidden,
            len(chosen),
            tiles=settings.tiles,
            dropout=settings.dropout,
        )

    def loss(self, batch: Batch) -> StepOutput:
        tiles = standardize(cut(batch.views["tiles"], self.settings.grid))  # (N·tiles, 3, h, w)
        features = self.encoder(tiles)  # (N·tiles, C)
        label = self.sample_labels(len(batch.views["tiles"]))  # (N,)
        logits = self.head(features, self.permutations[label])  # (N, P)
        metrics = {"pretext_accuracy": (logits.argmax(dim=1) == label).float().mean()}
        tiles_per_image = self.settings.tiles
        middle = features.detach()[tiles_per_image // 2 :: tiles_per_image]  # one tile per image
        return StepOutput(F.cross_entropy(logits, label), F.normalize(middle, dim=1), metrics)

    def sample_labels(self, count: int) -> Tensor:
        """(count,): the permutation of each puzzle of this rank, by its index."""
        total = count * world_size()
        labels = torch.randint(
            len(self.permutations), (total,), generator=self.step_generator("permutations")
        )
        return own_part(labels).to(self.permutations.device)

    def embed(self, images: Tensor) -> Tensor:
        """Unit features of whole images; the head knows only tiles."""
        return F.normalize(self.encoder(images), dim=1)


def standardize(tiles: Tensor) -> Tensor:
    """Give each channel of each tile (N, C, H, W) mean 0 and std 1; where the std is 0, mean 0.

    Otherwise tiles that lie side by side would be recognized by their color and contrast.
    """
    std, mean = torch.std_mean(tiles, dim=(2, 3), keepdim=True)
    return (tiles - mean) / torch.where(std < FLAT, 1, std)
