"""`unshortcut fix`."""

from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from unshortcut.cli.options import DataOption, ModelArgument, WorkersOption

GROUP = "Train"


def command(
    model: ModelArgument,
    data: DataOption,
    out: Path = typer.Option("fixed", metavar="RUN", help="The folder to write."),
    groups: Path | None = typer.Option(
        None,
        metavar="FILE",
        help="CSV file with the columns image and group: which images carry a cue. With x0, y0, x1 "
        "and y1 (pixels) it also says where, so that the cue can be removed and pasted.",
    ),
    components: list[str] = typer.Option(
        [],
        metavar="CLASS:NUMBER",
        help="Subtract this principal component from the logit of its class, e.g. dog:2. May be "
        "given several times.",
    ),
    method: str | None = typer.Option(
        None,
        help="balanced (every group counts the same), pasted (the cue in all classes alike), "
        "reweighted (images that the head gets wrong count more) or components. [default: "
        "components if some are given, pasted or balanced with --groups, else reweighted]",
    ),
    on: str | None = typer.Option(
        None, metavar="DATA", help="Images to test on. [default: the split test of --data]"
    ),
    only: list[str] = typer.Option(
        [], metavar="NAME", help="Measurements of the audit before and after."
    ),
    require: list[str] = typer.Option(
        [],
        metavar="'METRIC>=NUMBER'",
        help="Bound that the fixed model must meet in the audit, such as "
        "'transplant_follow<=0.3'; otherwise the exit status is 1.",
    ),
    seed: int = typer.Option(0, min=0, help="Random seed for halves and draws."),
    workers: WorkersOption = None,
) -> None:
    """Fix a model that goes by a shortcut: refit its head, and audit it before and after.

    The encoder stays as it is; only its linear head is fitted again, on images that the model was
    not fitted on, which takes seconds once the features are known. The folder then holds a
    classifier that every other command takes, and `unshortcut export` writes it for use elsewhere.

    - `unshortcut fix runs/pets --data pets/ --out fixed` reweights images by the head's own errors
    - `unshortcut fix runs/pets --data pets/ --groups carriers.csv` knows which images carry a cue
    - `unshortcut fix runs/pets --data pets/ --components dog:2` removes what a class goes by
    """
    typer.echo(f"Fixing {model} on {data}", err=True)
    from unshortcut.auditing.requirements import check_requirements, parse_requirements
    from unshortcut.fixing.changes_page import PAGE as CHANGES
    from unshortcut.fixing.cues import lists_nothing
    from unshortcut.fixing.run import AFTER, AUDITED, PAGE, fix
    from unshortcut.measurements.measurement import measurements

    measured = [name for entry in only for name in entry.split(",")] or list(AUDITED)
    measurements(measured)  # a name that is unknown is said before anything is computed
    requirements = parse_requirements(require, measured)
    if groups is not None and lists_nothing(groups):
        typer.echo(f"'{groups}' lists no image, so there is nothing to fix.")
        return
    run = fix(
        model,
        data,
        out,
        groups=groups,
        components=components,
        method=method,  # type: ignore[arg-type]
        test=on,
        only=measured,
        seed=seed,
        workers=workers,
    )
    console = Console()
    table = Table("test images", "before", "after", title=f"accuracy in %, {out}")
    rows = [("all", run.before.mean(), run.after.mean())]
    rows.append(("worst group", run.before.worst(), run.after.worst()))
    cells = zip(run.before.names, run.before.by_cell(), run.after.by_cell(), strict=True)
    for name, before, after in [*rows, *cells]:
        table.add_row(escape(name), f"{100 * before:.1f}", f"{100 * after:.1f}")
    console.print(table)
    console.print(run.outcome.sentence(), highlight=False, markup=False)
    if run.report is None:
        return
    console.print(
        escape(
            f"The fixed model is in {out}, with {CHANGES}, accuracy by group before and after, and "
            f"{PAGE}, the audit of both."
        ),
        highlight=False,
    )
    results = check_requirements(requirements, run.report.findings)
    for one in (result for result in results if result.model == AFTER):
        mark = "[green]met[/]" if one.met else "[bold red]not met[/]"
        console.print(f"{mark}: {escape(f'{one.requirement.text}: {one.explanation}')}")
    if not all(one.met for one in results if one.model == AFTER):
        raise typer.Exit(1)
