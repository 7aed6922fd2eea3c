"""`unshortcut subset`."""

from pathlib import Path

import typer

from unshortcut.cli.options import JsonOption, write_json

GROUP = "Data"


def command(
    source: str = typer.Argument(
        metavar="SRC",
        help="Data with boxes or several labels per image, e.g. openimages:FOLDER, coco:FOLDER or "
        "a folder with boxes.csv; SRC@split selects one split.",
    ),
    out: Path = typer.Option(
        "subset", metavar="FOLDER", help="Folder for the lists, which is then a data set."
    ),
    min_classes: int = typer.Option(
        2, min=1, help="Smallest number of classes that an image shows."
    ),
    min_images: int = typer.Option(
        900, min=1, help="Smallest number of training images that show a class."
    ),
    json: JsonOption = None,
) -> None:
    """Select the images that show several classes, and the classes that many images show.

    With the defaults, FOLDER is the subset of Open Images that object-aware cropping trains on. It
    contains lists of images and classes, not the images, and takes the place of SRC in every
    command. Classes are chosen on the training images, for all splits.

    Example: `unshortcut subset openimages:/data/openimages --out openimages-multi`
    """
    typer.echo(f"Selecting images of {source}", err=True)
    from unshortcut.data.subsets import make_subset

    made = make_subset(source, out, min_classes=min_classes, min_images=min_images)
    counts = ", ".join(f"{count} images of {split}" for split, count in made.images.items())
    typer.echo(f"{counts}, {made.classes} classes; wrote {out}")
    metrics = {f"images_{split}": count for split, count in made.images.items()}
    write_json(json, "subset", {**metrics, "classes": made.classes}, data=source)
