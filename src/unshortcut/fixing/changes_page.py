"""The page of what a fix changed: accuracy by class and group, before and after."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from unshortcut.files import write_text
from unshortcut.fixing.outcome import Outcome
from unshortcut.fixing.samples import CellAccuracies
from unshortcut.measuring.estimates import Estimate, difference
from unshortcut.measuring.exhibits import Cell, Column, Exhibit, Plot, Table
from unshortcut.measuring.plots import Bars, bars, model_colors
from unshortcut.measuring.wording import percent
from unshortcut.report.shell import ENVIRONMENT, render_page

PAGE = "changes.html"
_BEFORE, _AFTER = "Before", "After"
_PLOTTED = 24
"""Groups in the plot, at most, those that change most; the table has all of them."""
DEFINITION = (
    "Accuracy on test images, on which nothing was fitted or chosen, of the first head and of the "
    "one that was refitted on the same features. A group is a class, with or without the cue where "
    "a list of images says which carry it. Intervals are 95 %: Wilson's, and Newcombe's for "
    "changes, which takes the two heads as independent and so is wider than it need be."
)


def write_changes(
    path: str | Path,
    outcome: Outcome,
    before: CellAccuracies,
    after: CellAccuracies,
    *,
    command: Sequence[str],
) -> None:
    """Write the page.

    Args:
        before, after: accuracies of the two heads on the same test images.
        command: the words of the command that made the model.
    """
    exhibits = list(_exhibits(before, after))
    colors = model_colors((_BEFORE, _AFTER))
    template = ENVIRONMENT.get_template("exhibits.html.j2")
    page = render_page(
        "plain.html.j2",
        plots=True,
        title="What did the fix change?",
        brand="fix",
        lead=outcome.sentence(),
        sentences=[("On the test images,", _sentence(before, after))],
        exhibits=Markup(template.render(exhibits=exhibits, colors=colors)),  # escaped there
        definition=DEFINITION,
        command=shlex.join(command),
    )
    write_text(path, page)


def _sentence(before: CellAccuracies, after: CellAccuracies) -> str:
    worst = int(before.names.index(before.worst_name))
    return (
        f"'{before.worst_name}', the worst group of the first model, goes from "
        f"{_move(before.worst(), after.by_cell()[worst])}, the worst of all from "
        f"{_move(before.worst(), after.worst())}, the mean over groups from "
        f"{_move(before.mean_of_cells(), after.mean_of_cells())}, and all images together from "
        f"{_move(before.mean(), after.mean())}."
    )


def _exhibits(before: CellAccuracies, after: CellAccuracies) -> Sequence[Exhibit]:
    first, second = _estimates(before), _estimates(after)
    changes = [difference(new, old) for old, new in zip(first, second, strict=True)]
    order = sorted(range(len(changes)), key=lambda cell: -changes[cell].value)
    few = order
    if len(order) > _PLOTTED:
        most = sorted(order, key=lambda cell: -abs(changes[cell].value))[:_PLOTTED]
        few = [cell for cell in order if cell in most]
    heights = {
        _BEFORE: Bars.of([first[cell] for cell in few]),
        _AFTER: Bars.of([second[cell] for cell in few]),
    }
    names = [before.names[cell] for cell in few]
    columns = (
        Column("Group"),
        Column("Images"),
        *Column.estimate("Before", percent=True),
        *Column.estimate("After", percent=True),
        *Column.estimate("Change", percent=True),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            before.names[cell],
            int((before.cells == cell).sum()),
            *_ends(first[cell]),
            *_ends(second[cell]),
            *_ends(changes[cell]),
        )
        for cell in order
    ]
    caption = "The group that gains most comes first. Bars with 95 % intervals."
    return [
        Plot("Accuracy by group", bars(names, heights, "accuracy"), caption),
        Table("All groups", columns, rows),
    ]


def _estimates(found: CellAccuracies) -> list[Estimate]:
    return [Estimate.share(found.right[found.cells == cell]) for cell in range(len(found.names))]


def _ends(one: Estimate) -> tuple[float, float, float]:
    return one.value, one.low, one.high


def _move(before: float, after: float) -> str:
    return f"{percent(before, 1)} to {percent(after, 1)}"
