"""From images to batches of views, in an order and with parameters that depend on keys alone.

The main process sends (epoch, index) pairs to workers, which return batches of views. The position
in an epoch counts the batches that were trained on, not those that workers have ready, so that a
resumed run continues with exactly the next batch.
"""

import signal
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypedDict

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from unshortcut.arrays import ImageArray
from unshortcut.data.regions import Regions
from unshortcut.data.source import BadImageError, Image, ImageSource
from unshortcut.errors import RunError, UsageError
from unshortcut.randomness import generator

Key = tuple[int, int]
"""(epoch, index)."""


class Views(dict[str, ImageArray]):
    """Named views of one image, uint8 (h, w, 3), with metadata and what is annotated in them."""

    def __init__(
        self,
        views: Mapping[str, ImageArray],
        metadata: Mapping[str, NDArray[np.bool_]] | None = None,
        regions: Regions | None = None,
    ) -> None:
        super().__init__(views)
        self.metadata = dict(metadata or {})
        """(k,) bool by view, from its transform."""
        self.regions = regions
        """Boxes and mask in pixels of the views, which then all have the same size."""


MakeViews = Callable[[Image, int, int, int], Mapping[str, ImageArray]]
"""(image, seed, epoch, index) to named views, uint8 (h, w, 3), or to `Views`.

(seed, epoch, index) is the key, and does not change if a bad image is replaced by another."""

_REPLACEMENTS = 20
_WORKER_GRACE_SECONDS = 30


class LoadedBatch(TypedDict):
    """A batch of n images, as a method receives it."""

    views: dict[str, Tensor]
    """uint8 (n, 3, h, w), stored channels last."""
    index: Tensor
    """(n,) int64: indices in the source."""
    label: Tensor
    """(n,) int64, -1 without a label."""
    trusted: Tensor | None
    """(n,) bool: whether a label is known to be right; None if the source says nothing of it."""
    metadata: dict[str, Tensor]
    """(n, k) bool by view, from its transform."""
    multilabel: Tensor | None
    """(n, C) int8: 1 shown, 0 not shown, -1 unknown; None without such labels."""
    regions: list[Regions] | None
    """The annotation of each image, in pixels of its view before padding; None without any."""
    sizes: Tensor
    """(n, 2): height and width of the first view of each image before padding."""
    failures: list[tuple[str, str]]
    """(identity, reason) of the images that were replaced."""


@dataclass(frozen=True)
class LoadedSample:
    """The views of one image; `index` and `label` are those of the image that was used."""

    views: Mapping[str, ImageArray]
    index: int
    label: int
    failures: list[tuple[str, str]]
    metadata: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    multilabel: NDArray[np.int8] | None = None
    regions: Regions | None = None
    trusted: bool | None = None


class KeyedDataset(Dataset[LoadedSample]):
    """Views by (epoch, index); a bad image is replaced by a random one, chosen by the key."""

    def __init__(self, source: ImageSource, make_views: MakeViews, seed: int) -> None:
        self.source = source
        self.make_views = make_views
        self.seed = seed

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, key: Key) -> LoadedSample:
        epoch, index = key
        failures: list[tuple[str, str]] = []
        used = index
        for attempt in range(_REPLACEMENTS):
            try:
                views = self.make_views(self.source.image(used), self.seed, epoch, index)
            except BadImageError as error:
                failures.append((self.source.identity(used), str(error)))
                rng = generator(self.seed, epoch, index, "replacement", attempt)
                used = int(rng.integers(len(self.source)))
                continue
            labels = self.source.labels
            label = -1 if labels is None else int(labels[used])
            shown = self.source.multilabels
            multilabel = None if shown is None else shown.values[used]
            if not isinstance(views, Views):
                views = Views(views)
            trusted = None if self.source.trusted is None else bool(self.source.trusted[used])
            return LoadedSample(
                views, used, label, failures, views.metadata, multilabel, views.regions, trusted
            )
        identity, reason = failures[-1]
        raise RunError(
            f"{_REPLACEMENTS} images in a row could not be read; the last was {identity}: {reason}"
        )


