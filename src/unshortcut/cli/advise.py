"""`unshortcut advise`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from unshortcut.cli.options import DataOption, JsonOption

GROUP = "Evaluate"

if TYPE_CHECKING:
    from unshortcut.spaces.advice import Advice


def command(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The folder of a finished run of the method looc.")
    ],
    data: DataOption,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="How often the images are split into folds.")
    ] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the folds.")] = 0,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FOLDER",
            help="For encoder.safetensors with its card, advice.png and result.json.",
        ),
    ] = Path("advice"),
    json: JsonOption = None,
) -> None:
    """Say which spaces of a run suit your own task, by a handful of labeled images of it.

    DATA holds a folder for each class, with 5 to 50 images or so; two is the least. For the run's
    own representation (the backbone, or all spaces of LooC++) and for subsets of its spaces, a
    linear classifier is cross-validated on these images.

    The advice: the run's own representation, unless a subset is better beyond chance; of those that
    are, the one with the fewest spaces within one standard error of the most accurate. Where the
    labels cannot tell, that is what it says, and about how many would.

    The encoder that gives just that representation is written, and works wherever a MODEL does:
    `unshortcut probe advice/encoder.safetensors --data DATA`.
    """
    from unshortcut.models.card import WEIGHTS_FILE
    from unshortcut.result import write_result
    from unshortcut.spaces.advice import advise

    advice = advise(run, data, out=out, repeats=repeats, seed=seed)
    console = Console()
    console.print(advice.sentence(), style="bold", highlight=False)
    console.print(_table(advice))
    if not advice.complete:
        console.print(
            "Of these many spaces each alone, the first with each other, and all were tried."
        )
    if json is not None:
        write_result(json, "advise", metrics=advice.to_dict(), seed=seed, data=data, model=run)
    typer.echo(f"wrote {out / WEIGHTS_FILE}, which gives {advice.chosen.name}")


def _table(advice: "Advice") -> Table:
    own = advice.choice.own
    table = Table(
        "representation", "dims",
        *(Column(name, no_wrap=True) for name in ("accuracy, %", "difference", "verdict")),
        title=f"{advice.images} images, {len(advice.classes)} classes",
        caption=f"Accuracies by cross-validation, with 95 % intervals. Differences from {own.name} "
        "± a margin that holds for all of them at once with 95 %.",
    )  # fmt: skip
    for one in (own, *advice.choice.subsets):
        low, high = one.interval
        table.add_row(
            f"{'→' if one is advice.chosen else ' '} {one.name}",
            str(one.candidate.dim),
            f"{one.accuracy:.1f} ({low:.1f} to {high:.1f})",
            "" if one is own else f"{one.difference:+.1f} ± {one.margin:.1f}",
            "the run's own" if one is own else one.verdict,
            style="bold" if one is advice.chosen else None,
        )
    return table
