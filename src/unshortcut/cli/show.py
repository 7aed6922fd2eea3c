"""`unshortcut show`."""

from pathlib import Path

import typer

from unshortcut.cli.options import DataOption, RecipeArgument, SetOption

GROUP = "Train"


def command(
    recipe: RecipeArgument,
    data: DataOption,
    out: Path = typer.Option("sheet.png", metavar="PNG", help="The image file to write."),
    sets: SetOption = [],
    num_images: int = typer.Option(6, min=1, help="Number of images."),
    samples: int = typer.Option(3, min=1, help="Number of times to sample each view."),
) -> None:
    """Draw a contact sheet of images and the views that a recipe's method sees of them."""
    typer.echo(f"Drawing views of {data} for {recipe}", err=True)
    from unshortcut.training.contact_sheet import show

    show(recipe, data, out, sets=sets, num_images=num_images, samples=samples)
    typer.echo(f"wrote {out}")
