"""`unshortcut neighbors`."""

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
        int, typer.Option("--queries", min=1, help="How many images to find neighbors of.")
    ] = 8,
    images: Annotated[
        str | None,
        typer.Option(
            "--images",
            metavar="NAMES",
            help="Find those of these images instead: paths inside DATA or the ends of such, "
            "e.g. cat/a.jpg,b.jpg.",
        ),
    ] = None,
    neighbors: Annotated[
        int, typer.Option("--neighbors", min=1, help="How many neighbors of each.")
    ] = 6,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="DATA",
            help="Where to look for neighbors. [default: the other images of --data]",
        ),
    ] = None,
    spaces: Annotated[
        str | None,
        typer.Option(
            "--spaces",
            metavar="NAMES",
            help="Look in these spaces alone, e.g. color or invariant,color, in those of the "
            "MODELs that have any.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the choice of images.")] = 0,
    size: SizeOption = None,
    mean: MeanOption = None,
    std: StdOption = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="PICTURE", help="A .png or .jpg file.")
    ] = Path("neighbors.png"),
    json: JsonOption = None,
) -> None:
    """Show the images that models find most alike, side by side.

    A row an image: the image, then its nearest neighbors (cosine of features) by each MODEL, with
    a green frame where they have its class and a red one where not.
    """
    from unshortcut.errors import UsageError
    from unshortcut.measuring.nearest import neighbors as find
    from unshortcut.result import write_result

    if out.suffix.lower() not in (".png", ".jpg", ".jpeg", ".webp"):
        raise UsageError(f"--out wants a picture such as sheet.png, got '{out}'")
    result = find(
        models,
        data,
        queries=queries if images is None else images.split(","),
        neighbors=neighbors,
        seed=seed,
        against=against,
        spaces=spaces.split(",") if spaces else None,
        **preprocessing(size, mean, std),
    )
    table = Table("model", "of the query's class", "mean similarity", title="Nearest neighbors")
    for name, found in result.models.items():
        alike = "no labels" if found.agreement is None else f"{100 * found.agreement:.1f} %"
        table.add_row(name, alike, f"{found.similarities.mean():z.3f}")
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
