"""What `unshortcut filter` and `unshortcut texturize` have in common."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from unshortcut.build.api import BuildResult

SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="SRC",
        help="A folder of images (all that is in it), a tar file of one, shards "
        "'x-{000..127}.tar', or a name such as shapes or cifar10; SRC@split takes one split.",
    ),
]
DestinationArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DST",
        help="A new folder; or that of a run which was interrupted, to go on with it.",
    ),
]
KeepOriginalsOption = Annotated[
    bool,
    typer.Option(
        "--keep-originals",
        help="Also write the originals; the copies are then named NAME-METHOD.jpg.",
    ),
]
FormatOption = Annotated[
    str,
    typer.Option("--format", help="jpeg, png, or keep: JPEG stays JPEG, and all else becomes PNG."),
]
QualityOption = Annotated[int, typer.Option("--quality", min=1, max=100, help="Of JPEG.")]
SeedOption = Annotated[
    int, typer.Option("--seed", help="Of whatever is random, together with the path of an image.")
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=1, help="Processes. [default: one a core]")
]
EngineOption = Annotated[
    str,
    typer.Option("--engine", help="local, or ray for a cluster (pip install unshortcut[cluster])."),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address", help="Of a Ray cluster that runs already, e.g. auto. [default: RAY_ADDRESS]"
    ),
]


def settings_of(sets: list[str]) -> dict[str, Any]:
    """The settings that `--set KEY=VALUE` gives."""
    from unshortcut.plain_yaml import parse_set

    settings: dict[str, Any] = {}
    for change in sets:
        settings |= parse_set(change)
    return settings


def report(made: "BuildResult", command: str, source: str, seed: int, json: Path | None) -> None:
    """Say in two lines what a run did, and write it as JSON where asked to."""
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
