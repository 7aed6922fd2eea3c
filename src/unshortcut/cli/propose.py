"""`unshortcut propose`."""

from pathlib import Path
from typing import Any

import typer

from unshortcut.cli import _build_options as build
from unshortcut.cli.options import JsonOption, settings_of

GROUP = "Data"


def command(
    source: build.SourceArgument,
    out: Path = typer.Option(
        "proposals",
        metavar="FOLDER",
        help="A new folder, or the folder of an interrupted run to continue.",
    ),
    method: str = typer.Option("selective_search", help="One of the methods above."),
    model: str | None = typer.Option(
        None,
        metavar="MODEL",
        help="For --method features: a run, timm:NAME, or another model; short for --set model=…",
    ),
    most: int = typer.Option(10, min=1, help="Largest number of boxes of an image."),
    sets: list[str] = typer.Option(
        [],
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the method, e.g. side=224. May be repeated.",
    ),
    workers: int | None = typer.Option(
        None, min=1, help="Number of processes. [default: one per core]"
    ),
    engine: str = typer.Option(
        "local", help="local, or ray for a cluster (pip install unshortcut[cluster])."
    ),
    address: str | None = typer.Option(
        None, help="Address of a running Ray cluster, e.g. auto. [default: RAY_ADDRESS]"
    ),
    json: JsonOption = None,
) -> None:
    """Propose boxes of objects in every image, without labels, for views of objects.

    Methods:

    - selective_search: merges similar neighboring regions; set side, mode, overlap
    - features: regions of a model's feature map; give --model, set side, cells, components

    FOLDER/proposals.csv has the boxes with their scores, FOLDER/sheet.png a few images with theirs.
    After an interruption, the same command continues and writes the same files.

    Example: `unshortcut propose photos/ --out proposals`
    """
    typer.echo(f"Proposing boxes for {source} ({method})", err=True)
    from unshortcut.build.proposer import make_proposer
    from unshortcut.build.proposing import propose

    proposer = make_proposer(method, settings_of(sets, model=model))
    options: dict[str, Any] = {"workers": workers, "engine": engine, "address": address}
    made = propose(source, out, proposer, most=most, **options)
    build.report(made, "propose", source, json, {"seed": None})
