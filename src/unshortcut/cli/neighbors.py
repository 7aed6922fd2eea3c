"""The command `unshortcut neighbors`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli.options import (
    DataOption,
    JsonOption,
    MeanOption,
    ModelsArgument,
    SizeOption,
    StdOption,
    preprocessing,
)

GROUP = "Evaluate"


def command(
    models: ModelsArgument,
    data: DataOption,
    queries: Annotated[
        int, typer.Option("--queries", min=1, help="Number of query images, chosen at random.")
    ] = 8,
    query_names: Annotated[
        str | None,
        typer.Option(
            "--query-names",
            metavar="NAMES",
            help="Use these images as queries instead: paths inside DATA or the last parts of "
            "such paths, e.g. cat/a.jpg,b.jpg.",
        ),
    ] = None,
    neighbors: Annotated[
        int, typer.Option("--neighbors", min=1, help="Number of neighbors of each query.")
    ] = 6,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="DATA",
            help="The data to search for neighbors. [default: the other images of --data]",
        ),
    ] = None,
    spaces: Annotated[
        str | None,
        typer.Option(
            "--spaces",
            metavar="NAMES",
            help="Use only these spaces, e.g. color or invariant,color, in those of the MODELs "
            "that have any.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Random seed for the choice of queries.")
    ] = 0,
    size: SizeOption = None,
    mean: MeanOption = None,
    std: StdOption = None,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="PICTURE", help="The image file to write, .png or .jpg."),
    ] = Path("neighbors.png"),
    json: JsonOption = None,
) -> None:
    """Show the images that models find most similar, side by side.

    Each row shows a query image, then its nearest neighbors (by cosine similarity of features)
    according to each MODEL, with a green frame if they have its class and a red one if not.
    """
    from unshortcut.errors import UsageError
    from unshortcut.measuring.nearest import neighbors as find
    from unshortcut.measuring.wording import percent
    from unshortcut.result import write_result

    if out.suffix.lower() not in (".png", ".jpg", ".jpeg", ".webp"):
        raise UsageError(f"--out needs an image file such as sheet.png, got '{out}'")
    Console(stderr=True).print(
        f"searching {against or data} for nearest neighbors: {', '.join(models)}",
        highlight=False,
        markup=False,
    )
    result = find(
        models,
        data,
        queries=queries if query_names is None else query_names.split(","),
        neighbors=neighbors,
        seed=seed,
        against=against,
        spaces=spaces.split(",") if spaces else None,
        **preprocessing(size, mean, std),
    )
    table = Table("model", "of the query's class", "mean similarity", title="Nearest neighbors")
    for name, found in result.models.items():
        same = "no labels" if found.agreement is None else percent(found.agreement, 1)
        table.add_row(name, same, f"{found.similarities.mean():z.3f}")
    Console().print(table)
    out.parent.mkdir(parents=True, exist_ok=True)
    result.sheet().save(out)
    if json is not None:
        write_result(
            json,
            "neighbors",
            metrics=result.to_dict(),
            seed=seed,
            data=data,
            model=models[0] if len(models) == 1 else None,
        )
    typer.echo(f"wrote {out}")
