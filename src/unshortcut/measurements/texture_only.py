"""Accuracy on images of which only the texture is left, and the classes that it identifies."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unshortcut.measurements.measurement import Finding, Measurement, Metric, Metrics
from unshortcut.measuring.estimates import Estimate
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
    rows_each,
)
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Bars, bars, chance_level
from unshortcut.measuring.settings import Limit
from unshortcut.measuring.subjects.images import ImageSample, Prepared, Transform
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.texture_images import solved_by_texture, texture_of, tiles_of
from unshortcut.measuring.wording import percent, some
from unshortcut.progress import OnProgress, part_of

MAX_IMAGES = Limit(quick=80, standard=300)
"""Each image is turned into a texture in two ways."""
NUM_EXAMPLES = 6
MAX_BARS = 24
"""Up to so many classes are shown as bars, more as a histogram."""
_TEXTURES = {"synthesized": texture_of, "tiled": tiles_of}
NOTABLE = 0.25
"""The verdict mentions textures that give this part of the accuracy above chance."""


@dataclass(frozen=True)
class ClassTextures:
    """Accuracies on the images of one class."""

    name: str
    num_images: int
    plain: Estimate
    synthesized: Estimate
    tiled: Estimate
    elsewhere: float
    """Share of the synthesized textures of other classes that are classified as this class."""
    solved: bool
    """Whether texture alone identifies the class: see `solved_by_texture`."""


@dataclass(frozen=True)
class TextureExample:
    """An image whose texture is classified correctly."""

    name: str
    pictures: tuple[Picture, ...]
    """The image, its texture and its tiled patches, each with the predicted class."""


@dataclass(frozen=True)
class TextureOnlyResult(ImageSample):
    """The accuracy of one model on textures."""

    chance: float
    plain: Estimate
    synthesized: Estimate
    tiled: Estimate
    classes: tuple[ClassTextures, ...]
    """The classes that have images, by decreasing accuracy on synthesized textures."""
    examples: tuple[TextureExample, ...]
    """Examples of the classes that do best on textures."""

    @property
    def solved(self) -> tuple[str, ...]:
        """Names of the classes that texture alone identifies."""
        return tuple(one.name for one in self.classes if one.solved)


Results = Mapping[str, TextureOnlyResult]


class TextureOnly(Measurement[TextureOnlyResult]):
    """Accuracy on synthesized textures and on tiled patches of the images."""

    name = "texture_only"
    title = "Texture only"
    question = "How accurate is the model on texture alone?"
    definition = (
        "Accuracy on images that keep their texture and lose their shape, in two ways. "
        "Synthesized: a new image that locally resembles two patches of the original, one from its "
        "center and one from a random position, each with 96/224 of its side. Tiled: patches from "
        "random positions, with 16/224 to 72/224 of its side, side by side. Both are made as in Ge "
        "et al. 2021 (figures 9 and 10). A class is solved by texture alone if more than half of "
        "its synthesized textures are classified correctly, and they are assigned to the class "
        "more often than textures of other classes are (Fisher's exact test, 5 % divided by the "
        "number of classes). Intervals are Wilson's, 95 %."
    )
    order = 20
    quick = True
    gives = ("texture_only_accuracy", "patch_tiling_accuracy", "texture_solved_classes")
    result = TextureOnlyResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> TextureOnlyResult:
        images = subject.labeled(MAX_IMAGES)
        labels, key = images.required_labels(), (subject.settings.seed, "texture only")
        transforms = {name: images.seeded(key, change) for name, change in _TEXTURES.items()}
        probabilities = {}
        for number, (name, transform) in enumerate(transforms.items()):
            progress = part_of(on_progress, number, len(transforms))
            probabilities[name] = subject.probabilities(images, transform, progress)
        probabilities["plain"] = subject.probabilities(images)
        decided = {name: one.argmax(axis=1) for name, one in probabilities.items()}
        right = {name: one == labels for name, one in decided.items()}
        solved = solved_by_texture(decided["synthesized"], labels, len(images.classes))
        classes = []
        for index in np.unique(labels).tolist():
            own = labels == index
            others = decided["synthesized"][~own] == index
            classes.append(
                ClassTextures(
                    images.classes[index],
                    int(own.sum()),
                    **{name: Estimate.share(one[own]) for name, one in right.items()},
                    elsewhere=float(others.mean()) if len(others) else float("nan"),
                    solved=bool(solved[index]),
                )
            )
        return TextureOnlyResult(
            num_images=len(images),
            total=images.total,
            size=images.pixels(0).shape[0],
            chance=1 / len(images.classes),
            **{name: Estimate.share(one) for name, one in right.items()},
            classes=tuple(sorted(classes, key=lambda one: -one.synthesized.value)),
            examples=_best_examples(images, transforms, probabilities),
        )

    def passes(self, subject: Subject) -> Passes:
        images = len(subject.labeled(MAX_IMAGES))
        return Passes(changed=len(_TEXTURES) * images, plain=images)

    def metrics(self, result: TextureOnlyResult, baseline: TextureOnlyResult | None) -> Metrics:
        title = "Accuracy on synthesized textures"
        return {
            "texture_only_accuracy": Metric.of(title, result.synthesized),
            "patch_tiling_accuracy": Metric.of("Accuracy on tiled patches", result.tiled),
            "texture_solved_classes": Metric(
                "Classes solved by texture alone",
                len(result.solved) / len(result.classes),
                headline=False,
                note=f"of the {len(result.classes)} classes that have images",
            ),
        }

    def exhibits(self, results: Results, baseline: TextureOnlyResult | None) -> list[Exhibit]:
        shown: list[Exhibit] = [*_plots(results)]
        if any(result.examples for result in results.values()):
            shown.append(_examples(results))
        one = next(iter(results.values()))
        note = f"{one.num_images} of {one.total} images, with {one.size} × {one.size} pixels."
        return [*shown, _table(results), Note(note)]

    def finding(self, result: TextureOnlyResult) -> Finding | None:
        textures, chance = result.synthesized, result.chance
        if not (result.plain.low > chance and textures.low > chance):
            return None
        kept = (textures.value - chance) / (result.plain.value - chance)
        if kept < NOTABLE:
            return None
        text = f"classifies {percent(textures.value)} of images correctly by their texture alone"
        brief = "recognizes many images by their texture alone"
        return Finding(f"{text} (chance {percent(chance)})", 0.9 * min(kept, 1.0), brief)


def _best_examples(
    images: Prepared,
    transforms: Mapping[str, Transform],
    probabilities: Mapping[str, NDArray[np.float64]],
) -> tuple[TextureExample, ...]:
    """The most confident correct decision on a texture of each class, best classes first."""
    labels = images.required_labels()
    textures = probabilities["synthesized"]
    sure = textures[np.arange(len(labels)), labels] * (textures.argmax(axis=1) == labels)
    best = [int(np.where(labels == index, sure, -1).argmax()) for index in np.unique(labels)]
    chosen = sorted((i for i in best if sure[i] > 0), key=lambda i: -sure[i])[:NUM_EXAMPLES]

    def shown(name: str, row: int) -> Picture:
        pixels, own = images.pixels(row), probabilities[name][row]
        if name in transforms:
            pixels = transforms[name](pixels, row)
        first = int(own.argmax())
        caption = f"{images.classes[first]} ({percent(own[first])})"
        return picture(pixels, caption, "good" if first == labels[row] else "bad")

    names = ("plain", *transforms)
    return tuple(
        TextureExample(images.classes[labels[i]], tuple(shown(name, i) for name in names))
        for i in chosen
    )


def _plots(results: Results) -> list[Plot]:
    """Accuracies over all images, and by class if the models have few classes in common."""
    levels = chance_level(result.chance for result in results.values())
    overall = {
        name: Bars.of([result.plain, result.synthesized, result.tiled])
        for name, result in results.items()
    }
    groups = ("plain images", "synthesized textures", "tiled patches")
    first = Plot("Accuracy without shape", bars(groups, overall, "accuracy", levels=levels))
    known = {name: {one.name: one for one in result.classes} for name, result in results.items()}
    common = [one for one in next(iter(known.values())) if all(one in k for k in known.values())]
    if not 0 < len(common) <= MAX_BARS:
        return [replace(first, caption=_solved(results)), _histogram(results)]
    series = {
        name: Bars.of([own[one].synthesized for one in common]) for name, own in known.items()
    }
    figure = bars(common, series, "accuracy on synthesized textures", levels=levels)
    return [first, Plot("Accuracy on textures, by class", figure, _solved(results))]


def _solved(results: Results) -> str:
    """The classes that texture alone identifies, as sentences."""
    sentences = []
    for name, one in results.items():
        names = f" ({some(one.solved, MAX_BARS)})" if one.solved else ""
        count = f"{len(one.solved)} of {len(one.classes)} classes"
        sentences.append(f"{name}: texture alone solves {count}{names}.")
    return " ".join(sentences)


def _histogram(results: Results) -> Plot:
    """The number of classes by accuracy (Ge et al. 2021, figure 9 b)."""
    edges = np.linspace(0, 1, 11)
    names = [f"{100 * low:.0f}–{100 * low + 10:.0f} %" for low in edges[:-1]]
    series = {}
    for name, result in results.items():
        counts, _ = np.histogram([one.synthesized.value for one in result.classes], edges)
        series[name] = Bars(counts.tolist())
    return Plot("Classes by accuracy on textures", bars(names, series, "classes", percent=False))


def _examples(results: Results) -> Pictures:
    rows = tuple(
        (one.name if len(results) == 1 else f"{name}: {one.name}", one.pictures)
        for name, result in results.items()
        for one in result.examples[: rows_each(NUM_EXAMPLES, len(results))]
    )
    return Pictures(
        "Textures that are classified correctly",
        rows,
        ("image", "synthesized", "tiled"),
        "The most confident image of each of the classes whose textures are recognized best, with "
        "the predicted class and its confidence.",
    )


def _table(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Class"),
        Column("Images"),
        Column("Plain", percent=True, tip="accuracy on plain images"),
        *Column.estimate("Textures", percent=True, tip="accuracy on synthesized textures"),
        Column("Tiled", percent=True, tip="accuracy on tiled patches"),
        Column("Elsewhere", percent=True, tip="textures of other classes assigned to this class"),
        Column("Solved", tip="whether texture alone identifies the class"),
    )
    rows = []
    for name, result in results.items():
        for one in result.classes:
            shares = (one.plain.value, *astuple(one.synthesized), one.tiled.value, one.elsewhere)
            solved = "yes" if one.solved else "no"
            rows.append((name, one.name, one.num_images, *shares, solved))
    return Table("All classes", columns, rows, folded=len(rows) > MAX_BARS)
