"""`unshortcut texturize`."""

from typing import Annotated

import typer

from unshortcut.cli import _build_options as options
from unshortcut.cli.options import JsonOption

GROUP = "Data"


@options.with_shared_help
def command(
    source: options.SourceArgument,
    destination: options.DestinationArgument,
    size: Annotated[
        int, typer.Option("--size", min=1, help="Side of the textures in pixels.")
    ] = 224,
    patch: Annotated[
        int | None,
        typer.Option(
            "--patch",
            min=1,
            help="Side of the patches in pixels. [default: 96, 48 or the whole image, the largest "
            "that fits]",
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
    """Copy a data set as textures, which keep the local structure of an image and lose its shapes.

    A texture is synthesized from two patches of an image: its center and a random position.

    Example: `unshortcut texturize photos/ photos-texture/ --workers 8`
    """
    typer.echo(f"Synthesizing textures of {source} into {destination}", err=True)
    from unshortcut.build.api import texturize

    made = texturize(
        source,
        destination,
        size=size,
        patch=patch,
        keep_originals=keep_originals,
        format=format,  # type: ignore[arg-type]  # checked by the function
        quality=quality,
        seed=seed,
        workers=workers,
        engine=engine,  # type: ignore[arg-type]
        address=address,
    )
    options.report(made, "texturize", source, seed, json)
