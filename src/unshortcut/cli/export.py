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
    """Write a trained network in the format of another library, which loads it strictly.

    The classifier of a run that has one is included. Of a detector or a segmenter, timm gets the
    encoder, and torchvision the state dict of its FasterRCNN or FCN. A run with best weights has
    RUN/last.safetensors, too.
    """
    typer.echo(f"Exporting the network of {run} to {to}", err=True)
    from unshortcut.transfer.exporting import export, module_for

    target: Any = to
    typer.echo(f"wrote {export(run, target, out)}")
    module = module_for(run, target)
    if module is not None:
        typer.echo(f"it loads into {module}")
