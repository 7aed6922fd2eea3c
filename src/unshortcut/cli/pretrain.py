"""`unshortcut pretrain`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli.options import RecipeArgument, SetOption

GROUP = "Train"


def command(
    recipe: RecipeArgument,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="DATA",
            help="A folder of images (class folders optional), a tar file of one, shards "
            "'x-{000..127}.tar', or a name such as shapes or cifar10; DATA@split picks a split. "
            "[default: the recipe's own]",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="RUN", help="The run folder to write.")
    ] = Path("run"),
    sets: SetOption = [],
    devices: Annotated[
        int, typer.Option("--devices", min=1, help="Number of devices, or of processes on a CPU.")
    ] = 1,
    init: Annotated[
        str | None,
        typer.Option(
            "--init",
            metavar="MODEL",
            help="Start from these weights: a run folder or a .safetensors file.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue the run in --out, to the same weights; start it if nothing is there.",
        ),
    ] = False,
) -> None:
    """Pretrain an encoder on images, with or without labels.

    Example: `unshortcut pretrain moco-v2-imagenette --data photos/ --out runs/photos`
    """
    from unshortcut.training.pretraining import pretrain

    again = ["unshortcut", "pretrain", recipe, "--out", str(out)]
    again += ["--data", data] if data else []
    again += [argument for change in sets for argument in ("--set", change)]
    again += ["--init", init] if init else []
    again += ["--devices", str(devices)] if devices > 1 else []
    run = pretrain(
        recipe,
        data,
        out,
        sets=sets,
        devices=devices,
        init=init,
        resume=resume,
        command=shlex.join(again),
    )
    if not run.metrics:
        return  # the first process of the run reports
    table = Table("metric", "value", title=f"run {out}")
    for name, value in run.metrics.items():
        table.add_row(name, f"{value:.4g}")
    Console().print(table)
    Console().print(f"The encoder is in {out}; probe it with: unshortcut probe {out} --data DATA")
