"""`unshortcut embed`."""

from pathlib import Path
from typing import Annotated

import typer

from unshortcut.cli.options import (
    DataOption,
    JsonOption,
    MeanOption,
    ModelArgument,
    SizeOption,
    StdOption,
    preprocessing,
)

GROUP = "Evaluate"


def command(
    model: ModelArgument,
    data: DataOption,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE",
            help="An .npz file, which numpy.load reads, or a .parquet file, which needs pyarrow.",
        ),
    ] = Path("features.npz"),
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=0,
            help="Threads that decode images; by default as many as there are cores. The result "
            "does not depend on it.",
        ),
    ] = None,
    max_unreadable: Annotated[
        float | None,
        typer.Option(
            "--max-unreadable",
            min=0,
            max=1,
            metavar="SHARE",
            help="Stop as soon as more than this share of the images cannot be read, such as 0.1; "
            "by default they are left out and listed, however many they are.",
        ),
    ] = None,
    size: SizeOption = None,
    mean: MeanOption = None,
    std: StdOption = None,
    json: JsonOption = None,
) -> None:
    """Write the features of all images to a file, with their labels and names."""
    from unshortcut.models.embedding import embed, unreadable_path
    from unshortcut.models.load import load_model
    from unshortcut.result import write_result

    loaded = load_model(model, **preprocessing(size, mean, std))
    features = embed(loaded, data, out, workers=workers, max_unreadable=max_unreadable)
    count, width = features.values.shape
    bad = len(features.unreadable)
    if json is not None:
        metrics = {"images": count, "features": width, "unreadable": bad}
        write_result(json, "embed", metrics=metrics, data=data, model=model)
    typer.echo(f"wrote {out}: {count} images, {width} features each")
    if bad:
        typer.echo(f"left out {bad} unreadable images, listed in {unreadable_path(out)}")
