"""The command `unshortcut neighbors`."""

from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli import options

GROUP = "Evaluate"


def command(
    models: options.ModelsArgument,
    data: options.DataOption,
    queries: int = typer.Option(8, min=1, help="Number of query images, chosen at random."),
    query_names: str | None = typer.Option(
        None,
        metavar="NAMES",
        help="Use these images as queries instead: paths inside DATA or the last parts of such "
        "paths, e.g. cat/a.jpg,b.jpg.",
    ),
    neighbors: int = typer.Option(6, min=1, help="Number of neighbors of each query."),
    against: str | None = typer.Option(
        None,
        metavar="DATA",
        help="The data to search for neighbors. [default: the other images of --data]",
    ),
    spaces: str | None = typer.Option(
        None,
        metavar="NAMES",
        help="Use only these spaces, e.g. color or invariant,color, in those of the MODELs that "
        "have any.",
    ),
    seed: int = typer.Option(0, min=0, help="Random seed for the choice of queries."),
    size: options.SizeOption = None,
    mean: options.MeanOption = None,
    std: options.StdOption = None,
    out: Path = typer.Option(
        "neighbors.png", metavar="PICTURE", help="The image file to write, .png or .jpg."
    ),
    json: options.JsonOption = None,
) -> None:
    """Show the images that models find most similar, side by side.

    Each row shows a query image, then its nearest neighbors (by cosine similarity of features)
    according to each MODEL, with a green frame if they have its class and a red one if not.
    """
    from unshortcut.errors import UsageError
    from unshortcut.measuring.nearest import neighbors as find
    from unshortcut.measuring.wording import percent

    if out.suffix.lower() not in (".png", ".jpg", ".jpeg", ".webp"):
        raise UsageError(f"--out needs an image file such as sheet.png, got '{out}'")
    typer.echo(f"Searching {against or data} for nearest neighbors: {', '.join(models)}", err=True)
    result = find(
        models,
        data,
        queries=queries if query_names is None else query_names.split(","),
        neighbors=neighbors,
        seed=seed,
        against=against,
        spaces=spaces.split(",") if spaces else None,
        **options.preprocessing(size, mean, std),
    )
    table = Table("model", "of the query's class", "mean similarity", title="Nearest neighbors")
    for name, found in result.models.items():
        same = "no labels" if found.agreement is None else percent(found.agreement, 1)
        table.add_row(name, same, f"{found.similarities.mean():z.3f}")
    Console().print(table)
    out.parent.mkdir(parents=True, exist_ok=True)
    result.sheet().save(out)
    options.write_json(json, "neighbors", result.to_dict(), data=data, models=models, seed=seed)
    typer.echo(f"wrote {out}")
