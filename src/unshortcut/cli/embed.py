"""`unshortcut embed`."""

from pathlib import Path

import typer

from unshortcut.cli import options

GROUP = "Evaluate"


def command(
    model: options.ModelArgument,
    data: options.DataOption,
    out: Path = typer.Option(
        "features.npz",
        metavar="FILE",
        help="An .npz file, which numpy.load reads, or a .parquet file, which needs pyarrow.",
    ),
    map: Path | None = typer.Option(
        None,
        metavar="PAGE",
        help="Also write an interactive map of the images to this .html file: t-SNE of the "
        "features, with thumbnails, classes and nearest neighbors.",
    ),
    map_images: int = typer.Option(
        5000,
        min=1,
        max=20_000,
        help="Most images on the map; of more images a random subset is shown.",
    ),
    seed: int = typer.Option(0, min=0, help="Random seed for the map and the choice of images."),
    workers: options.WorkersOption = None,
    max_unreadable: float | None = typer.Option(
        None,
        min=0,
        max=1,
        metavar="SHARE",
        help="Stop as soon as more than this share of the images cannot be read, such as 0.1; by "
        "default they are left out and listed, however many they are.",
    ),
    size: options.SizeOption = None,
    mean: options.MeanOption = None,
    std: options.StdOption = None,
    json: options.JsonOption = None,
) -> None:
    """Write the features of all images to a file, with their labels and names.

    With --map, also draw them as an interactive page that needs no network.
    """
    typer.echo(f"Computing features of {data} with {model}", err=True)
    from unshortcut.embedder import embed
    from unshortcut.models.embedding import unreadable_path
    from unshortcut.models.load import load_model

    loaded = load_model(model, **options.preprocessing(size, mean, std))
    features = embed(
        loaded,
        data,
        out,
        map=map,
        map_images=map_images,
        seed=seed,
        workers=workers,
        max_unreadable=max_unreadable,
    )
    count, width = features.values.shape
    bad = len(features.unreadable)
    metrics = {"images": count, "features": width, "unreadable": bad}
    options.write_json(json, "embed", metrics, data=data, models=model)
    typer.echo(f"wrote {out}: {count} images, {width} features each")
    if map is not None:
        typer.echo(f"wrote {map}, a map to open in a browser")
    if bad:
        typer.echo(f"left out {bad} unreadable images, listed in {unreadable_path(out)}")
