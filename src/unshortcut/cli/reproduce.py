"""`unshortcut reproduce`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli.options import JsonOption, SetOption
from unshortcut.errors import UsageError

GROUP = "Papers"


def command(
    claim: Annotated[
        str | None, typer.Argument(metavar="[CLAIM]", help="Without one, all are listed.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="DATA", help="Train on this. [default: the recipe's own]"),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option("--recipe", metavar="RECIPE", help="Vary this. [default: the claim's own]"),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Trainings of a variant.")] = 3,
    scale: Annotated[
        str, typer.Option("--scale", help="small, or paper for the paper's data and sizes.")
    ] = "small",
    sets: SetOption = [],
    values: Annotated[
        list[str],
        typer.Option(
            "--values",
            metavar="AXIS=V,V,...",
            help="Other values of what is varied, e.g. alpha=0,4. May be given several times.",
        ),
    ] = [],
    only: Annotated[
        list[str],
        typer.Option(
            "--only",
            metavar="VARIANT",
            help="Train these variants only, e.g. alpha=2. May be given several times.",
        ),
    ] = [],
    readout: Annotated[
        str | None,
        typer.Option(
            "--readout",
            metavar="DATA",
            help="Fit readouts on these labeled data. [default: what is trained on]",
        ),
    ] = None,
    tests: Annotated[
        list[str],
        typer.Option(
            "--test",
            metavar="NAME=DATA",
            help="Test the readout on this too, which has the same classes. Repeatable.",
        ),
    ] = [],
    transfers: Annotated[
        list[str],
        typer.Option(
            "--transfer",
            metavar="NAME=TRAIN:TEST",
            help="Fit a readout on TRAIN and test it on TEST, e.g. photos and sketches. "
            "Repeatable.",
        ),
    ] = [],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for result and plot. [default: reproduce/CLAIM]"),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache", help="Where trainings are kept. [default: trainings in the cache folder]"
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Run a claim of the papers as an experiment: train, measure, compare, plot.

    Every variant is trained with every seed. A training is kept, shared between claims, and never
    done twice; the same command goes on after an interruption.

    Example: `unshortcut reproduce negatives-alpha --seeds 3`
    """
    from unshortcut.reproduction import all_claims, reproduce
    from unshortcut.result import RESULT_FILE

    if claim is None:
        table = Table("claim", "what it says", "where")
        for name, known in all_claims().items():
            table.add_row(name, known.summary, known.where)
        Console().print(table)
        return
    done = reproduce(
        claim,
        data,
        recipe=recipe,
        seeds=seeds,
        scale=scale,  # type: ignore[arg-type]  # checked by what it is given to
        sets=sets,
        values={axis: text.split(",") for axis, text in _pairs(values, "--values AXIS=V,V")},
        only=only,
        readout=readout,
        tests=dict(_pairs(tests, "--test NAME=DATA")),
        transfers={name: _two(text) for name, text in _pairs(transfers, "--transfer NAME=A:B")},
        out=out,
        cache=cache,
    )
    if json is not None:
        from unshortcut.files import write_bytes

        write_bytes(json, (done.folder / RESULT_FILE).read_bytes())


def _pairs(given: list[str], form: str) -> list[tuple[str, str]]:
    pairs = []
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals or not value:
            raise UsageError(f"{form} is what is wanted, got '{text}'")
        pairs.append((name, value))
    return pairs


def _two(text: str) -> tuple[str, str]:
    fitted, colon, tested = text.partition(":")
    if not fitted or not colon or not tested:
        raise UsageError(f"--transfer wants NAME=TRAIN:TEST, got '{text}'")
    return fitted, tested
