"""`unshortcut show`."""

from pathlib import Path
from typing import Annotated

import typer

from unshortcut.cli.options import DATA_HELP, SetOption
from unshortcut.errors import UsageError

GROUP = "Train"

_RECIPE = (
    "The name of a recipe (see `unshortcut recipes`) or a YAML file, to draw the views of its "
    "method. Without it, images are drawn with their labels, boxes and masks."
)


def command(
    recipe: Annotated[str | None, typer.Argument(metavar="RECIPE", help=_RECIPE)] = None,
    data: str | None = typer.Option(
        None,
        metavar="DATA",
        help=f"{DATA_HELP} With --run, the default is the data that the run was trained on.",
    ),
    out: Path = typer.Option("sheet.png", metavar="PNG", help="The image file to write."),
    sets: SetOption = [],
    num_images: int | None = typer.Option(
        None, min=1, help="Number of images. [default: 8, or 6 with a recipe]"
    ),
    samples: int | None = typer.Option(
        None, min=1, help="Number of times to sample each view. [default: 3]"
    ),
    predictions: str | None = typer.Option(
        None,
        metavar="RUN",
        help="Draw what a detector or segmenter predicts: a run of `unshortcut finetune`.",
    ),
    run: str | None = typer.Option(
        None,
        metavar="RUN",
        help="Draw what a run of MAE, CAN or Pix2Pix predicts, while it trains or afterwards.",
    ),
) -> None:
    """Draw a contact sheet of images: as they are annotated, or the views of a recipe's method.

    - `unshortcut show --data shapes@scene`
    - `unshortcut show --data photos/ --predictions runs/detector`
    - `unshortcut show moco-v2-shapes --data shapes`
    - `unshortcut show --run runs/can`
    """
    if run is not None and (predictions is not None or samples):
        other = "--samples" if samples else "--predictions"
        raise UsageError(f"--run draws what a run predicts: leave out {other}")
    if predictions is not None and (recipe is not None or sets or samples):
        raise UsageError("--predictions draws a run on images as they are: leave out the recipe")
    if run is not None:
        typer.echo(f"Drawing what {run} predicts", err=True)
        from unshortcut.training.run_pictures import show_run

        show_run(run, data, out, recipe=recipe, sets=sets, num_images=num_images or 6)
        typer.echo(f"wrote {out}")
        return
    if data is None:
        raise UsageError("name the images to draw: --data DATA, or a run: --run RUN")
    from unshortcut.training.contact_sheet import show, show_data

    if predictions is not None:
        typer.echo(f"Drawing predictions of {predictions} for {data}", err=True)
        from unshortcut.transfer.predictions import show_predictions

        show_predictions(predictions, data, out, num_images=num_images or 8)
    elif recipe is not None:
        typer.echo(f"Drawing views of {data} for {recipe}", err=True)
        show(recipe, data, out, sets=sets, num_images=num_images or 6, samples=samples or 3)
    elif sets or samples:
        raise UsageError(f"{'--set' if sets else '--samples'} needs a recipe, which is not given")
    else:
        typer.echo(f"Drawing {data}", err=True)
        show_data(data, out, num_images=num_images or 8)
    typer.echo(f"wrote {out}")
