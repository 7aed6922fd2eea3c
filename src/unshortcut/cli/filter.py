"""`unshortcut filter`."""

from typing import Annotated

import typer

from unshortcut.cli import _build_options as options
from unshortcut.cli.options import JsonOption


def command(
    source: options.SourceArgument,
    destination: options.DestinationArgument,
    method: Annotated[
        str, typer.Option("--method", help="One of the methods above.")
    ] = "anisotropic",
    sets: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the method, e.g. iterations=50. May be given several times.",
        ),
    ] = [],
    keep_originals: options.KeepOriginalsOption = False,
    format: options.FormatOption = "keep",
    quality: options.QualityOption = 95,
    seed: options.SeedOption = 0,
    workers: options.WorkersOption = None,
    engine: options.EngineOption = "local",
    address: options.AddressOption = None,
    json: JsonOption = None,
) -> None:
    """Copy a data set with its texture suppressed, and with its edges kept.

    Methods:

    - anisotropic: Perona–Malik diffusion; set iterations, kappa, gamma, joint, conductance
    - robust: diffusion that Tukey's conductance stops at edges; set iterations, kappa, gamma, joint
    - bilateral: means of neighbors that are alike in color
    - cartoon: flat colors with dark outlines
    - gaussian: plain blur, edges and all; set sigma=[3.16,4.47], a range
    - stylized: other textures on the same shapes; set strength, styles, adain
    - texture: the texture alone, as `unshortcut texturize` makes it

    Shards become shards with all that belongs to a sample; everything else becomes a folder with
    the same tree. Killed at any moment, the same command goes on, to the same files. Nothing of
    SRC is changed. DST/unshortcut.json says how the copy was made and which images were unreadable.

    Example: `unshortcut filter photos/ photos-smooth/ --method anisotropic --set iterations=50`
    """
    from unshortcut.build.api import filter_data
    from unshortcut.build.operation import make_operation

    made = filter_data(
        source,
        destination,
        make_operation(method, options.settings_of(sets)),
        keep_originals=keep_originals,
        format=format,  # type: ignore[arg-type]  # checked by what it is given to
        quality=quality,
        seed=seed,
        workers=workers,
        engine=engine,  # type: ignore[arg-type]
        address=address,
    )
    options.report(made, "filter", source, seed, json)
