"""`unshortcut texturize`."""

from typing import Annotated

import typer

from unshortcut.cli import _build_options as options
from unshortcut.cli.options import JsonOption


def command(
    source: options.SourceArgument,
    destination: options.DestinationArgument,
    size: Annotated[int, typer.Option("--size", min=1, help="Side of the textures.")] = 224,
    patch: Annotated[
        int | None,
        typer.Option(
            "--patch",
            min=1,
            help="Side of the patches. [default: 96, 48 or the whole image, the largest that fits]",
        ),
    ] = None,
    keep_originals: options.KeepOriginalsOption = False,
    format: options.FormatOption = "keep",
    quality: options.QualityOption = 95,
    seed: options.SeedOption = 0,
    workers: options.WorkersOption = None,
    engine: options.EngineOption = "local",
    address: options.AddressOption = None,
    json: JsonOption = None,
) -> None:
    """Copy a data set as textures: each image's grain, and nothing of its shapes.

    Two patches of an image, its center and a random place, become a texture.

    Shards become shards with all that belongs to a sample; everything else becomes a folder with
    the same tree. Killed at any moment, the same command goes on, to the same files. Nothing of
    SRC is changed. DST/unshortcut.json says how the copy was made and which images were unreadable.

    Example: `unshortcut texturize photos/ photos-texture/ --workers 8`
    """
    from unshortcut.build.api import texturize

    made = texturize(
        source,
        destination,
        size=size,
        patch=patch,
        keep_originals=keep_originals,
        format=format,  # type: ignore[arg-type]  # checked by what it is given to
        quality=quality,
        seed=seed,
        workers=workers,
        engine=engine,  # type: ignore[arg-type]
        address=address,
    )
    options.report(made, "texturize", source, seed, json)
