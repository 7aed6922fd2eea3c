"""`unshortcut demo`."""

from pathlib import Path

import typer

GROUP = "Train"


def command(
    out: Path = typer.Option("demo", help="Folder for runs and pictures."),
    seed: int = typer.Option(0, min=0, help="Random seed for data order and weights."),
) -> None:
    """Draw, pretrain, probe and audit on the embedded data; minutes on two cores."""
    typer.echo(f"Running the demo in {out}: pretraining, probes and an audit", err=True)
    from unshortcut.demonstration import demo

    demo(out, seed=seed)
