"""`unshortcut export`."""

from pathlib import Path
from typing import Any

import typer

GROUP = "Train"


def command(
    run: str = typer.Argument(metavar="RUN", help="A finished run, or a .safetensors file."),
    to: str = typer.Option("safetensors", help="Format: timm, torchvision, onnx or safetensors."),
    out: Path | None = typer.Option(
        None, help="File to write. [default: next to the weights of the run]"
    ),
) -> None:
    """Write a trained encoder in the format of another library, which loads it strictly.

    The classifier of a supervised run is included.
    """
    typer.echo(f"Exporting the encoder of {run} to {to}", err=True)
    from unshortcut.training.exporting import export

    target: Any = to
    typer.echo(f"wrote {export(run, target, out)}")
