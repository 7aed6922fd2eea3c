"""`unshortcut demo`."""

from pathlib import Path

import typer

GROUP = "Train"


def command(
    out: Path = typer.Option("demo", help="Folder for runs, pictures and pages."),
    seed: int = typer.Option(0, min=0, help="Random seed for data order and weights."),
    train: bool = typer.Option(
        False,
        "--train",
        help="Train the encoders, for minutes each, instead of using those of the package.",
    ),
) -> None:
    """Show a classifier that cheats, and encoders that cheat less, on the embedded data.

    Takes minutes on two cores, and continues where it was interrupted.
    """
    typer.echo(f"Running the demo in {out}: a training, probes and audits", err=True)
    from unshortcut.demonstration import demo

    demo(out, seed=seed, train=train)
