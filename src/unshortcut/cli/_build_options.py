"""Options, help and output that `unshortcut filter` and `unshortcut texturize` share."""

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unshortcut.cli.options import C, with_options, write_json

if TYPE_CHECKING:
    from unshortcut.build.api import BuildResult

_SOURCE = (
    "A folder of images (with all its subfolders), a tar file of one, shards 'x-{000..127}.tar', "
    "or a name such as shapes or cifar10; SRC@split selects one split."
)
_DESTINATION = "A new folder, or the folder of an interrupted run to continue."
SourceArgument = Annotated[str, typer.Argument(metavar="SRC", help=_SOURCE)]
DestinationArgument = Annotated[Path, typer.Argument(metavar="DST", help=_DESTINATION)]

_HELP = """

    Shards become shards with everything that belongs to a sample; other sources become a folder
    with the same tree. SRC is never changed. After an interruption, the same command continues and
    writes the same files. DST/unshortcut.json records how the copy was made and which images could
    not be read.
"""


def _options(
    *,
    keep_originals: bool = typer.Option(
        False,
        "--keep-originals",
        help="Keep each original too, with its copy next to it as NAME-METHOD.jpg.",
    ),
    format: str = typer.Option(
        "keep", help="jpeg, png, or keep (JPEG stays JPEG, everything else becomes PNG)."
    ),
    quality: int = typer.Option(95, min=1, max=100, help="JPEG quality."),
    seed: int = typer.Option(0, help="Random seed, combined with the path of each image."),
    workers: int | None = typer.Option(
        None, min=1, help="Number of processes. [default: one per core]"
    ),
    engine: str = typer.Option(
        "local", help="local, or ray for a cluster (pip install unshortcut[cluster])."
    ),
    address: str | None = typer.Option(
        None, help="Address of a running Ray cluster, e.g. auto. [default: RAY_ADDRESS]"
    ),
) -> None:
    """The options that both commands have."""


def with_build_options(command: C) -> C:
    """Add the options that both commands share, and their help before the example."""
    text, example, rest = (command.__doc__ or "").partition("    Example:")
    command.__doc__ = text.rstrip() + _HELP + "\n" + example + rest
    return with_options(command, inspect.signature(_options).parameters.values())


def report(
    made: "BuildResult", command: str, source: str, json: Path | None, options: dict[str, Any]
) -> None:
    """Print a summary of the run, and write it as JSON if a file is given."""
    from unshortcut.data.copies import MANIFEST

    write_json(json, command, made.to_dict(), data=source, seed=options["seed"])
    if made.made:
        there = f", {made.kept} were there already" if made.kept else ""
        rate = f"{made.images_per_second:.1f} images a second"
        typer.echo(f"made {made.made} images in {made.destination} ({rate}){there}")
    else:
        typer.echo(f"nothing to do: all {made.kept} images are in {made.destination} already")
    if made.failures:
        total = made.made + made.kept + len(made.failures)
        listed = made.destination / MANIFEST
        typer.echo(f"{len(made.failures)} of {total} could not be read, listed in {listed}")
