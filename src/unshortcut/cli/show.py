"""`unshortcut show`."""

from pathlib import Path
from typing import Annotated

import typer

from unshortcut.cli.options import DataOption, RecipeArgument, SetOption

GROUP = "Train"


def command(
    recipe: RecipeArgument,
    data: DataOption,
    out: Annotated[
        Path, typer.Option("--out", metavar="PNG", help="The image file to write.")
    ] = Path("sheet.png"),
    sets: SetOption = [],
    images: Annotated[int, typer.Option("--images", min=1, help="Number of images.")] = 6,
    samples: Annotated[
        int, typer.Option("--samples", min=1, help="Number of times to sample each view.")
    ] = 3,
) -> None:
    """Draw a contact sheet of images and the views that a recipe's method sees of them."""
    from unshortcut.training.contact_sheet import show

    show(recipe, data, out, sets=sets, num_images=images, samples=samples)
    typer.echo(f"wrote {out}")
