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
        str | None,
        typer.Argument(metavar="[CLAIM]", help="Name of a claim. [default: list all claims]"),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="DATA", help="Training data. [default: the recipe's own]"),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option("--recipe", metavar="RECIPE", help="Recipe to vary. [default: the claim's]"),
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="Number of trainings per variant.")
    ] = 3,
    scale: Annotated[
        str, typer.Option("--scale", help="small, or paper for the data and sizes of the paper.")
    ] = "small",
    sets: SetOption = [],
    values: Annotated[
        list[str],
        typer.Option(
            "--values",
            metavar="AXIS=V,V,...",
            help="Other values of an axis, e.g. alpha=0,4. May be repeated.",
        ),
    ] = [],
    only: Annotated[
        list[str],
        typer.Option(
            "--only",
            metavar="VARIANT",
            help="Limit the experiment to this variant, e.g. alpha=2. May be repeated.",
        ),
    ] = [],
    probe_data: Annotated[
        str | None,
        typer.Option(
            "--probe-data",
            metavar="DATA",
            help="Labeled data to fit probes on. [default: the training data]",
        ),
    ] = None,
    tests: Annotated[
        list[str],
        typer.Option(
            "--test",
            metavar="NAME=DATA",
            help="Another test set with the same classes. May be repeated.",
        ),
    ] = [],
    transfers: Annotated[
        list[str],
        typer.Option(
            "--transfer",
            metavar="NAME=TRAIN:TEST",
            help="Fit a probe on TRAIN and test it on TEST, e.g. photos and sketches. "
            "May be repeated.",
        ),
    ] = [],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the result and plot. [default: reproduce/CLAIM]"),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            help="Folder in which trainings are stored. [default: trainings in the cache folder]",
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Run a claim of the papers as an experiment: train, measure, compare, plot.

    Every variant is trained with every seed. Trainings are stored, shared between claims, and
    never repeated; after an interruption, the same command continues.

    Example: `unshortcut reproduce negatives-alpha --seeds 3`
    """
    if claim is not None:
        typer.echo(f"Reproducing {claim}: {seeds} seeds at the {scale} scale", err=True)
    from unshortcut.reproduction.claim import all_claims
    from unshortcut.reproduction.run import reproduce
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
        scale=scale,  # type: ignore[arg-type]  # checked by the function
        sets=sets,
        values={axis: text.split(",") for axis, text in _pairs(values, "--values AXIS=V,V")},
        only=only,
        probe_data=probe_data,
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
            raise UsageError(f"expected {form}, got '{text}'")
        pairs.append((name, value))
    return pairs


def _two(text: str) -> tuple[str, str]:
    train, colon, test = text.partition(":")
    if not train or not colon or not test:
        raise UsageError(f"expected --transfer NAME=TRAIN:TEST, got '{text}'")
    return train, test
