"""Evaluation of a task: images are read ahead in threads while the network predicts."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from unshortcut.arrays import ImageArray
from unshortcut.data.batches import pad_and_stack
from unshortcut.data.failures import Failure
from unshortcut.data.regions import Regions
from unshortcut.data.source import Annotated, AnnotatedImage, ImageSource
from unshortcut.inference.preprocessing import Preprocessing, normalize
from unshortcut.inference.reading import Unreadable, read_batches
from unshortcut.progress import OnProgress
from unshortcut.transfer.task import Example, Task
from unshortcut.transfer.views import EvaluationView, TrainingView, WholeImageView

_BATCH_PIXELS = 64 * 224 * 224


class Evaluation:
    """The images of a source as a task is evaluated on them."""

    def __init__(
        self,
        source: ImageSource,
        view: EvaluationView | WholeImageView | TrainingView,
        preprocessing: Preprocessing,
        *,
        crops: int = 1,
        workers: int | None = None,
    ) -> None:
        self.source = Annotated(source) if isinstance(view, WholeImageView) else source
        self.view = view
        self.preprocessing = preprocessing
        self.crops = crops
        """Views of each image, numbered like epochs, whose predictions the task combines."""
        self.workers = workers
        self.failures: tuple[Failure, ...] = ()
        """Images that could not be read in the last evaluation."""

    def score(self, task: Task, on_progress: OnProgress | None = None) -> dict[str, float]:
        """The metrics of a task, which is in eval mode meanwhile."""
        total = task.score()
        for examples, predictions in self._predict(task, on_progress):
            total.add(predictions, examples)
        return total.result()

    def predict(self, task: Task, position: int) -> Any:
        """The prediction for one image."""
        views, example = self.read(position)
        (prediction,) = self._run(task, [views], [example])
        return prediction

    def read(self, position: int) -> tuple[list[ImageArray], Example]:
        """The views of one image, and what its data set says of it. Raises `BadImageError`."""
        source = self.source
        image = source.image(position)
        views = [self.view(image, 0, crop, position)["image"] for crop in range(self.crops)]
        shown = source.multilabels
        example = Example(
            label=-1 if source.labels is None else int(source.labels[position]),
            multilabel=None if shown is None else shown.values[position],
            regions=image.regions if isinstance(image, AnnotatedImage) else Regions(),
            height=image.height,
            width=image.width,
        )
        return views, example

    def _predict(
        self, task: Task, on_progress: OnProgress | None
    ) -> Iterator[tuple[Sequence[Example], list[Any]]]:
        unreadable = Unreadable(len(self.source))
        for _, read in read_batches(
            self.read,
            self.source.identity,
            unreadable,
            batch_size=max(1, min(256, _BATCH_PIXELS // self.preprocessing.size**2) // self.crops),
            workers=self.workers,
            on_progress=on_progress,
        ):
            views, examples = zip(*read, strict=True)
            yield examples, self._run(task, views, examples)
        self.failures = tuple(unreadable.failures.values())

    def _run(
        self, task: Task, views: Sequence[list[ImageArray]], examples: Sequence[Example]
    ) -> list[Any]:
        stacked, sizes = pad_and_stack([one for of_image in views for one in of_image])
        shown = [example for example in examples for _ in range(self.crops)]
        batch = torch.from_numpy(stacked).permute(0, 3, 1, 2).to(task.device)
        mode = task.training
        task.eval()
        with torch.no_grad():
            images = normalize(batch, self.preprocessing)
            predicted = task.predict(images, sizes.to(task.device), shown)
        task.train(mode)
        if self.crops == 1:
            return predicted
        starts = range(0, len(predicted), self.crops)
        return [task.combine(predicted[start : start + self.crops]) for start in starts]
