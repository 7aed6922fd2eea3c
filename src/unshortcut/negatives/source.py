"""What a source of negatives is: it turns one step's embeddings into similarities (M, K)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.losses.loss import Placement
from unshortcut.parts import PartOf
from unshortcut.randomness import torch_seed
from unshortcut.views.transform import ViewTransform


@dataclass
class Contrast:
    """One step as a source of negatives sees it. M queries stand for N images: M = copies · N."""

    queries: Tensor
    """(M, D), unit rows, with gradient: N for each of `query_views`, one block after the other."""
    positives: Tensor
    """(M, D), unit rows: the positive of each query."""
    query_views: tuple[str, ...]
    """Names of the views that the queries are of."""
    views: Mapping[str, Tensor]
    """All views of the batch, (N, 3, H, W) each, those that the source asked for included."""
    encode: Callable[[Tensor], Tensor]
    """Images (N, 3, H, W) to embeddings (N, D) on the key branch, with its care for batch norm."""
    weigh: Callable[[Tensor, float, Placement], Tensor]
    """Similarities such that the loss weighs these negatives by alpha."""
    generator: Callable[[str], torch.Generator]
    """Random numbers of this step for a purpose, the same on all ranks."""
    progress: float = 0.0
    """The share of the training that is done."""
    other_keys: Tensor | None = None
    """(M, J, D), unit rows: the other keys of each query's image, where they are told apart."""
    equal_params: Tensor | None = None
    """(M, J) bool: which of them drew by accident what the positive shares with the query."""

    @property
    def copies(self) -> int:
        """How many queries an image has: 1 for MoCo; 2 for SimCLR and BYOL."""
        return len(self.query_views)


class NegativeSource(nn.Module, ABC):
    """A source at work; it may keep state in buffers, which go into the checkpoint."""

    @abstractmethod
    def similarities(self, contrast: Contrast) -> Tensor:
        """(M, K) similarities of the queries to their negatives, before the temperature.

        A source that is absent for this step (its weight is 0) returns (M, 0): no exp(0).
        """

    def after_backward(self) -> None:
        """Called once the gradient exists: the time to change what the graph has read."""
        return


class NegativeSettings(ABC):
    """What a recipe says of a source: a frozen dataclass, found by its `name`."""

    name: ClassVar[str]
    needs_spaces: ClassVar[bool] = False
    """Whether it is only for methods with several spaces."""

    @abstractmethod
    def build(self, dim: int, seed: int) -> NegativeSource:
        """The source, for embeddings of width `dim`."""

    def view_transforms(self, queries: Sequence[str]) -> dict[str, ViewTransform]:
        """Views that the source needs besides the method's own, by name.

        `queries` are the names of the views that are queries.
        """
        return {}

    @property
    def absent(self) -> bool:
        """Whether the source weighs nothing all through: then it is not built, nor its views."""
        return False


def view_transforms_of(
    sources: Iterable[NegativeSettings], queries: Sequence[str]
) -> dict[str, ViewTransform]:
    """All views that some sources ask for."""
    transforms: dict[str, ViewTransform] = {}
    for source in sources:
        if source.absent:
            continue
        asked = source.view_transforms(queries)
        if twice := transforms.keys() & asked.keys():
            raise UsageError(
                f"two sources of negatives make a view called '{min(twice)}'; give one of them "
                "another name for it by its key 'view'"
            )
        transforms |= asked
    return transforms


class Sources(nn.ModuleList):
    """The sources of a method."""

    def __init__(self, settings: Iterable[NegativeSettings], dim: int, seed: int) -> None:
        # Each has a seed of its own: two queues do not begin with the same rows.
        super().__init__(
            source.build(dim, torch_seed(seed, source.name, place))
            for place, source in enumerate(settings)
            if not source.absent
        )

    def similarities(self, contrast: Contrast) -> list[Tensor]:
        """(M, K_i) of each source."""
        return [source.similarities(contrast) for source in self._sources()]

    def after_backward(self) -> None:
        for source in self._sources():
            source.after_backward()

    def _sources(self) -> list[NegativeSource]:
        return [source for source in self if isinstance(source, NegativeSource)]


class SpaceSources(Sources):
    """The same sources in each of several spaces, one space after the other."""

    def __init__(
        self, spaces: int, settings: Iterable[NegativeSettings], dim: int, seed: int
    ) -> None:
        settings = list(settings)
        nn.ModuleList.__init__(
            self, (Sources(settings, dim, torch_seed(seed, space)) for space in range(spaces))
        )

    def of_space(self, place: int) -> Sources:
        """Those of one space."""
        found = self[place]
        assert isinstance(found, Sources)
        return found

    def after_backward(self) -> None:
        for place in range(len(self)):
            self.of_space(place).after_backward()


Negatives = tuple[
    Annotated[
        NegativeSettings,
        PartOf("unshortcut.negatives", NegativeSettings, "source of negatives"),
    ],
    ...,
]
"""A field of a method's settings that holds sources of negatives."""
