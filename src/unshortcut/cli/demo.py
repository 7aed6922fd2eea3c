"""`unshortcut demo`."""

from pathlib import Path
from typing import Annotated

import typer

GROUP = "Train"


def command(
    out: Annotated[Path, typer.Option("--out", help="Folder for runs and pictures.")] = Path(
        "demo"
    ),
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Random seed for data order and weights.")
    ] = 0,
) -> None:
    """Draw, pretrain, probe and audit on the embedded data; minutes on two cores."""
    typer.echo(f"Running the demo in {out}: pretraining, probes and an audit", err=True)
    from unshortcut.demonstration import demo

    demo(out, seed=seed)