class EpochSampler(Sampler[list[Key]]):
    """The batches of an epoch for one rank, as lists of (epoch, index).

    The order of an epoch is a permutation keyed by (seed, epoch); images that do not fill a whole
    step of `accumulate` batches are left out. Rank r of W takes the r-th of W equal parts of each
    batch, so that all ranks together see what a single process sees.
    """

    def __init__(
        self,
        length: int,
        batch_size: int,
        seed: int,
        rank: int = 0,
        world: int = 1,
        accumulate: int = 1,
    ) -> None:
        check_batch(length, batch_size * accumulate)
        if batch_size % world:
            raise UsageError(
                f"a batch of {batch_size} cannot be divided evenly among {world} devices"
            )
        self.length = length
        self.batch_size = batch_size
        self.seed = seed
        self.rank = rank
        self.world = world
        self.accumulate = accumulate
        self.epoch = 0
        self.start_batch = 0
        """The batch at which the next iteration starts; later ones start at 0 again."""

    def set_epoch(self, epoch: int) -> None:
        """Go to the start of an epoch, unless it is the current one."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.start_batch = 0

    def __len__(self) -> int:
        """Batches in a whole epoch, wherever the next iteration starts."""
        return self.length // (self.batch_size * self.accumulate) * self.accumulate

    def __iter__(self) -> Iterator[list[Key]]:
        epoch, start = self.epoch, self.start_batch
        self.start_batch = 0
        order = generator(self.seed, epoch, "order").permutation(self.length)
        share = self.batch_size // self.world
        for batch in range(start, len(self)):
            first = batch * self.batch_size + self.rank * share
            yield [(epoch, int(index)) for index in order[first : first + share]]


class ViewLoader:
    """Batches of views, with workers or without, the same to the bit.

    Lightning treats it as a stateful loader, since it has `sampler.set_epoch`, `state_dict` and
    `load_state_dict`. It is not a `DataLoader`, so that Lightning leaves the sampler as it is. An
    iterator starts its work with the first batch, because Lightning creates it before it sets
    the epoch.
    """

    def __init__(
        self,
        source: ImageSource,
        make_views: MakeViews,
        *,
        batch_size: int,
        seed: int,
        rank: int = 0,
        world: int = 1,
        accumulate: int = 1,
        workers: int = 0,
    ) -> None:
        self.dataset = KeyedDataset(source, make_views, seed)
        self.sampler = EpochSampler(len(source), batch_size, seed, rank, world, accumulate)
        self._loader: DataLoader[LoadedSample] = DataLoader(
            self.dataset,
            batch_sampler=self.sampler,
            num_workers=workers,
            collate_fn=collate,
            worker_init_fn=_init_worker,
            persistent_workers=workers > 0,
            pin_memory=torch.cuda.is_available(),
        )
        self._position = (0, 0)  # (epoch, batches yielded in it)
        # When the interpreter exits, torch only sends a SIGTERM, which our workers ignore at first.
        self._finalizer = weakref.finalize(self, _stop_workers, self._loader)

    def __len__(self) -> int:
        return len(self.sampler)

    def __iter__(self) -> Iterator[LoadedBatch]:
        epoch, start = self.sampler.epoch, self.sampler.start_batch
        try:
            for count, batch in enumerate(self._loader, start + 1):
                self._position = (epoch, count)
                yield batch
        except RunError as error:
            # torch puts the worker's traceback before the message
            raise RunError(str(error).rpartition("RunError: ")[2].strip()) from None

    def state_dict(self) -> dict[str, int]:
        """The epoch, and how many of its batches have been yielded."""
        epoch, batches = self._position
        if epoch != self.sampler.epoch:
            batches = self.sampler.start_batch
        return {"epoch": self.sampler.epoch, "batch": batches}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Restore the position of `state_dict`: the next iteration starts with the next batch."""
        self.sampler.epoch = state["epoch"]
        self.sampler.start_batch = state["batch"]
        self._position = (state["epoch"], state["batch"])

    def close(self) -> None:
        """Stop the workers."""
        _stop_workers(self._loader)


def check_batch(length: int, batch_size: int) -> None:
    """Raise `UsageError` if there are fewer images than a batch needs."""
    if batch_size < 1:
        raise UsageError(f"a batch needs at least one image, not {batch_size}")
    if batch_size > length:
        raise UsageError(
            f"a batch of {batch_size} is larger than the data, which have {length} images"
        )


def collate(samples: list[LoadedSample]) -> LoadedBatch:
    """Stack samples; views stay uint8 and are channels last in memory.

    Views of different sizes are padded with black, at the bottom and at the right.
    """
    stacked = {
        name: pad_and_stack([one.views[name] for one in samples]) for name in samples[0].views
    }
    shown = [one.multilabel for one in samples if one.multilabel is not None]
    regions = [one.regions for one in samples if one.regions is not None]
    trusted = [one.trusted for one in samples if one.trusted is not None]
    return LoadedBatch(
        views={name: torch.from_numpy(v).permute(0, 3, 1, 2) for name, (v, _) in stacked.items()},
        index=torch.tensor([sample.index for sample in samples], dtype=torch.int64),
        label=torch.tensor([sample.label for sample in samples], dtype=torch.int64),
        trusted=torch.tensor(trusted) if trusted else None,
        metadata={
            name: torch.from_numpy(np.stack([sample.metadata[name] for sample in samples]))
            for name in samples[0].metadata
        },
        multilabel=torch.from_numpy(np.stack(shown)) if shown else None,
        regions=regions or None,
        sizes=next(iter(stacked.values()))[1],
        failures=[failure for sample in samples for failure in sample.failures],
    )


def pad_and_stack(views: list[ImageArray]) -> tuple[ImageArray, Tensor]:
    """Views as (n, h, w, 3), padded to the largest height and width, and their sizes (n, 2)."""
    sizes = np.array([view.shape[:2] for view in views], dtype=np.int64)
    height, width = sizes.max(axis=0)
    if (sizes == sizes[0]).all():
        return np.stack(views), torch.from_numpy(sizes)
    padded = np.zeros((len(views), height, width, 3), dtype=np.uint8)
    for row, view in zip(padded, views, strict=True):
        row[: view.shape[0], : view.shape[1]] = view
    return padded, torch.from_numpy(sizes)


def _init_worker(worker: int) -> None:
    """Use one thread, and survive signals that stop the run.

    A terminal sends Ctrl-C, and a batch system SIGTERM, to all processes of a run. The main
    process then finishes its step and writes a checkpoint, which torch would interrupt with an
    error if a worker died meanwhile.
    """
    cv2.setNumThreads(0)
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end_later)


def _end_later(number: int, frame: FrameType | None) -> None:
    signal.alarm(_WORKER_GRACE_SECONDS)


def _stop_workers(loader: DataLoader[Any]) -> None:
    iterator, loader._iterator = loader._iterator, None
    getattr(iterator, "_shutdown_workers", lambda: None)()
