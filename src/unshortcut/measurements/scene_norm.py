"""Norm: whether points of scenes lie farther out in the Poincaré ball than points of objects."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.source import ImageSource
from unshortcut.measurements.measurement import Measurement, Metric, Metrics
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import (
    MODEL,
    Column,
    Exhibit,
    Note,
    Picture,
    Pictures,
    Plot,
    Table,
    picture,
)
from unshortcut.measuring.norms import (
    ByObjects,
    Norms,
    SeveralLabels,
    by_objects,
    several_labels,
)
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.scenes import boxed_images, cutout_features, most_scenes
from unshortcut.measuring.subjects.images import Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.ball_head import BallHead
from unshortcut.progress import OnProgress
from unshortcut.randomness import generator

ENDS = 8
"""Number of images that are shown at each end of the norm."""


@dataclass(frozen=True)
class SceneNormResult:
    """What the norms of one model know."""

    objects: ByObjects | None
    """None if the data have no boxes."""
    labels: SeveralLabels | None
    """None if no images have one label, or none have several."""
    smallest: tuple[Picture, ...]
    """The images with the smallest norms, the smallest first."""
    largest: tuple[Picture, ...]


class SceneNorm(Measurement[SceneNormResult]):
    """Norms of objects, scenes and images with several labels."""

    name = "scene_norm"
    title = "Norm"
    question = "Does the norm tell scenes from objects?"
    definition = (
        "For a run of hyperbolic learning. The norm is the length of the vector that its head maps "
        "to the Poincaré ball; the point lies at twice that distance from the center. Norms of "
        "single objects (one annotated box of each image) and of scenes (the smallest rectangle "
        "around all boxes) are compared by Spearman's rank correlation with the number of objects. "
        "Label uncertainty: the AUROC of the norm of a whole image for whether it has several "
        "labels, without any training; 50 % is chance. The norm of the encoder's features stands "
        "beside both. Intervals are bootstraps over images."
    )
    order = 130
    gives = (
        "scene_norm_correlation",
        "scene_norm_features_correlation",
        "several_labels_auroc",
        "several_labels_features_auroc",
    )
    result = SceneNormResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> SceneNormResult:
        ball, data, seed = subject.model.ball, subject.data, subject.settings.seed
        if ball is None:
            raise NotApplicable(
                "the model has no head for the Poincaré ball: only runs of the method 'hcl' have "
                "one, in their checkpoint"
            )
        if data.box_classes is None and data.multilabels is None:
            raise NotApplicable("the data have neither boxes of objects nor several labels")
        objects = None
        if data.box_classes is not None:
            objects = _by_objects(subject, ball, on_progress)
        plain = replace(subject, classifier=None)
        images = plain.prepare(data, most_scenes(subject), whole=True)
        features = plain.features(images, on_progress=on_progress)
        norms = ball.norms(features)
        order = np.argsort(norms, kind="stable")
        return SceneNormResult(
            objects,
            several_labels(norms, _lengths(features), _shown_labels(data, images), seed),
            tuple(_pictures(images, norms, order[:ENDS])),
            tuple(_pictures(images, norms, order[::-1][:ENDS])),
        )

    def passes(self, subject: Subject) -> Passes:
        data, most = subject.data, most_scenes(subject)
        images = len(data) if most is None else min(len(data), most)
        if subject.model.ball is None or data.box_classes is None:
            return Passes(changed=0 if subject.model.ball is None else images)
        boxed = boxed_images(data, most, subject.settings.seed)
        return Passes(changed=images + sum(min(2, len(image.boxes)) for image in boxed))

    def metrics(self, result: SceneNormResult, baseline: SceneNormResult | None) -> Metrics:
        found: Metrics = {}
        if result.objects is not None:
            label = "Rank correlation of the norm and the number of objects"
            ranking = result.objects.correlation
            found["scene_norm_correlation"] = Metric.of(
                label, ranking.ball, percent=False, better="higher"
            )
            found["scene_norm_features_correlation"] = Metric.of(
                f"{label}, features", ranking.features, percent=False, headline=False
            )
        if result.labels is not None:
            label, note = "Several labels by the norm", "AUROC, 50 % by chance"
            ranking = result.labels.auroc
            found["several_labels_auroc"] = Metric.of(
                label, ranking.ball, better="higher", note=note
            )
            found["several_labels_features_auroc"] = Metric.of(
                f"{label} of the features", ranking.features, headline=False, note=note
            )
        return found

    def exhibits(
        self, results: Mapping[str, SceneNormResult], baseline: SceneNormResult | None
    ) -> Sequence[Exhibit]:
        shown: list[Exhibit] = []
        objects = {name: one.objects for name, one in results.items() if one.objects is not None}
        if objects:
            groups = [group.name for group in next(iter(objects.values())).groups]
            series = {
                name: Bars.of([group.mean for group in one.groups]) for name, one in objects.items()
            }
            figure = bars(groups, series, "mean norm", percent=False)
            caption = "Mean norm of single objects and of scenes, with 95 % intervals."
            shown += [Plot("Norm by number of objects", figure, caption), _group_table(objects)]
        else:
            shown.append(Note("The data have no boxes, so objects and scenes are not compared."))
        labels = {name: one.labels for name, one in results.items() if one.labels is not None}
        if labels:
            shown.append(_label_table(labels))
        else:
            why = "Label uncertainty needs images with one label and images with several."
            shown.append(Note(why))
        rows = [
            (f"{end} norms" + (f" ({name})" if len(results) > 1 else ""), pictures)
            for name, one in results.items()
            for end, pictures in (("Smallest", one.smallest), ("Largest", one.largest))
        ]
        caption = "Whole images and their norms."
        return [*shown, Pictures("Images at both ends of the norm", tuple(rows), (), caption)]


def _by_objects(subject: Subject, ball: BallHead, on_progress: OnProgress) -> ByObjects | None:
    """One object of each image, and its scene if there are several; None without any box."""
    seed = subject.settings.seed
    try:
        images = boxed_images(subject.data, most_scenes(subject), seed)
    except NotApplicable:
        return None
    chosen = []
    for image in images:
        number = int(generator(seed, "object", image.index).integers(len(image.boxes)))
        chosen.append((image.index, image.objects[number], 1))
        if len(image.boxes) > 1:
            chosen.append((image.index, image.scene, len(image.boxes)))
    places, boxes, numbers = zip(*chosen, strict=True)
    found = cutout_features(subject, places, boxes, on_progress)
    return by_objects(
        ball.norms(found.values),
        _lengths(found.values),
        np.array(numbers, dtype=np.int64)[found.rows],
        np.array(places, dtype=np.int64)[found.rows],
        seed,
    )


def _lengths(features: NDArray[np.float32]) -> Norms:
    return np.asarray(np.linalg.norm(features, axis=1))


def _shown_labels(data: ImageSource, images: Prepared) -> NDArray[np.int8] | None:
    return None if data.multilabels is None else data.multilabels.take(images.indices).values


def _pictures(images: Prepared, norms: Norms, rows: NDArray[np.int64]) -> list[Picture]:
    return [picture(images.pixels(row), f"{norms[row]:.2f}", side=96) for row in rows.tolist()]


def _group_table(objects: Mapping[str, ByObjects]) -> Table:
    columns = (
        Column("Objects"),
        MODEL,
        Column("Cutouts", tip="number of objects or scenes"),
        *Column.estimate("Mean norm", digits=2, of="mean"),
        Column("Lower quartile", digits=2),
        Column("Median", digits=2),
        Column("Upper quartile", digits=2),
    )
    rows = [
        (group.name, name, group.count, *astuple(group.mean), *group.quartiles)
        for name, one in objects.items()
        for group in one.groups
    ]
    rankings = [
        f"{name}: {ranking.ball.value:.2f} (features: {ranking.features.value:.2f})"
        for name, ranking in ((name, one.correlation) for name, one in objects.items())
    ]
    caption = f"Rank correlation of norm and number of objects: {'; '.join(rankings)}."
    return Table("Norms", columns, rows, caption)


def _label_table(labels: Mapping[str, SeveralLabels]) -> Table:
    columns = (
        Column("Norm"),
        MODEL,
        *Column.estimate("AUROC", percent=True, tip="50 % is chance", of="AUROC"),
        Column("One label", tip="number of images with one label"),
        Column("Several labels", tip="number of images with several labels"),
    )
    rows = [
        (title, name, *astuple(found), one.one, one.several)
        for name, one in labels.items()
        for title, found in (("in the ball", one.auroc.ball), ("features", one.auroc.features))
    ]
    return Table("Label uncertainty", columns, rows)
