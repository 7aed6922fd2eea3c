"""How fast this machine makes views and training steps, measured for a few seconds."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import cv2
import numpy as np
import simplejpeg
import torch

from unshortcut.data.decode import EncodedImage
from unshortcut.data.loader import KeyedDataset, LoadedBatch, LoadedSample, collate
from unshortcut.data.source import ArrayImage, Image, ImageSource
from unshortcut.memory import keep_freed_memory
from unshortcut.methods.method import Method
from unshortcut.methods.optimization import build_optimizer
from unshortcut.randomness import generator
from unshortcut.recipes.schema import Recipe

_FIRST_BATCH = 4
_SMALL = 128
"""Data sets of smaller images are arrays in memory, not files."""


class MadeImages(ImageSource):
    """Smooth noise of a typical size in place of images that are not here, JPEG unless small."""

    def __init__(self, width: int, height: int, count: int = 8) -> None:
        self._images = [_made(width, height, index) for index in range(count)]

    def __len__(self) -> int:
        return len(self._images)

    def image(self, index: int) -> Image:
        return self._images[index]

    def identity(self, index: int) -> str:
        return str(index)

    def fingerprint(self) -> str:
        return "made"


def views_per_second(source: ImageSource, recipe: Recipe, seconds: float) -> float:
    """Views of a recipe that one core makes per second from the images of a source."""
    plan = recipe.view_plan()
    dataset = KeyedDataset(source, plan, recipe.seed)
    order = generator(recipe.seed, "throughput").permutation(len(source))

    def make(number: int) -> None:
        dataset[number // len(order), int(order[number % len(order)])]

    with _one_thread():
        make(0)  # compiles what Numba compiles
        return len(plan.transforms) * _rate(make, 1, seconds)


def training_images_per_second(
    method: Method, recipe: Recipe, source: ImageSource, batch_size: int, seconds: float
) -> tuple[float, int]:
    """Images that one device trains on per second, and the batch size of the measured steps.

    Steps have the whole batch of a device if there is time for it, and fewer images otherwise.
    Views are not made meanwhile, and nothing is compiled.
    """
    device = next(method.parameters()).device
    if device.type == "cpu":
        keep_freed_memory()
    optimizers = [build_optimizer(*part) for part in method.optimized()]
    sample = KeyedDataset(source, recipe.view_plan(), recipe.seed)[0, 0]
    dtype = {"16-mixed": torch.float16, "bf16-mixed": torch.bfloat16}.get(recipe.training.precision)

    def step(count: int, number: int) -> None:
        batch = _batch(sample, count, device)
        with torch.autocast(device.type, dtype) if dtype is not None else nullcontext():
            loss = method.training_step(batch, number)
        method.zero_grad()
        method.backward(loss)
        method.on_after_backward()
        for optimizer in optimizers:
            optimizer.step()
        float(loss.detach())  # waits for a GPU

    count = min(_FIRST_BATCH, batch_size)
    step(count, 0)
    start = time.perf_counter()
    step(count, 1)
    elapsed = time.perf_counter() - start
    if elapsed >= seconds:
        return count / elapsed, count
    per_image = elapsed / count
    while count < batch_size and 2 * count * per_image < seconds / 3:
        count = min(2 * count, batch_size)
    return _rate(lambda number: step(count, number), count, seconds), count


def _rate(work: Callable[[int], None], images: int, seconds: float) -> float:
    """Images per second of a function that processes `images` of them, called at least once."""
    start, done = time.perf_counter(), 0
    while done == 0 or time.perf_counter() - start < seconds:
        done += 1
        work(done)
    return images * done / (time.perf_counter() - start)


def _batch(sample: LoadedSample, count: int, device: torch.device) -> LoadedBatch:
    """A batch of one image many times; its content does not change the speed."""
    batch = collate([sample] * count)
    batch["views"] = {name: view.to(device) for name, view in batch["views"].items()}
    # The first row of a memory bank, and a class even if the image has none.
    batch["index"] = torch.zeros_like(batch["index"], device=device)
    batch["label"] = batch["label"].clamp(min=0).to(device)
    batch["trusted"] = torch.zeros(count, dtype=torch.bool, device=device)
    return batch


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute as a worker process does."""
    threads, opencv = torch.get_num_threads(), cv2.getNumThreads()
    torch.set_num_threads(1)
    cv2.setNumThreads(0)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        cv2.setNumThreads(opencv)


class _EncodedImage(EncodedImage):
    """A JPEG that takes the place of its copies too."""

    def variant(self, name: str) -> "_EncodedImage":
        return self


class _ArrayImage(ArrayImage):
    def variant(self, name: str) -> "_ArrayImage":
        return self


def _made(width: int, height: int, index: int) -> Image:
    coarse = generator(0, index, "made").integers(256, size=(12, 16, 3), dtype=np.uint8)
    smooth = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    noise = generator(0, index, "noise").normal(0, 8, smooth.shape)
    pixels = np.clip(smooth + noise, 0, 255).astype(np.uint8)
    if min(width, height) < _SMALL:
        return _ArrayImage(pixels)
    return _EncodedImage(simplejpeg.encode_jpeg(np.ascontiguousarray(pixels), quality=90))
