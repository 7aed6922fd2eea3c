"""The command `unshortcut similarity`."""

from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli import options

GROUP = "Evaluate"

_SPACES = {
    "embedding": "Space: embedding, the output of encoder and projection head, on which the loss "
    "is computed.",
    "features": "Space: features, the output of the encoder. If it ends in a ReLU, features are "
    "never negative and all cosines are high: compare them with those of the negatives, not with "
    "0.",
}


def command(
    models: options.ModelsArgument,
    data: options.DataOption,
    space: str | None = typer.Option(
        None,
        help="embedding: the output of encoder and projection head, for runs of unshortcut and for "
        "published weights that include a head; features: the output of the encoder, for any "
        "model. [default: embedding if all MODELs are runs]",
    ),
    num_images: int = typer.Option(512, min=2, help="Number of images, chosen at random."),
    views: str | None = typer.Option(
        None,
        metavar="RECIPE",
        help="Make views with the augmentations of this recipe. [default: those of the runs if all "
        "MODELs are runs with the same augmentations, otherwise MoCo-v2's]",
    ),
    seed: int = typer.Option(0, min=0, help="Random seed for the choice of images and views."),
    size: options.SizeOption = None,
    mean: options.MeanOption = None,
    std: options.StdOption = None,
    out: Path = typer.Option(
        "similarity", metavar="FOLDER", help="Folder for similarity.html and result.json."
    ),
) -> None:
    """Measure whether models distinguish an image from its texture.

    Computes the cosine similarity between a view of an image (the query) and four others, for all
    MODELs on the same images and views:

    - positive: another view of the same image; should be high.
    - negative: a view of another image; should be low.
    - texture: a texture synthesized from the image; low if the model recognizes shape.
    - patch: the query's own patches, tiled in random order; low if the model recognizes shape.

    Prints the means, and plots the histograms of all MODELs.
    """
    from unshortcut.errors import UsageError
    from unshortcut.measuring.pairs import KINDS
    from unshortcut.measuring.similarities import similarity
    from unshortcut.result import RESULT_FILE

    if out.is_file():
        raise UsageError(f"'{out}' is a file; --out needs a folder")
    pairs = f"pairs of views of {num_images} images from {data}"
    typer.echo(f"Comparing {pairs}: {', '.join(models)}", err=True)
    chosen: Any = space
    inputs = options.preprocessing(size, mean, std)
    result = similarity(
        models, data, space=chosen, num_images=num_images, seed=seed, views=views, **inputs
    )
    table = Table("model", *KINDS, title="Mean cosine similarity to the query ± standard deviation")
    for name, kinds in result.models.items():
        cells = [f"{kinds[kind].mean:z.3f} ± {kinds[kind].std:.3f}" for kind in KINDS]
        table.add_row(name, *cells)
    console = Console()
    console.print(table)
    count = min(one.n for kinds in result.models.values() for one in kinds.values())
    summary = f"{_SPACES[result.space]} Views: {result.views}. {count} pairs of each kind."
    console.print(summary, highlight=False)
    out.mkdir(parents=True, exist_ok=True)
    result.plot(out / "similarity.html")
    path, metrics = out / RESULT_FILE, result.to_dict()
    options.write_json(path, "similarity", metrics, data=data, models=models, seed=seed)
    typer.echo(f"wrote {out / 'similarity.html'} and {path}")
