"""`unshortcut export`."""

from pathlib import Path
from typing import Annotated, Any

import typer

GROUP = "Train"


def command(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A finished run, or a .safetensors file.")
    ],
    to: Annotated[
        str, typer.Option("--to", help="Format: timm, torchvision, onnx or safetensors.")
    ] = "safetensors",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File to write. [default: next to the weights of the run]"),
    ] = None,
) -> None:
    """Write a trained encoder in the format of another library, which loads it strictly."""
    typer.echo(f"Exporting the encoder of {run} to {to}", err=True)
    from unshortcut.training.exporting import export

    target: Any = to
    typer.echo(f"wrote {export(run, target, out)}")
