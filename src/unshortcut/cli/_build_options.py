"""Options, help and output that `unshortcut filter` and `unshortcut texturize` share."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from unshortcut.build.api import BuildResult

C = TypeVar("C", bound=Callable[..., None])

SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="SRC",
        help="A folder of images (with all its subfolders), a tar file of one, shards "
        "'x-{000..127}.tar', or a name such as shapes or cifar10; SRC@split selects one split.",
    ),
]
DestinationArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DST", help="A new folder, or the folder of an interrupted run to continue."
    ),
]
KeepOriginalsOption = Annotated[
    bool,
    typer.Option(
        "--keep-originals",
        help="Keep each original too, with its copy next to it as NAME-METHOD.jpg.",
    ),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format", help="jpeg, png, or keep (JPEG stays JPEG, everything else becomes PNG)."
    ),
]
QualityOption = Annotated[int, typer.Option("--quality", min=1, max=100, help="JPEG quality.")]
SeedOption = Annotated[
    int, typer.Option("--seed", help="Random seed, combined with the path of each image.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Number of processes. [default: one per core]"),
]
EngineOption = Annotated[
    str,
    typer.Option("--engine", help="local, or ray for a cluster (pip install unshortcut[cluster])."),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address", help="Address of a running Ray cluster, e.g. auto. [default: RAY_ADDRESS]"
    ),
]

_HELP = """

    Shards become shards with everything that belongs to a sample; other sources become a folder
    with the same tree. SRC is never changed. After an interruption, the same command continues and
    writes the same files. DST/unshortcut.json records how the copy was made and which images could
    not be read.
"""


def with_shared_help(command: C) -> C:
    """Add the help that both commands share, before the example."""
    text, example, rest = (command.__doc__ or "").partition("    Example:")
    command.__doc__ = text.rstrip() + _HELP + "\n" + example + rest
    return command


def settings_of(sets: list[str]) -> dict[str, Any]:
    """The settings that `--set KEY=VALUE` gives."""
    from unshortcut.plain_yaml import parse_set

    settings: dict[str, Any] = {}
    for change in sets:
        settings |= parse_set(change)
    return settings


def report(made: "BuildResult", command: str, source: str, seed: int, json: Path | None) -> None:
    """Print a summary of the run, and write it as JSON if a file is given."""
    from unshortcut.data.copies import MANIFEST
    from unshortcut.result import write_result

    if json is not None:
        write_result(json, command, metrics=made.to_dict(), seed=seed, data=source)
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
