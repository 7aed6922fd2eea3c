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
        Path, typer.Option("--out", metavar="NPZ", help="The file; numpy.load reads it.")
    ] = Path("features.npz"),
    size: SizeOption = None,
    mean: MeanOption = None,
    std: StdOption = None,
    json: JsonOption = None,
) -> None:
    """Write the features of every image, with labels and names, to one file."""
    from unshortcut.models.load import load_model
    from unshortcut.probes.run import embed
    from unshortcut.result import write_result

    loaded = load_model(model, **preprocessing(size, mean, std))
    features = embed(loaded, data, out)
    count, width = features.values.shape
    if json is not None:
        metrics = {"images": count, "features": width}
        write_result(json, "embed", metrics=metrics, data=data, model=model)
    typer.echo(f"wrote {out}: {count} images, {width} features each")
