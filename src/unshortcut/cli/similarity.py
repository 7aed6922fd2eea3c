"""`unshortcut similarity`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli.options import (
    DataOption,
    MeanOption,
    ModelsArgument,
    SizeOption,
    StdOption,
    preprocessing,
)

GROUP = "Evaluate"

_SPACES = {
    "embedding": "Space: embedding, encoder and head together, where the runs' loss works.",
    "features": "Space: features, the encoder's output. Those of an encoder that ends in a ReLU "
    "are never negative, so their cosines are high: compare them with the standard negatives', "
    "not with 0.",
}


def command(
    models: ModelsArgument,
    data: DataOption,
    space: Annotated[
        str | None,
        typer.Option(
            "--space",
            help="embedding: encoder and head together, for runs of unshortcut; features: the "
            "encoder's output, for any model. [default: embedding where all MODELs are runs]",
        ),
    ] = None,
    images: Annotated[int, typer.Option("--images", min=2, help="How many images.")] = 512,
    views: Annotated[
        str | None,
        typer.Option(
            "--views",
            metavar="RECIPE",
            help="Make views with the augmentations of this recipe. [default: those of the runs, "
            "where all MODELs are runs that share theirs, else MoCo-v2's]",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of images and views.")] = 0,
    size: SizeOption = None,
    mean: MeanOption = None,
    std: StdOption = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="For similarity.png and result.json.")
    ] = Path("similarity"),
) -> None:
    """Measure whether models tell an image from its mere texture.

    Cosine similarities of a view of an image (the query) to four others, for all MODELs on the
    same images and draws:

    - positive: another view of the same image; should be high.
    - negative: a view of another image; should be low.
    - texture: a texture image that was synthesized from the image; low, if the model reads shape.
    - patch: the query's own patches, tiled in random order; likewise.

    Prints the means, and draws the histograms of all MODELs over each other.
    """
    from unshortcut.errors import UsageError
    from unshortcut.measuring.similarities import KINDS, similarity
    from unshortcut.result import RESULT_FILE, write_result

    if out.is_file():
        raise UsageError(f"'{out}' is a file; --out wants a folder")
    asked: Any = space
    result = similarity(
        models,
        data,
        space=asked,
        images=images,
        seed=seed,
        views=views,
        **preprocessing(size, mean, std),
    )
    table = Table("model", *KINDS, title="Mean cosine similarity to the query, ± deviation")
    for name, kinds in result.models.items():
        cells = [f"{kinds[kind].mean:z.3f} ± {kinds[kind].std:.3f}" for kind in KINDS]
        table.add_row(name, *cells)
    console = Console()
    console.print(table)
    pairs = min(one.n for kinds in result.models.values() for one in kinds.values())
    said = f"{_SPACES[result.space]} Views: {result.views}. {pairs} pairs of each kind."
    console.print(said, highlight=False)
    out.mkdir(parents=True, exist_ok=True)
    result.plot(out / "similarity.png")
    write_result(
        out / RESULT_FILE,
        "similarity",
        metrics=result.to_dict(),
        seed=seed,
        data=data,
        model=models[0] if len(models) == 1 else None,
    )
    typer.echo(f"wrote {out / 'similarity.png'} and {out / RESULT_FILE}")
