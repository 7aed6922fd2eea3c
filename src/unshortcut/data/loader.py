"""From images to batches of views, in an order and with parameters that depend on keys alone.

The main process sends (epoch, index) pairs to workers, which return batches of views. The position
in an epoch counts the batches that were trained on, not those that workers have ready, so that a
resumed run continues with exactly the next batch.
"""

import signal
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

import cv2
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from unshortcut.data.batches import LoadedBatch, LoadedSample, MakeViews, Views, collate
from unshortcut.data.blocks import Blocks
from unshortcut.data.source import BadImageError, ImageSource
from unshortcut.errors import RunError, UsageError
from unshortcut.randomness import generator

Key = tuple[int, int]
"""(epoch, index)."""


_REPLACEMENTS = 20
_WORKER_GRACE_SECONDS = 30


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

    The order of an epoch is a permutation keyed by (seed, epoch), which visits the blocks of the
    source, if it has any, a few at a time (`Blocks.order`). Images that do not fill a whole step of
    `accumulate` batches are left out. Rank r of W takes the r-th of W equal parts of each batch, so
    that all ranks together see what a single process sees.
    """

    def __init__(
        self,
        length: int,
        batch_size: int,
        seed: int,
        rank: int = 0,
        world: int = 1,
        accumulate: int = 1,
        blocks: Blocks | None = None,
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
        self.blocks = blocks
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
        rng = generator(self.seed, epoch, "order")
        order = rng.permutation(self.length) if self.blocks is None else self.blocks.order(rng)
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
        self.sampler = EpochSampler(
            len(source), batch_size, seed, rank, world, accumulate, source.blocks
        )
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
