"""`unshortcut filter`."""

from typing import Any

import typer

from unshortcut.cli import _build_options as build
from unshortcut.cli.options import JsonOption, settings_of

GROUP = "Data"


@build.with_build_options
def command(
    source: build.SourceArgument,
    destination: build.DestinationArgument,
    method: str = typer.Option("anisotropic", help="One of the methods above."),
    sets: list[str] = typer.Option(
        [],
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the method, e.g. iterations=50. May be repeated.",
    ),
    weights: str | None = typer.Option(
        None,
        metavar="RUN",
        help="A Pix2Pix run, for --method pix2pix: short for --set weights=RUN.",
    ),
    json: JsonOption = None,
    **options: Any,
) -> None:
    """Copy a data set with its texture suppressed and its edges kept.

    Methods:

    - anisotropic: Perona–Malik diffusion; set iterations, kappa, gamma, joint, conductance
    - robust: diffusion with Tukey's conductance, which stops at edges; same settings
    - bilateral: averages neighboring pixels of similar color
    - cartoon: flat colors with dark outlines
    - gaussian: plain blur, which also blurs edges; set sigma=[3.16,4.47], a range
    - pix2pix: the filter that a Pix2Pix run has learned; give --weights RUN
    - stylized: other textures on the same shapes; set strength, styles, adain
    - texture: the texture alone, as `unshortcut texturize` writes it

    Example: `unshortcut filter photos/ photos-smooth/ --method anisotropic --set iterations=50`
    """
    typer.echo(f"Filtering {source} into {destination} ({method})", err=True)
    from unshortcut.build.api import filter_data
    from unshortcut.build.operation import make_operation

    operation = make_operation(method, settings_of(sets, weights=weights))
    made = filter_data(source, destination, operation, **options)
    build.report(made, "filter", source, json, options)
