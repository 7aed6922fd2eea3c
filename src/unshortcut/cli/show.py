"""`unshortcut show`."""

from pathlib import Path
from typing import Annotated

import typer

from unshortcut.cli.options import DataOption, RecipeArgument, SetOption

GROUP = "Train"


def command(
    recipe: RecipeArgument,
    data: DataOption,
    out: Annotated[Path, typer.Option("--out", metavar="PNG", help="The picture.")] = Path(
        "sheet.png"
    ),
    sets: SetOption = [],
    images: Annotated[int, typer.Option("--images", min=1, help="How many images.")] = 6,
    samples: Annotated[
        int, typer.Option("--samples", min=1, help="How often to sample views of an image.")
    ] = 3,
) -> None:
    """Draw a contact sheet: images, and every view that the recipe's method would see of them."""
    from unshortcut.training.contact_sheet import show

    show(recipe, data, out, sets=sets, images=images, samples=samples)
    typer.echo(f"wrote {out}")
