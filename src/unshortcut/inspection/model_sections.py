"""What the page shows of a model: its use of properties, its leaks, and label errors."""

from collections.abc import Iterator

from unshortcut.inspection.findings import Inspection
from unshortcut.inspection.pictures import collection_picture
from unshortcut.inspection.with_model import AccuracyWithout
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Cell, Column, Exhibit, Note, Pictures, Plot, Table
from unshortcut.measuring.plots import Bars, bars

SUSPECTS_SHOWN = 24


def use_exhibits(found: Inspection) -> Iterator[Exhibit]:
    """How many decisions change when properties are made equal."""
    assert found.model is not None
    use = found.model.use
    if isinstance(use, str):
        yield Note(f"Not measured: {use}.")
        return
    if not use:
        yield Note("No property that shows in the pixels tells the class, so none can be used.")
        return
    labels = [one.about.label for one in use]
    series = {
        "Same value for all": Bars.of([one.changed for one in use]),
        "Value of its own class": Bars.of([one.control for one in use]),
    }
    yield Plot(
        "Decisions that change",
        bars(labels, series, "decisions that change"),
        "Bars with 95 % intervals. A model that uses a property changes more decisions when all "
        "images get the same value than when each gets that of another image of its class.",
        height=340,
    )
    columns = (
        Column("Property"),
        Column("Changed", percent=True, tip="decisions when all images have the same value"),
        Column("Control", percent=True, tip="decisions with values of the own class"),
        *Column.estimate("Difference", percent=True),
        Column("Used"),
        Column("Images were"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            one.about.label,
            one.changed.value,
            one.control.value,
            *_cells(one.difference),
            "yes" if one.used else "not shown",
            one.change,
        )
        for one in use
    ]
    caption = f"On {use[0].num_images:,} test images, classified by {found.model.classifier}."
    yield Table("Decisions of the model", columns, rows, caption)
    accuracies = (
        Column("Property"),
        *Column.estimate("As they are", percent=True),
        *Column.estimate("Same value", percent=True),
        *Column.estimate("Control", percent=True),
    )
    rows = [
        (
            one.about.label,
            *_cells(one.accuracy),
            *_cells(one.accuracy_equal),
            *_cells(one.accuracy_control),
        )
        for one in use
    ]
    yield Table("Accuracy of the model", accuracies, rows, folded=True)


def leak_exhibits(found: Inspection) -> Iterator[Exhibit]:
    """Accuracy with and without the leaked images."""
    if found.model is None:
        return
    if isinstance(found.model.leaks, str):
        yield Note(f"Accuracy without leaked images is not known: {found.model.leaks}.")
        return
    yield _accuracies("Accuracy and leaked images", "leaked images", found.model.leaks)


def error_exhibits(found: Inspection) -> Iterator[Exhibit]:
    """The suspects, and accuracy without them."""
    assert found.model is not None
    errors, collection = found.model.label_errors, found.collection
    if isinstance(errors, str):
        yield Note(f"Not listed: {errors}.")
        return
    yield Note(
        f"{len(errors.numbers):,} of {errors.num_images:,} labels are suspects; "
        f"{errors.estimated:,.0f} are estimated to be wrong. The probe agrees with "
        f"{100 * errors.accuracy:.1f} % of the labels of held-out images: the less it knows, the "
        "more of the suspects are its own errors."
    )
    if not len(errors.numbers):
        return
    rows: list[tuple[Cell, ...]] = [
        (
            collection.identity(int(number)),
            collection.split(int(number)),
            collection.classes[given],
            collection.classes[suggested],
            float(margin),
        )
        for number, given, suggested, margin in zip(
            errors.numbers, errors.given, errors.suggested, errors.margins, strict=True
        )
    ]
    cells = tuple(
        collection_picture(collection, int(number), f"{row[2]}, rather {row[3]}: {row[0]}", "bad")
        for number, row in zip(errors.numbers[:SUSPECTS_SHOWN], rows, strict=False)
    )
    yield Pictures("The most certain suspects", (("", cells),))
    columns = (
        Column("Image"),
        Column("Split"),
        Column("Label"),
        Column("Rather"),
        Column("Margin", digits=3, tip="probability of the other class minus that of the label"),
    )
    yield Table("All suspects", columns, rows, folded=True)
    without = found.model.without_errors
    if not isinstance(without, str) and without.num_left_out:
        yield _accuracies("Accuracy and suspects", "suspects", without)
        yield Note(
            "Suspects are images on which a probe of the same features and the label disagree, so "
            "accuracy without them is too favorable."
        )
    refitted = found.model.refitted
    if refitted is not None:
        fitted: list[tuple[Cell, ...]] = [
            ("all training images", *_cells(refitted.before)),
            (f"without {refitted.num_left_out:,} suspects", *_cells(refitted.after)),
        ]
        yield Table(
            "A probe fitted without suspects",
            (Column("Fitted on"), *Column.estimate("Accuracy", percent=True)),
            fitted,
            "Both on all test images, suspects included.",
        )


def _accuracies(title: str, which: str, found: AccuracyWithout) -> Table:
    columns = (Column("Test images"), *Column.estimate("Accuracy", percent=True))
    rows: list[tuple[Cell, ...]] = [
        ("all", *_cells(found.every)),
        (f"without {found.num_left_out:,} {which}", *_cells(found.without)),
        (f"only {which}", *_cells(found.only)),
    ]
    return Table(title, columns, rows[: 3 if found.num_left_out else 1])


def _cells(one: Estimate) -> tuple[Cell, Cell, Cell]:
    return one.value, one.low, one.high
