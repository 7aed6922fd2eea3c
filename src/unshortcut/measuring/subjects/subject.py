"""One model under audit, with its classifier, its images and its outputs for them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.source import ImageSource
from unshortcut.inference.reading import Unreadable, read_batches
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.settings import Limit, Settings
from unshortcut.measuring.subjects.class_names import ClassOutputs
from unshortcut.measuring.subjects.classifier import Classifier, Outputs, join, run
from unshortcut.measuring.subjects.conflict import Conflict
from unshortcut.measuring.subjects.corrupted import CorruptedImages
from unshortcut.measuring.subjects.images import Pixels, Prepared, Transform
from unshortcut.models.load import LoadedModel
from unshortcut.progress import OnProgress
from unshortcut.views.evaluation import EvaluationView, WholeView


@dataclass(frozen=True)
class Subject:
    """A model, its classifier and its images; outputs for plain images are computed once."""

    name: str
    model: LoadedModel
    data: ImageSource
    """The images that it is measured on; no classifier was fitted on them."""
    classifier: Classifier | None
    """None if the model has no head and the data have no labels."""
    settings: Settings = field(default_factory=Settings)
    conflict: Conflict | None = None
    shifts: Mapping[str, ImageSource] = field(default_factory=dict)
    hierarchy: Mapping[str, str] | None = None  # fine class to coarse class
    corrupted: CorruptedImages | None = None
    """Corrupted versions of the data on disk; None to make them in memory."""
    head: Classifier | None = None
    """The head of the model, if a fitted classifier is used for the data instead of it."""
    workers: int | None = None
    """Number of threads that prepare images, by default that of the available cores."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the data that the classifier knows."""
        return self.selection.names

    @cached_property
    def selection(self) -> ClassOutputs:
        """The classifier's outputs for the classes of the data, or `NotApplicable`."""
        if self.data.labels is None or self.data.classes is None:
            raise NotApplicable("the data have no labels: class folders give them")
        return self.decisions.over(self.data.classes)

    @property
    def decisions(self) -> Classifier:
        """The classifier, or `NotApplicable`."""
        if self.classifier is None:
            raise NotApplicable(
                "the model has no classification head, and the data have no labels to fit a "
                "classifier on"
            )
        return self.classifier

    def deciding(self, names: Sequence[str]) -> "Subject":
        """The same model, classified by its head if that knows more of these classes."""
        if self.head is None or self.classifier is None:
            return self
        if self.head.count_known(names) <= self.classifier.count_known(names):
            return self
        return replace(self, classifier=self.head, head=None)

    def labeled(self, most: Limit | int | None = None) -> Prepared:
        """At most `most` images of `classes`, or all in the profile `full`.

        They are the same for all models that know the same classes.
        """
        return self._labeled.some(self.settings.at_most(most), self.settings.seed)

    def unlabeled(self, most: Limit | int | None = None) -> Prepared:
        """At most `most` images of the data, labeled or not, or all in the profile `full`."""
        try:
            return self.labeled(most)
        except NotApplicable:
            return self._unlabeled.some(self.settings.at_most(most), self.settings.seed)

    def prepare(
        self,
        source: ImageSource,
        most: int | None = None,
        *,
        classes: Sequence[str] | None = None,
        whole: bool = False,
        on_progress: OnProgress | None = None,
    ) -> Prepared:
        """Prepare images of any source as the model sees them.

        Args:
            most: number of images, at most; a stratified choice.
            classes: take only images of these classes, and express the labels as indices into them.
            whole: resize the whole image instead of cropping its center.
        """
        labels, rows = source.labels, np.arange(len(source), dtype=np.int64)
        if classes is not None:
            assert labels is not None and source.classes is not None
            index = {name: number for number, name in enumerate(classes)}
            new = np.array([index.get(name, -1) for name in source.classes], dtype=np.int64)
            labels = np.where(labels < 0, -1, new[labels])  # -1: an image without a label
            rows = np.flatnonzero(labels >= 0)
        names = tuple(classes if classes is not None else source.classes or ())
        chosen = None if labels is None else labels[rows]
        view = WholeView(self._view.size) if whole else self._view
        images = Prepared(source, view, rows, chosen, names, len(rows))
        return images.some(most, self.settings.seed).decoded(self.workers, on_progress)

    def outputs(
        self,
        images: Prepared,
        transform: Transform | None = None,
        on_progress: OnProgress | None = None,
    ) -> Outputs:
        """Outputs for images, each changed by `transform` first if one is given.

        Outputs for plain images of the data are computed once and shared by all measurements.
        """
        return join(list(self._batches(images, transform, on_progress)))

    def probabilities(
        self,
        images: Prepared,
        transform: Transform | None = None,
        on_progress: OnProgress | None = None,
        *,
        selection: ClassOutputs | None = None,
    ) -> NDArray[np.float64]:
        """Probabilities (N, K) of `classes`, or of a `selection`; arguments as in `outputs`."""
        chosen = self.selection if selection is None else selection
        parts = []
        for outputs in self._batches(images, transform, on_progress):  # features may be large
            assert outputs.native is not None
            parts.append(chosen.probabilities(outputs.native))
        return np.concatenate(parts)

    def features(
        self,
        images: Prepared,
        transform: Transform | None = None,
        on_progress: OnProgress | None = None,
    ) -> NDArray[np.float32]:
        """Features (N, D); arguments as in `outputs`."""
        return self.outputs(images, transform, on_progress).features

    @property
    def num_known(self) -> int:
        """Number of plain images of the data whose outputs are known."""
        return len(self._known)

    @property
    def _view(self) -> EvaluationView:
        return self.model.preprocessing.view

    @cached_property
    def _labeled(self) -> Prepared:
        return self.prepare(self.data, self.settings.most_images, classes=self.classes)

    @cached_property
    def _unlabeled(self) -> Prepared:
        return self.prepare(self.data, self.settings.most_images)

    @cached_property
    def _known(self) -> dict[int, Outputs]:
        """Outputs for plain images of the data, as far as they are known, by index in the data."""
        return {}

    def _batches(
        self, images: Prepared, transform: Transform | None, on_progress: OnProgress | None
    ) -> Iterator[Outputs]:
        """Outputs in parts; those for plain images of the data are taken from the known ones."""
        if transform or images.source is not self.data or images.view != self._view:
            yield from self._run(images, transform, on_progress)
            return
        indices = images.indices.tolist()
        new = [row for row, index in enumerate(indices) if index not in self._known]
        if new:
            found = join(list(self._run(images.take(new), None, on_progress)))
            for number, row in enumerate(new):
                self._known[indices[row]] = found.rows(np.array([number]))
        yield join([self._known[index] for index in indices])

    def _run(
        self, images: Prepared, transform: Transform | None, on_progress: OnProgress | None
    ) -> Iterator[Outputs]:
        """Outputs, one batch at a time; the next batches are prepared meanwhile."""

        def read(position: int) -> Pixels:
            pixels = images.pixels(position)
            return pixels if transform is None else transform(pixels, position)

        # All of them could be read before, so that none may be missing now.
        unreadable = Unreadable(len(images), max_share=0)
        for _, pixels in read_batches(
            read, images.identity, unreadable, workers=self.workers, on_progress=on_progress
        ):
            yield run(self.model, self.classifier, np.stack(pixels))
