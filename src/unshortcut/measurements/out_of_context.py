"""Out of context: whether a model finds the object that does not belong to its scene."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import chain

import numpy as np

from unshortcut.measurements.measurement import Measurement, Metric, Metrics
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import UNKNOWN, Estimate
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
from unshortcut.measuring.odd_objects import (
    Detection,
    Distances,
    SceneObjects,
    cosine_distances,
    with_odd_objects,
)
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.scenes import CutoutFeatures, boxed_images, cutout_features, most_scenes
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress

SHOWN = 6
"""Number of scenes that are shown."""
SIDE = 96
SPACES = {"hyperbolic": "Hyperbolic distance", "cosine": "Cosine of the features"}


@dataclass(frozen=True)
class ShownScene:
    """A scene and its objects, from the farthest to the nearest."""

    identity: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class OutOfContextResult:
    """What one model finds."""

    num_scenes: int
    num_objects: int
    chance: float
    """Share of the scenes in which an object chosen at random is an odd one."""
    detections: dict[str, Detection]
    """By distance, from `SPACES`; only models of hyperbolic learning have both."""
    gain: Estimate | None
    """AUROC of the hyperbolic distance minus that of the cosine, on the same scenes."""
    shown: tuple[ShownScene, ...]


class OutOfContext(Measurement[OutOfContextResult]):
    """Distances of objects to their scenes."""

    name = "out_of_context"
    title = "Out of context"
    question = "Does the model notice an object that does not belong to its scene?"
    definition = (
        "The distance of each annotated object to its scene, the smallest rectangle around all "
        "objects of the image, without any training. AUROC: the probability that an object that is "
        "out of context is farther from its scene than one that is not (50 % is chance); its "
        "interval is a bootstrap over images. For a run of hyperbolic learning the distance is "
        "that in the Poincaré ball; beside it, and for all other models, it is 1 minus the cosine "
        "of the features of object and scene."
    )
    order = 140
    gives = (
        "out_of_context_auroc",
        "out_of_context_cosine_auroc",
        "out_of_context_gain",
        "out_of_context_found",
        "out_of_context_cosine_found",
    )
    result = OutOfContextResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> OutOfContextResult:
        seed, ball = subject.settings.seed, subject.model.ball
        images = with_odd_objects(boxed_images(subject.data, most_scenes(subject), seed))
        # Of each image first the scene, then its objects.
        boxes = [[image.scene, *image.objects] for image in images]
        places = [image.index for image, own in zip(images, boxes, strict=True) for _ in own]
        found = cutout_features(subject, places, list(chain(*boxes)), on_progress)
        objects = SceneObjects.of(images, found)
        if not len(objects.odd):
            raise NotApplicable("none of the images with an object out of context can be read")
        rows, scenes = found.values[objects.rows], found.values[objects.scenes]
        distances: dict[str, Distances] = {"cosine": cosine_distances(rows, scenes)}
        gain = None
        if ball is not None:
            distances = {"hyperbolic": ball.distances(rows, scenes), **distances}
            gain = objects.gain(distances["hyperbolic"], distances["cosine"], seed)
        return OutOfContextResult(
            num_scenes=len(objects.by_scene()),
            num_objects=len(objects.odd),
            chance=objects.chance,
            detections={name: objects.detection(one, seed) for name, one in distances.items()},
            gain=gain,
            shown=tuple(_shown(objects, next(iter(distances.values())), found)),
        )

    def passes(self, subject: Subject) -> Passes:
        images = boxed_images(subject.data, most_scenes(subject), subject.settings.seed)
        return Passes(changed=sum(1 + len(image.boxes) for image in with_odd_objects(images)))

    def metrics(self, result: OutOfContextResult, baseline: OutOfContextResult | None) -> Metrics:
        found: Metrics = {}
        for name, one in result.detections.items():
            prefix = "out_of_context" if name == "hyperbolic" else f"out_of_context_{name}"
            by = SPACES[name].lower()
            alone = len(result.detections) == 1
            found[f"{prefix}_auroc"] = Metric.of(
                f"Objects out of context by {by}",
                one.auroc,
                better="higher",
                headline=alone or name == "hyperbolic",
                note="AUROC, 50 % by chance",
            )
            found[f"{prefix}_found"] = Metric.of(
                f"Scenes whose farthest object by {by} is out of context",
                one.found,
                better="higher",
                headline=False,
                note=f"{100 * result.chance:.0f} % by chance",
            )
        if result.gain is not None:
            found["out_of_context_gain"] = Metric.of(
                "AUROC of the hyperbolic distance minus that of the cosine",
                result.gain,
                better="higher",
                headline=False,
            )
        return found

    def exhibits(
        self, results: Mapping[str, OutOfContextResult], baseline: OutOfContextResult | None
    ) -> Sequence[Exhibit]:
        first = next(iter(results.values()))
        note = (
            f"{first.num_objects} objects in {first.num_scenes} scenes with at least one object "
            "that is out of context and one that is not."
        )
        known = [name for name in SPACES if any(name in one.detections for one in results.values())]
        series = {
            model: Bars.of([_auroc(result, name) for name in known])
            for model, result in results.items()
        }
        titles = [SPACES[name] for name in known]
        figure = bars(titles, series, "AUROC", levels={"chance": 0.5})
        caption = "AUROC of the distance between object and scene, with 95 % intervals."
        exhibits: list[Exhibit] = [
            Note(note),
            Plot("Objects out of context", figure, caption),
            _table(results),
        ]
        shown = [
            (f"{one.identity} ({name})" if len(results) > 1 else one.identity, one.pictures)
            for scenes in zip(*(result.shown for result in results.values()), strict=False)
            for name, one in zip(results, scenes, strict=True)
        ]
        caption = (
            "Each scene, then its objects from the farthest to the nearest. The object out of "
            "context is framed: green if it is the farthest."
        )
        return [*exhibits, Pictures("Scenes and their objects", tuple(shown), (), caption)]


def _auroc(result: OutOfContextResult, distance: str) -> Estimate:
    known = result.detections.get(distance)
    return UNKNOWN if known is None else known.auroc


def _shown(
    objects: SceneObjects, distances: Distances, found: CutoutFeatures
) -> Iterator[ShownScene]:
    for members in objects.by_scene()[:SHOWN]:
        ordered = members[np.argsort(-distances[members], kind="stable")]
        scene = int(objects.scenes[members[0]])
        pictures = [picture(found.cutouts.pixels(scene), "scene", side=SIDE)]
        for place, one in enumerate(ordered.tolist()):
            mark = "" if not objects.odd[one] else "bad" if place else "good"
            pixels = found.cutouts.pixels(int(objects.rows[one]))
            pictures.append(picture(pixels, f"{distances[one]:.2f}", mark, side=SIDE))
        yield ShownScene(found.identity(scene), tuple(pictures))


def _table(results: Mapping[str, OutOfContextResult]) -> Table:
    columns = (
        Column("Distance"),
        MODEL,
        *Column.estimate("AUROC", percent=True, tip="50 % is chance", of="AUROC"),
        *Column.estimate(
            "Found",
            percent=True,
            tip="share of the scenes whose farthest object is out of context",
            of="share",
        ),
        Column("By chance", percent=True, tip="the same share for a random object"),
    )
    rows = [
        (title, name, *astuple(one.auroc), *astuple(one.found), result.chance)
        for key, title in SPACES.items()
        for name, result in results.items()
        if (one := result.detections.get(key)) is not None
    ]
    return Table("Distances of objects and scenes", columns, rows)
