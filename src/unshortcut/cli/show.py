"""`unshortcut show`."""

from pathlib import Path
from typing import Annotated

import typer

from unshortcut.cli.options import DataOption, SetOption
from unshortcut.errors import UsageError

GROUP = "Train"

_RECIPE = (
    "The name of a recipe (see `unshortcut recipes`) or a YAML file, to draw the views of its "
    "method. Without it, images are drawn with their labels, boxes and masks."
)


def command(
    data: DataOption,
    recipe: Annotated[str | None, typer.Argument(metavar="RECIPE", help=_RECIPE)] = None,
    out: Path = typer.Option("sheet.png", metavar="PNG", help="The image file to write."),
    sets: SetOption = [],
    num_images: int | None = typer.Option(
        None, min=1, help="Number of images. [default: 8, or 6 with a recipe]"
    ),
    samples: int | None = typer.Option(
        None, min=1, help="Number of times to sample each view. [default: 3]"
    ),
) -> None:
    """Draw a contact sheet of images: as they are annotated, or the views of a recipe's method."""
    from unshortcut.training.contact_sheet import show, show_data

    if recipe is not None:
        typer.echo(f"Drawing views of {data} for {recipe}", err=True)
        show(recipe, data, out, sets=sets, num_images=num_images or 6, samples=samples or 3)
    elif sets or samples:
        raise UsageError(f"{'--set' if sets else '--samples'} needs a recipe, which is not given")
    else:
        typer.echo(f"Drawing {data}", err=True)
        show_data(data, out, num_images=num_images or 8)
    typer.echo(f"wrote {out}")
