"""`unshortcut carriers`."""

from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from unshortcut.cli.options import DataOption, ModelArgument, WorkersOption

GROUP = "Evaluate"


def command(
    model: ModelArgument,
    data: DataOption,
    out: Path = typer.Option(
        "carriers.csv", metavar="FILE", help="CSV file to write the list of images to."
    ),
    page: Path | None = typer.Option(
        None, metavar="FILE", help="HTML file with the cues and pictures of their carriers."
    ),
    train: str | None = typer.Option(
        None, metavar="DATA", help="Labeled images to fit a probe on, for a model without a head."
    ),
    profile: str = typer.Option(
        "standard", help="Profile of the audit whose patches are searched: quick or standard."
    ),
    lift: float = typer.Option(
        0.25,
        min=0.0,
        max=1.0,
        help="Search patches that take at least this share of decisions with them, beyond the "
        "effect of any paste.",
    ),
    seed: int = typer.Option(0, min=0, help="Random seed of the audit."),
    workers: WorkersOption = None,
) -> None:
    """List the images that carry the cues a model goes by, in all splits of the data.

    The patches are those that win in the transplant of `unshortcut audit`, whose cached result is
    used. Each is reduced to the part that is the same in its class, such as a tag without what is
    around it, and searched in every image. `unshortcut fix --groups` takes the list.

    - `unshortcut carriers runs/pets --data pets/ --out carriers.csv --page carriers.html`
    """
    typer.echo(f"Searching what {model} goes by in {data}", err=True)
    from unshortcut.fixing.carriers import find_carriers

    found = find_carriers(
        model,
        data,
        train=train,
        profile=profile,  # type: ignore[arg-type]
        lift=lift,
        seed=seed,
        workers=workers,
    )
    console = Console()
    found.write(out)
    if page is not None:
        from unshortcut.fixing.carriers_page import write_page

        write_page(found, page, model=model, data=data)
    written = f"wrote {out}" + (f" and {page}" if page else "")
    if not found.cues:
        console.print(
            f"None of {found.tried} patches takes decisions with it and occurs in other images: "
            f"there is nothing to list; {escape(written)}",
            highlight=False,
        )
        return
    table = Table("cue", "split", "class", "carriers", "images")
    for cue in found.cues:
        for (split, label), (carried, total) in cue.counts.items():
            if carried:
                table.add_row(escape(cue.name), split, escape(label), str(carried), str(total))
    console.print(table)
    for cue in found.cues:
        accuracies = (f"{100 * one.value:.1f} %" for one in (cue.carried, cue.filled, cue.without))
        with_it, filled, without = accuracies
        console.print(
            f"{escape(cue.name)}: accuracy {with_it} on test images of the class that carry it, "
            f"{filled} with the cue filled, {without} on those without it",
            highlight=False,
        )
    console.print(
        escape(f"{written}; next: unshortcut fix {model} --data {data} --groups {out}"),
        highlight=False,
    )
