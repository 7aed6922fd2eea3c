"""`samples.png`: what a method that makes images makes of a few of them, after each epoch."""

from collections.abc import Mapping
from pathlib import Path

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from PIL import Image as PillowImage
from torch import Tensor

from unshortcut.data.source import BadImageError, ImageSource
from unshortcut.files import atomic_open
from unshortcut.methods.method import Method, method_of
from unshortcut.randomness import generator
from unshortcut.views.plan import ViewPlan
from unshortcut.views.sheet import sheet

_COUNT, _MOST_SKIPPED, _SIDE = 6, 100, 128


class Samples(Callback):
    """Draws a method's pictures of the same images and views after each epoch, on rank 0."""

    def __init__(self, source: ImageSource, plan: ViewPlan, seed: int, path: Path) -> None:
        self.source, self.plan, self.seed, self.path = source, plan, seed, path
        self._views: dict[str, Tensor] | None = None

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not trainer.is_global_zero:
            return
        if self._views is None:
            self._views = sample_views(self.source, self.plan, self.seed)
        if not self._views:
            return  # none of the images that were tried can be read
        page = picture_sheet(method_of(pl_module), self._views)
        with atomic_open(self.path) as file:
            page.save(file, format="png")


def picture_sheet(method: Method, views: Mapping[str, Tensor]) -> PillowImage.Image:
    """A method's pictures of views, uint8 (n, 3, h, w) by name: one row per image."""
    on_device = {name: view.to(method.device) for name, view in views.items()}
    pictures = method.pictures({name: method.normalize(view) for name, view in on_device.items()})
    columns = [images.cpu().permute(0, 2, 3, 1).numpy() for images in pictures.values()]
    return sheet(list(zip(*columns, strict=True)), list(pictures), side=_SIDE)


def sample_views(
    source: ImageSource, plan: ViewPlan, seed: int, count: int = _COUNT
) -> dict[str, Tensor]:
    """Views of a few readable images as batches, uint8 (n, 3, h, w) by name."""
    made = []
    for index in (
        generator(seed, "samples").permutation(len(source))[: count + _MOST_SKIPPED].tolist()
    ):
        try:
            made.append(plan(source.image(index), seed, 0, index))
        except BadImageError:
            continue
        if len(made) == count:
            break
    return {
        name: torch.stack([torch.from_numpy(views[name]).permute(2, 0, 1) for views in made])
        for name in (made[0] if made else ())
    }
