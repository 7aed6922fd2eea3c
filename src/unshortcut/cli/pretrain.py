"""`unshortcut pretrain`."""

import os
import shlex
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli.options import DATA_HELP, RecipeArgument, SetOption

GROUP = "Train"


def command(
    recipe: RecipeArgument,
    data: str | None = typer.Option(
        None, metavar="DATA", help=f"{DATA_HELP} [default: the recipe's own]"
    ),
    out: Path = typer.Option("run", metavar="RUN", help="The run folder to write."),
    sets: SetOption = [],
    devices: int = typer.Option(1, min=1, help="Number of devices, or of processes on a CPU."),
    init: str | None = typer.Option(
        None,
        metavar="MODEL",
        help="Start from these weights: a run folder, a .safetensors file, timm:NAME, or weights "
        "published by others (timm:NAME@FILE).",
    ),
    resume: bool = typer.Option(
        False,
        "--resume",
        help="Continue the run in --out, to the same weights; start it if nothing is there.",
    ),
) -> None:
    """Pretrain an encoder on images, with or without labels.

    Example: `unshortcut pretrain moco-v2-imagenette --data photos/ --out runs/photos`
    """
    if os.environ.get("LOCAL_RANK", "0") == "0":
        typer.echo(f"Pretraining {recipe} in {out}", err=True)
    from unshortcut.training.pretraining import pretrain

    again = ["unshortcut", "pretrain", recipe, "--out", str(out)]
    again += ["--data", data] if data else []
    again += [argument for change in sets for argument in ("--set", change)]
    again += ["--init", init] if init else []
    again += ["--devices", str(devices)] if devices > 1 else []
    command = shlex.join(again)
    run = pretrain(
        recipe, data, out, sets=sets, devices=devices, init=init, resume=resume, command=command
    )
    if not run.metrics:
        return  # the first process of the run reports
    table = Table("metric", "value", title=f"run {out}")
    for name, value in run.metrics.items():
        table.add_row(name, f"{value:.4g}")
    Console().print(table)
    Console().print(f"The encoder is in {out}; probe it with: unshortcut probe {out} --data DATA")
