"""`unshortcut demo`."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    out: Annotated[Path, typer.Option("--out", help="Folder for runs and pictures.")] = Path(
        "demo"
    ),
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of data order and weights.")] = 0,
) -> None:
    """The whole story on the embedded data, minutes on two cores: draw, pretrain, probe, audit."""
    from unshortcut.demonstration import demo

    demo(out, seed=seed)
