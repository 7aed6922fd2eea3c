"""The sections of the page: tables, plots and pictures of what was found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unshortcut.inspection.association import PERMUTATIONS, Association, Associations
from unshortcut.inspection.copy_calibration import FALSE_SHARE
from unshortcut.inspection.definitions import DEFINITIONS
from unshortcut.inspection.findings import Inspection
from unshortcut.inspection.model_sections import error_exhibits, leak_exhibits, use_exhibits
from unshortcut.inspection.pictures import collection_picture
from unshortcut.measuring.exhibits import Cell, Column, Exhibit, Note, Pictures, Plot, Table
from unshortcut.measuring.plots import Bars, bars
from unshortcut.properties.columns import Kind
from unshortcut.randomness import generator

_ENDS, _SHOWN = 5, 6
"""Images at each end of a property, and properties and pairs of copies that are shown."""
_SERIES = "Strength"


@dataclass(frozen=True)
class Section:
    """A part of the page that answers one question."""

    name: str
    title: str
    question: str
    exhibits: tuple[Exhibit, ...]

    @property
    def definition(self) -> str:
        """How it is measured."""
        return DEFINITIONS[self.name]


def sections(found: Inspection) -> list[Section]:
    """All sections that apply."""
    made = [
        Section(
            "files",
            "What a file tells of its class",
            "Can the class be told from how the files were made, without a look at the images?",
            tuple(_property_exhibits(found, "file")),
        ),
        Section(
            "content",
            "What pixels tell of the class",
            "Do simple numbers such as brightness tell the class? Content may be the reason.",
            tuple(_property_exhibits(found, "content")),
        ),
        Section(
            "copies",
            "Copies and leaks",
            "Which images are in the data more than once, and are some of them test images?",
            (*_copy_exhibits(found), *leak_exhibits(found)),
        ),
    ]
    if found.model is not None:
        used = Section(
            "use",
            "Does the model use it?",
            "Do decisions change when all images have the same value of a telling property?",
            tuple(use_exhibits(found)),
        )
        errors = Section(
            "labels",
            "Label errors",
            "Which labels are probably wrong, judged by the features of the model?",
            tuple(error_exhibits(found)),
        )
        made = [*made[:2], used, made[2], errors]
    return made


def _property_exhibits(found: Inspection, kind: Kind) -> Iterator[Exhibit]:
    properties = found.properties
    inspected = found.collection.splits[found.training]
    if kind == "file" and not inspected.has_files:
        yield Note("These images are not files, so there is nothing to read but their sizes.")
    if isinstance(properties, str):
        yield Note(f"Not tested: {properties}.")
        return
    tested = properties.of(kind)
    same = [one for one in properties.constant if one.about.kind == kind]
    if same:
        each = [f"{one.about.label.lower()} ({one.text(float(one.values[0]))})" for one in same]
        yield Note(f"The same in all images: {', '.join(each)}.")
    if not tested:
        return
    if kind == "content":
        yield Note("Content may explain all of these: cats may be darker than dogs.")
    if len(tested) > 2:
        yield _strength_plot(properties, tested)
    yield _property_table(properties, tested)
    telling = [one for one in tested if one.significant][:_SHOWN]
    if telling:
        yield _end_pictures(found, telling)
        yield _class_table(properties, telling)


def _strength_plot(properties: Associations, tested: Sequence[Association]) -> Plot:
    labels = [one.about.label for one in tested]
    heights = Bars([one.strength for one in tested])
    levels = {"significant": _level(properties)}
    return Plot(
        "Strength of each property",
        bars(labels, {_SERIES: heights}, "strength", percent=False, levels=levels),
        "0: no better than chance; 1: tells every class. Properties above the dotted line are "
        "significant.",
        height=340,
    )


def _level(properties: Associations) -> float:
    chance = 1 / properties.num_classes
    return max(0.0, (properties.null - chance) / (1 - chance))


def _property_table(properties: Associations, tested: Sequence[Association]) -> Table:
    columns = (
        Column("Property"),
        Column("Accuracy", percent=True, tip="balanced over classes, on held-out images"),
        Column("Chance", percent=True),
        Column("Strength", digits=2, tip="0 at chance, 1 if every class is told"),
        Column("p", digits=3, tip=f"from {PERMUTATIONS} permutations, over all properties"),
        Column("Significant"),
        Column("Most telling for"),
        Column("AUC", digits=3, tip="of this class against all others"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            one.about.label,
            one.accuracy,
            one.chance,
            one.strength,
            one.p_value,
            "yes" if one.significant else "no",
            properties.classes[one.strongest],
            float(one.aucs[one.strongest]),
        )
        for one in tested
    ]
    caption = f"Measured on {properties.num_images:,} images of {properties.num_classes} classes."
    return Table("How well each property alone tells the class", columns, rows, caption)


def _class_table(properties: Associations, telling: Sequence[Association]) -> Table:
    columns = [Column("Class")]
    for one in telling:
        columns += [Column(one.about.label), Column("AUC", digits=3)]
    rows: list[list[Cell]] = []
    for number, name in enumerate(properties.classes):
        row: list[Cell] = [name]
        for one in telling:
            auc = float(one.aucs[number])
            row += [one.typical[number], None if np.isnan(auc) else auc]
        rows.append(row)
    caption = "Median, or most frequent value, and AUC of the class against all others."
    return Table("By class", columns, rows, caption, folded=len(rows) > 12)


def _end_pictures(found: Inspection, telling: Sequence[Association]) -> Pictures:
    """Images with the lowest and the highest values of each property."""
    collection, rows = found.collection, []
    numbers = collection.numbers(found.training)
    inspected = collection.splits[found.training]
    for one in telling:
        column = inspected.columns[one.about.name]
        tie = generator("inspection", "ends", found.seed).permutation(len(numbers))
        order = np.lexsort((tie, column.values))
        for title, chosen in (("lowest", order[:_ENDS]), ("highest", order[::-1][:_ENDS])):
            shown = [
                collection_picture(
                    collection,
                    int(numbers[row]),
                    f"{column.text(float(column.values[row]))}: "
                    f"{collection.class_name(int(numbers[row]))}",
                )
                for row in chosen.tolist()
            ]
            rows.append((f"{one.about.label}, {title}", tuple(shown)))
    return Pictures("Images at both ends", tuple(rows))


def _copy_exhibits(found: Inspection) -> Iterator[Exhibit]:
    copies, collection = found.copies, found.collection
    names = collection.names
    rows: list[tuple[Cell, ...]] = []
    for first, one in enumerate(names):
        for other in names[first:]:
            pairs = copies.in_split(collection, one, other)
            rows.append((one, other, len(pairs), len(np.unique(pairs))))
    columns = (Column("Split"), Column("And"), Column("Pairs"), Column("Images in them"))
    settings = copies.calibration
    yield Table(
        "Pairs of copies",
        columns,
        rows,
        f"Found in {len(collection):,} images. Copies correlate by at least "
        f"{settings.correlation:.3f} after alignment. Of resized, lighter and cropped copies that "
        f"were made of these images, {100 * settings.recall:.0f} % would be found by their hashes. "
        f"With one image of each pair mirrored, {settings.mirrored} pairs pass, which is about how "
        "many are false.",
    )
    if not len(copies.pairs):
        return
    if settings.mirrored > FALSE_SHARE * len(copies.pairs):
        yield Note(
            f"{settings.mirrored:,} pairs pass with one image mirrored, compared with "
            f"{len(copies.pairs):,} as they are. Either the data contain mirrored copies, or the "
            "images are so much alike that some of the pairs are no copies: look at them.",
            warning=True,
        )
    between = collection.split_numbers[copies.pairs]
    # Leaks between splits come first, then pairs with different labels.
    differs = collection.labels[copies.pairs]
    order = np.lexsort((differs[:, 0] == differs[:, 1], between[:, 0] == between[:, 1]))
    shown = []
    for row in order[: 2 * _SHOWN].tolist():
        one, other = copies.pairs[row].tolist()
        same = collection.labels[one] == collection.labels[other]
        cells = tuple(
            collection_picture(
                collection, number,
                f"{collection.split(number)}: {collection.class_name(number)} "
                f"{collection.identity(number)}",
                "" if same else "bad",
            )
            for number in (one, other)
        )  # fmt: skip
        shown.append((f"correlation {copies.correlations[row]:.3f}", cells))
    yield Pictures("Pairs", tuple(shown), ("Image", "Copy"))
