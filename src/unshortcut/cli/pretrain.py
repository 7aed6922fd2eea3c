"""`unshortcut pretrain`."""

import os
import shlex
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli._forecast import show_forecast
from unshortcut.cli.options import DATA_HELP, RecipeArgument, SetOption
from unshortcut.errors import UsageError

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
    dry_run: bool = typer.Option(
        False,
        "--dry-run",
        help="Only say what the run will be: batch, steps, learning rates, hours, memory. Nothing "
        "is written or downloaded.",
    ),
    images_per_second: float | None = typer.Option(
        None,
        min=1e-6,
        help="With --dry-run: images trained on per second, over all devices. [default: measured "
        "on this machine]",
    ),
    num_images: int | None = typer.Option(
        None, min=1, help="With --dry-run: number of images in data that are not on this machine."
    ),
) -> None:
    """Pretrain an encoder on images, with or without labels.

    Example: `unshortcut pretrain moco-v2-imagenette --data photos/ --out runs/photos`
    """
    if dry_run:
        typer.echo(f"Forecasting {recipe}", err=True)
        show_forecast(recipe, data, sets, devices, init, num_images, images_per_second)
        return
    if images_per_second is not None or num_images is not None:
        raise UsageError("--images-per-second and --num-images are for --dry-run")
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
