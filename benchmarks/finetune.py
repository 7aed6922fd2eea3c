"""Steps of fine-tuning compared with a plain PyTorch loop over the same network.

Both sides fine-tune a ResNet-18 at 64 px for classification: batches of 64, random resized crops
and flips, SGD, cross-entropy, as many loader processes and threads. Ours is the whole training of
`unshortcut finetune`, with its Trainer, logs and checks; the plain one is timm's network, torch's
`DataLoader` and torchvision's transforms, as in any tutorial. Rounds of steps alternate, and the
first steps of each, in which workers start, are not timed.

`finetune_vs_plain`: drawn images in memory. `finetune_images_vs_plain`: JPEG files of 128 px
(Oxford-IIIT Pets of the test data). Times of the plain loop divided by ours.
"""

import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import timm
import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from rich.console import Console
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

from benchmarks.common import Paired, json_target, real_data, report
from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.augmentations.horizontal_flip import HorizontalFlip
from unshortcut.augmentations.random_resized_crop import RandomResizedCrop
from unshortcut.data.loader import ViewLoader
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.inference.preprocessing import IMAGENET_MEAN, IMAGENET_STD
from unshortcut.memory import keep_freed_memory
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.optimization import OptimizerSettings
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.recipes.schema import TrainingSettings
from unshortcut.training.folder import RunFolder
from unshortcut.training.machine import find_machine
from unshortcut.training.trainer import TrainingLoop
from unshortcut.transfer.parameters import TrainedParts
from unshortcut.transfer.schedule import TransferSchedule
from unshortcut.transfer.tasks.classify import ClassifySettings
from unshortcut.transfer.views import TrainingView

ROUNDS, STEPS, WARM = 5, 24, 4
BATCH, PIXELS, WORKERS, LR = 64, 64, 1, 0.01


def main() -> None:
    target = json_target("finetune")
    keep_freed_memory()  # as our trainings do; here for both sides
    drawn = open_data("shapes", count=2000)
    in_memory = Drawn(drawn)
    with TemporaryDirectory() as folder, tarfile.open(real_data("pets.tar")) as archive:
        archive.extractall(folder, filter="data")
        train = Path(folder) / "train"
        figures = {
            "finetune_vs_plain": compare(drawn, in_memory).ratio,
            "finetune_images_vs_plain": compare(open_data(train), files(train)).ratio,
        }
    report("finetune", figures, ["torch", "torchvision", "timm", "lightning"], target)


def compare(source: ImageSource, dataset: Dataset[Any]) -> Paired:
    """Seconds of a round of steps of both sides, which take turns in going first."""
    classes = source.classes or ()
    sides: tuple[Callable[[], float], ...] = (
        lambda: ours(source, classes),
        lambda: plain(dataset, len(classes)),
    )
    seconds: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS + 1):
        for side in (0, 1) if number % 2 else (1, 0):
            spent = sides[side]()
            if number > 0:
                seconds[side].append(spent)
    return Paired(*seconds)


def ours(source: ImageSource, classes: tuple[str, ...]) -> float:
    """Seconds of `STEPS` steps of the training of `unshortcut finetune`."""
    torch.manual_seed(0)
    schedule = TransferSchedule(steps=WARM + STEPS, kind="constant")
    training = TrainingContext(OptimizerSettings(lr=LR, weight_decay=0.0))
    task = ClassifySettings().build(Encoder(EncoderSettings(name="resnet18")), classes, training)
    task.plan(TrainedParts(), schedule)
    view = TrainingView(Pipeline([RandomResizedCrop(PIXELS, (0.3, 1.0)), HorizontalFlip()]))
    clock = Clock()
    with TemporaryDirectory() as folder:
        run = RunFolder(Path(folder))
        quiet, machine = Console(quiet=True), find_machine(1)
        loop = TrainingLoop(run, TrainingSettings(), machine, quiet, label="", how_to_resume="")

        def loader(rank: int, world: int) -> ViewLoader:
            return ViewLoader(source, view, batch_size=BATCH, seed=0, workers=WORKERS)

        loop.run(task, loader, [clock], epochs=1, steps=WARM + STEPS)
    return clock.seconds


class Clock(Callback):
    """Times the steps after the first `WARM`."""

    seconds = 0.0

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if trainer.global_step == WARM:
            self.start = time.perf_counter()
        if trainer.global_step == WARM + STEPS:
            self.seconds = time.perf_counter() - self.start


def plain(dataset: Dataset[Any], num_classes: int) -> float:
    """Seconds of `STEPS` steps of a plain PyTorch loop."""
    torch.manual_seed(0)
    network = timm.create_model("resnet18", num_classes=num_classes).train()
    optimizer = torch.optim.SGD(network.parameters(), lr=LR, momentum=0.9)
    cross_entropy = torch.nn.CrossEntropyLoss()
    loader = DataLoader(
        dataset, batch_size=BATCH, shuffle=True, drop_last=True, num_workers=WORKERS
    )
    start = 0.0
    for number, (images, labels) in zip(range(WARM + STEPS), forever(loader), strict=False):
        if number == WARM:
            start = time.perf_counter()
        loss = cross_entropy(network(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return time.perf_counter() - start


def forever(loader: DataLoader[Any]) -> Iterator[tuple[Tensor, Tensor]]:
    while True:
        yield from loader


def transform() -> v2.Compose:
    return v2.Compose(
        [
            v2.ToImage(),
            v2.RandomResizedCrop(PIXELS, (0.3, 1.0), antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(IMAGENET_MEAN, IMAGENET_STD),
        ]
    )


class Drawn(Dataset[Any]):
    """The images of a source in memory, with torchvision's transforms."""

    def __init__(self, source: ImageSource) -> None:
        assert source.labels is not None
        self.images = [source.image(index).pixels() for index in range(len(source))]
        self.labels = source.labels.tolist()
        self.transform = transform()

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self.transform(self.images[index]), self.labels[index]


def files(folder: Path) -> ImageFolder:
    return ImageFolder(str(folder), transform())


if __name__ == "__main__":
    main()
