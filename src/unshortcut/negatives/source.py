"""The base of sources of negatives, which give each query similarities to its negatives."""

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
class ContrastStep:
    """What a source of negatives gets in one step: M = copies · N queries for N images."""

    queries: Tensor
    """(M, D), unit rows, with gradient: a block of N rows for each of `query_views`."""
    positives: Tensor
    """(M, D), unit rows: the positive of each query."""
    query_views: tuple[str, ...]
    """Names of the views that the queries are embeddings of."""
    views: Mapping[str, Tensor]
    """All views of the batch, (N, 3, H, W) each, including those that the source needs."""
    encode: Callable[[Tensor], Tensor]
    """Encodes images (N, 3, H, W) to embeddings (N, D) in the way that keys are encoded."""
    weigh: Callable[[Tensor, float, Placement], Tensor]
    """`Loss.weigh` of the method's loss."""
    generator: Callable[[str], torch.Generator]
    """Returns the random generator of this step for a purpose, the same on all ranks."""
    progress: float = 0.0
    """The fraction of the training that is completed."""
    other_keys: Tensor | None = None
    """(M, J, D), unit rows: the other keys of each query's image, for methods with spaces."""
    equal_params: Tensor | None = None
    """(M, J) bool: which of them have by chance the parameters that the positive shares."""
    enqueued: Tensor | None = None
    """(N, D), unit rows: what queues store, for methods that do not store the positives."""

    @property
    def copies(self) -> int:
        """Number of queries per image: 1 for MoCo, 2 for SimCLR and BYOL."""
        return len(self.query_views)


class NegativeSource(nn.Module, ABC):
    """A source of negatives; buffers hold its state and are saved in the checkpoint."""

    @abstractmethod
    def similarities(self, step: ContrastStep) -> Tensor:
        """(M, K) similarities of the queries to their negatives, without the temperature.

        A source with weight 0 in this step returns (M, 0), not zeros, which would add exp(0).
        """

    def after_backward(self) -> None:
        """Called after the backward pass; only now may tensors change that the graph has read."""
        return


class NegativeSettings(ABC):
    """Settings of a source as fields (see `parts.settings`), found by its `name`."""

    name: ClassVar[str]
    needs_spaces: ClassVar[bool] = False
    """Whether the source only works in methods with several spaces."""

    @abstractmethod
    def build(self, dim: int, seed: int) -> NegativeSource:
        """The source for embeddings of dimension `dim`."""

    def view_transforms(self, queries: Sequence[str]) -> dict[str, ViewTransform]:
        """Views by name that the source needs in addition to those of the method.

        `queries` are the names of the views that are used as queries.
        """
        return {}

    @property
    def absent(self) -> bool:
        """Whether its weight is always 0; then neither the source nor its views are built."""
        return False


def view_transforms_of(
    sources: Iterable[NegativeSettings], queries: Sequence[str]
) -> dict[str, ViewTransform]:
    """All views that the sources need."""
    transforms: dict[str, ViewTransform] = {}
    for source in sources:
        if source.absent:
            continue
        needed = source.view_transforms(queries)
        if twice := transforms.keys() & needed.keys():
            raise UsageError(
                f"two sources of negatives have a view called '{min(twice)}'; give the view of "
                "one of them another name with its key 'view'"
            )
        transforms |= needed
    return transforms


class Sources(nn.ModuleList):
    """The sources of negatives of a method."""

    def __init__(self, settings: Iterable[NegativeSettings], dim: int, seed: int) -> None:
        # Each source has its own seed, so that two queues do not start with the same rows.
        super().__init__(
            source.build(dim, torch_seed(seed, source.name, index))
            for index, source in enumerate(settings)
            if not source.absent
        )

    def similarities(self, step: ContrastStep) -> list[Tensor]:
        """One tensor (M, K_i) per source."""
        return [source.similarities(step) for source in self._sources()]

    def after_backward(self) -> None:
        for source in self._sources():
            source.after_backward()

    def _sources(self) -> list[NegativeSource]:
        return [source for source in self if isinstance(source, NegativeSource)]


class SpaceSources(Sources):
    """The same sources for each of several spaces."""

    def __init__(
        self, num_spaces: int, settings: Iterable[NegativeSettings], dim: int, seed: int
    ) -> None:
        settings = list(settings)
        nn.ModuleList.__init__(
            self, (Sources(settings, dim, torch_seed(seed, space)) for space in range(num_spaces))
        )

    def of_space(self, index: int) -> Sources:
        """The sources of one space."""
        found = self[index]
        assert isinstance(found, Sources)
        return found

    def after_backward(self) -> None:
        for index in range(len(self)):
            self.of_space(index).after_backward()


NEGATIVES = PartOf("unshortcut.negatives", NegativeSettings, "source of negatives")
Negatives = tuple[Annotated[NegativeSettings, NEGATIVES], ...]
"""A field of a method's settings that holds sources of negatives."""
