"""A training step of a method: its images and how devices share them, its input, its output."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from unshortcut.data.regions import Regions


@dataclass(frozen=True)
class DeviceBatch:
    """The images of one forward pass, and how devices share them."""

    images: int
    """On each device; accumulated batches are passes of their own."""
    devices: int = 1
    """In all, on all machines."""
    sync_batch_norm: bool = False
    """Whether batch statistics are computed over all devices."""

    @property
    def total(self) -> int:
        """Images on all devices."""
        return self.images * self.devices


@dataclass
class Batch:
    """The input of a method: views of N images."""

    views: Mapping[str, Tensor]
    """Normalized views by name, (N, 3, H, W) each."""
    index: Tensor | None = None
    """(N,) indices of the images in the data set, for methods with a memory bank."""
    label: Tensor | None = None
    """(N,) classes, -1 for images without one, for supervised methods."""
    metadata: Mapping[str, Tensor] = field(default_factory=dict)
    """(N, k) bool by view: metadata from its transform, for methods that use it."""
    multilabel: Tensor | None = None
    """(N, C) int8: 1 shown, 0 not shown, -1 unknown, for images that may show several classes."""
    regions: Sequence[Regions] | None = None
    """Boxes and mask of each image, in pixels of its view before padding."""
    sizes: Tensor | None = None
    """(N, 2): height and width of each view before padding; None if nothing is padded."""
    trusted: Tensor | None = None
    """(N,) bool: whether a label is known to be right, for methods that correct the others."""

    def __len__(self) -> int:
        """N, the number of images."""
        return len(next(iter(self.views.values())))


@dataclass
class StepOutput:
    """The output of one training step: the loss, the embeddings, and metrics for the log."""

    loss: Tensor
    """Scalar."""
    embeddings: Tensor | None
    """(N, D) unit rows; None for a method without an embedding."""
    metrics: dict[str, Tensor] = field(default_factory=dict)
