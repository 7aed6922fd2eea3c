"""`unshortcut texturize`."""

from typing import Any

import typer

from unshortcut.cli import _build_options as build
from unshortcut.cli.options import JsonOption

GROUP = "Data"


@build.with_build_options
def command(
    source: build.SourceArgument,
    destination: build.DestinationArgument,
    size: int = typer.Option(224, min=1, help="Side of the textures in pixels."),
    patch: int | None = typer.Option(
        None,
        min=1,
        help="Side of the patches in pixels. [default: 96, 48 or the whole image, the largest that "
        "fits]",
    ),
    json: JsonOption = None,
    **options: Any,
) -> None:
    """Copy a data set as textures, which keep the local structure of an image and lose its shapes.

    A texture is synthesized from two patches of an image: its center and a random position.

    Example: `unshortcut texturize photos/ photos-texture/ --workers 8`
    """
    typer.echo(f"Synthesizing textures of {source} into {destination}", err=True)
    from unshortcut.build.api import texturize

    made = texturize(source, destination, size=size, patch=patch, **options)
    build.report(made, "texturize", source, json, options)
