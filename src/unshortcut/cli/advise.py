"""`unshortcut advise`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Column, Table

from unshortcut.cli.options import DataOption, JsonOption, WorkersOption, write_json

GROUP = "Evaluate"

if TYPE_CHECKING:
    from unshortcut.spaces.advice import Advice


def command(
    run: str = typer.Argument(
        metavar="RUN", help="The folder of a finished run of the method looc."
    ),
    *,
    data: DataOption,
    repeats: int = typer.Option(5, min=1, help="Number of repeats of the cross-validation."),
    seed: int = typer.Option(0, min=0, help="Random seed for the folds."),
    out: Path = typer.Option(
        "advice",
        metavar="FOLDER",
        help="Folder for encoder.safetensors with its card, advice.png and result.json.",
    ),
    workers: WorkersOption = None,
    json: JsonOption = None,
) -> None:
    """Find out which spaces of a run suit your task, from a few labeled images.

    DATA has one folder per class, typically with 5 to 50 images and at least two. A linear
    classifier is cross-validated on these images for the run's own representation (the backbone,
    or all spaces of LooC++) and for subsets of its spaces.

    The advice is to use the run's own representation unless a subset is significantly better. Among
    better subsets, it is the one with the fewest spaces within one standard error of the most
    accurate. If the labels are inconclusive, the command says so, and about how many images would
    be enough.

    The encoder with that representation is written, and can be used wherever a MODEL is expected:
    `unshortcut probe advice/encoder.safetensors --data DATA`.
    """
    typer.echo(f"Cross-validating the spaces of {run} on {data}", err=True)
    from unshortcut.models.card import WEIGHTS_FILE
    from unshortcut.spaces.advice import advise

    advice = advise(run, data, out=out, repeats=repeats, seed=seed, workers=workers)
    console = Console()
    console.print(advice.sentence(), style="bold", highlight=False)
    console.print(_table(advice))
    if not advice.complete:
        console.print(
            "With this many spaces, only each space alone, the first space with each other one, "
            "and all spaces were tried."
        )
    write_json(json, "advise", advice.to_dict(), data=data, models=run, seed=seed)
    typer.echo(f"wrote {out / WEIGHTS_FILE}, with the features of {advice.chosen.name}")


def _table(advice: "Advice") -> Table:
    own = advice.choice.own
    table = Table(
        "representation", "dims",
        *(Column(name, no_wrap=True) for name in ("accuracy, %", "difference", "outcome")),
        title=f"{advice.num_images} images, {len(advice.classes)} classes",
        caption="Accuracies in cross-validation, with 95 % confidence intervals. Differences from "
        f"{own.name} ± a margin that holds for all of them at once with 95 % confidence.",
    )  # fmt: skip
    for one in advice.choice.candidates:
        low, high = one.interval
        table.add_row(
            f"{'→' if one is advice.chosen else ' '} {one.name}",
            str(one.candidate.dim),
            f"{one.accuracy:.1f} ({low:.1f} to {high:.1f})",
            "" if one is own else f"{one.difference:+.1f} ± {one.margin:.1f}",
            "the run's own" if one is own else one.outcome,
            style="bold" if one is advice.chosen else None,
        )
    return table
