"""One model under audit, with the images that it is asked about and what it said of them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.source import ImageSource
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.class_names import ClassOutputs
from unshortcut.measuring.subjects.classifier import Classifier, Outputs, join, run
from unshortcut.measuring.subjects.conflict import Conflict
from unshortcut.measuring.subjects.images import Prepared, Transform, prepare, stratified
from unshortcut.models.load import LoadedModel
from unshortcut.progress import OnProgress
from unshortcut.views.evaluation import EvaluationView, WholeView

BATCH = 64


@dataclass(frozen=True)
class Subject:
    """A model, its decisions and its images; what was computed once is kept."""

    name: str
    model: LoadedModel
    data: ImageSource
    """That it is measured on: no readout was fitted on them."""
    classifier: Classifier | None
    """None where there is neither a head nor a label."""
    settings: Settings = field(default_factory=Settings)
    conflict: Conflict | None = None
    shifts: Mapping[str, ImageSource] = field(default_factory=dict)
    hierarchy: Mapping[str, str] | None = None
    """Fine class to coarse class."""
    head: Classifier | None = None
    """The model's own head, where a readout decides on the data in its place."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The data's classes that the classifier can name."""
        return self.selection.names

    @cached_property
    def selection(self) -> ClassOutputs:
        """The classifier's say on the data's classes, or `NotApplicable`."""
        if self.data.labels is None or self.data.classes is None:
            raise NotApplicable("the data have no labels: class folders give them")
        return self.decisions.over(self.data.classes)

    @property
    def decisions(self) -> Classifier:
        """The classifier, or `NotApplicable`."""
        if self.classifier is None:
            raise NotApplicable(
                "the model has no classification head, and the data have no labels to fit a "
                "readout on"
            )
        return self.classifier

    def deciding(self, names: Sequence[str]) -> "Subject":
        """The same model with the decisions that can name these classes best.

        A readout of the data's own classes decides on those; on others its head may be able to.
        """
        if self.head is None or self.classifier is None:
            return self
        try:
            named = len(self.classifier.over(names).names)
        except NotApplicable:
            named = 0
        try:
            own = len(self.head.over(names).names)
        except NotApplicable:
            own = 0
        return replace(self, classifier=self.head, head=None) if own > named else self

    def labeled(self, most: int | None = None) -> Prepared:
        """Images of the data of `classes`, at most so many, the same for models that name the same.

        With `settings.full` all of them.
        """
        everything = self._labeled
        return everything if self.settings.full else everything.some(most, self.settings.seed)

    def unlabeled(self, most: int | None = None) -> Prepared:
        """Any images of the data, labeled or not; at most so many, or all with `settings.full`."""
        try:
            return self.labeled(most)
        except NotApplicable:
            everything = self._unlabeled
            return everything if self.settings.full else everything.some(most, self.settings.seed)

    def prepare(
        self,
        source: ImageSource,
        most: int | None = None,
        *,
        classes: Sequence[str] | None = None,
        whole: bool = False,
        on_progress: OnProgress | None = None,
    ) -> Prepared:
        """Images of another source as the model sees them.

        Args:
            classes: take only images of these, and count labels in them.
            whole: resize the whole image, without the crop at its center.
        """
        labels, rows = source.labels, np.arange(len(source), dtype=np.int64)
        if classes is not None:
            assert labels is not None and source.classes is not None
            place = {name: at for at, name in enumerate(classes)}
            counted = np.array([place.get(name, -1) for name in source.classes], dtype=np.int64)
            labels = np.where(labels < 0, -1, counted[labels])  # -1: the image shows none
            rows = np.flatnonzero(labels >= 0)
        names = tuple(classes if classes is not None else source.classes or ())
        chosen = None if labels is None else labels[rows]
        limit = None if self.settings.full else most
        total = len(rows)
        if limit is not None and total > limit:
            by = np.zeros(total, np.int64) if chosen is None else chosen
            kept = stratified(by, limit, self.settings.seed)
            rows, chosen = rows[kept], None if chosen is None else chosen[kept]
        view = WholeView(self._view.size) if whole else self._view
        return prepare(source, view, rows, chosen, names, total, self._pool, on_progress)

    def outputs(
        self,
        images: Prepared,
        transform: Transform | None = None,
        on_progress: OnProgress | None = None,
    ) -> Outputs:
        """What the model says of images, which threads transform first, in one pass.

        Plain images of the data are seen once, whoever asks.
        """
        if transform is None and self._is_plain(images):
            return self._known(images, on_progress)
        return join(list(self._passes(images, transform, on_progress)))

    def probabilities(
        self,
        images: Prepared,
        transform: Transform | None = None,
        on_progress: OnProgress | None = None,
    ) -> NDArray[np.float64]:
        """(N, K) over `classes`."""
        if transform is None and self._is_plain(images):
            native = self._known(images, on_progress).native
            assert native is not None
            return self.selection.probabilities(native)
        parts = []
        for said in self._passes(images, transform, on_progress):  # features may be large
            assert said.native is not None
            parts.append(self.selection.probabilities(said.native))
        return np.concatenate(parts)

    def features(
        self,
        images: Prepared,
        transform: Transform | None = None,
        on_progress: OnProgress | None = None,
    ) -> NDArray[np.float32]:
        """(N, D)."""
        return self.outputs(images, transform, on_progress).features

    @property
    def _view(self) -> EvaluationView:
        preprocessing = self.model.preprocessing
        return EvaluationView(preprocessing.size, preprocessing.crop_share)

    @cached_property
    def _labeled(self) -> Prepared:
        return self.prepare(self.data, self.settings.max_images, classes=self.classes)

    @cached_property
    def _unlabeled(self) -> Prepared:
        return self.prepare(self.data, self.settings.max_images)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(os.cpu_count())

    @cached_property
    def _said(self) -> "_Said":
        return _Said({}, [])

    def _is_plain(self, images: Prepared) -> bool:
        """Whether they are images of the data, as the model sees them."""
        return images.source is self.data and images.view == self._view

    def _known(self, images: Prepared, on_progress: OnProgress | None) -> Outputs:
        """What was said of plain images, which are asked about where nothing was said yet."""
        said, places = self._said, images.indices.tolist()
        new = [row for row, place in enumerate(places) if place not in said.rows]
        if new:
            found = join(list(self._passes(images.take(new), None, on_progress)))
            first = len(said.rows)
            said.rows.update({places[row]: first + at for at, row in enumerate(new)})
            said.outputs[:] = [join([*said.outputs, found])]
        return said.outputs[0].rows(np.array([said.rows[place] for place in places]))

    def _passes(
        self, images: Prepared, transform: Transform | None, on_progress: OnProgress | None
    ) -> Iterator[Outputs]:
        """What the model says, a batch at a time."""
        done = 0
        for batch in images.batches(BATCH, self._pool, transform):
            yield run(self.model, self.classifier, batch)
            done += len(batch)
            if on_progress:
                on_progress(done, len(images))


@dataclass(frozen=True)
class _Said:
    """What a model said of images of the data."""

    rows: dict[int, int]
    """Row in the outputs by position in the data."""
    outputs: list[Outputs]
    """One, once anything was said."""
