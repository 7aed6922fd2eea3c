"""What a source of negatives is: it turns one step's embeddings into similarities (N, K)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from torch import Tensor, nn

from unshortcut.parts import PartOf
from unshortcut.randomness import torch_seed
from unshortcut.views.maker import ViewMaker


@dataclass
class Contrast:
    """One step as a source of negatives sees it. M queries stand for N images: M = copies · N."""

    queries: Tensor
    """(M, D), unit rows, with gradient."""
    positives: Tensor
    """(M, D), unit rows: the positive of each query."""
    copies: int
    """How many queries an image has: 1 for MoCo; 2 for SimCLR, in two blocks of N."""
    views: Mapping[str, Tensor]
    """All views of the batch, (N, 3, H, W) each, those that the source asked for included."""
    encode: Callable[[Tensor], Tensor]
    """Images (N, 3, H, W) to embeddings (N, D) on the key branch, with its care for batch norm."""


class NegativeSource(nn.Module, ABC):
    """A source at work; it may keep state in buffers, which go into the checkpoint."""

    @abstractmethod
    def similarities(self, contrast: Contrast) -> Tensor:
        """(M, K) similarities of the queries to their negatives, before the temperature.

        A source that is absent (its weight is 0) returns (M, 0): it adds no exp(0).
        """

    def after_backward(self) -> None:
        """Called once the gradient exists: the time to change what the graph has read."""
        return


class NegativeSettings(ABC):
    """What a recipe says of a source: a frozen dataclass, found by its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def build(self, dim: int, seed: int) -> NegativeSource:
        """The source, for embeddings of width `dim`."""

    def view_makers(self) -> dict[str, ViewMaker]:
        """Views that the source needs besides the method's own, by name."""
        return {}


def view_makers_of(sources: Iterable[NegativeSettings]) -> dict[str, ViewMaker]:
    """All views that some sources ask for."""
    makers: dict[str, ViewMaker] = {}
    for source in sources:
        makers |= source.view_makers()
    return makers


class Sources(nn.ModuleList):
    """The sources of a method."""

    def __init__(self, settings: Iterable[NegativeSettings], dim: int, seed: int) -> None:
        # Each has a seed of its own: two queues do not begin with the same rows.
        super().__init__(
            source.build(dim, torch_seed(seed, source.name, place))
            for place, source in enumerate(settings)
        )

    def similarities(self, contrast: Contrast) -> list[Tensor]:
        """(M, K_i) of each source."""
        return [source.similarities(contrast) for source in self._sources()]

    def after_backward(self) -> None:
        for source in self._sources():
            source.after_backward()

    def _sources(self) -> list[NegativeSource]:
        return [source for source in self if isinstance(source, NegativeSource)]


Negatives = tuple[
    Annotated[
        NegativeSettings,
        PartOf("unshortcut.methods.negatives", NegativeSettings, "source of negatives"),
    ],
    ...,
]
"""A field of a method's settings that holds sources of negatives."""
