"""`unshortcut export`."""

from pathlib import Path
from typing import Annotated, Any

import typer


def command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A finished run, or a .safetensors.")],
    to: Annotated[
        str, typer.Option("--to", help="timm, torchvision, onnx or safetensors.")
    ] = "safetensors",
    out: Annotated[
        Path | None, typer.Option("--out", help="The file. [default: beside the run's weights]")
    ] = None,
) -> None:
    """Write a trained encoder for use elsewhere; the file loads strictly there."""
    from unshortcut.training.exporting import export

    target: Any = to
    typer.echo(f"wrote {export(run, target, out)}")
