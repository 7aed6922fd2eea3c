"""`unshortcut finetune`."""

import os
import shlex
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli.options import DataOption, ModelArgument, OnOption

GROUP = "Train"
_SET = (
    "Change a setting of the protocol, e.g. schedule.steps=300 or train.encoder=none. May be given "
    "several times."
)


def command(
    model: ModelArgument,
    data: DataOption,
    task: str = typer.Option(
        "classify",
        help="What to learn: classify (one class per image), multilabel (several), detect (boxes) "
        "or segment (masks).",
    ),
    out: Path = typer.Option("run", metavar="RUN", help="The run folder to write."),
    protocol: str | None = typer.Option(
        None,
        metavar="PROTOCOL",
        help="How to fine-tune: a name (see `unshortcut protocols`) or a YAML file. "
        "[default: that of the task]",
    ),
    on: OnOption = [],
    sets: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help=_SET),
    devices: int = typer.Option(1, min=1, help="Number of devices, or of processes on a CPU."),
) -> None:
    """Fine-tune a model for a task, and test it.

    The same command continues a run that was interrupted. Images to choose the best weights on are
    held out of the training data, unless these have a split for it.

    Example: `unshortcut finetune runs/photos --data labeled/ --out runs/labeled`
    """
    if os.environ.get("LOCAL_RANK", "0") == "0":
        typer.echo(f"Fine-tuning {model} for the task {task} in {out}", err=True)
    from unshortcut.transfer.finetuning import finetune

    again = ["unshortcut", "finetune", model, "--data", data, "--task", task, "--out", str(out)]
    again += ["--protocol", protocol] if protocol else []
    again += [argument for one in on for argument in ("--on", one)]
    again += [argument for change in sets for argument in ("--set", change)]
    again += ["--devices", str(devices)] if devices > 1 else []
    run = finetune(
        model,
        data,
        task,
        out,
        protocol=protocol,
        tests=on,
        sets=sets,
        devices=devices,
        command=shlex.join(again),
    )
    if not run.metrics:
        return  # the first process of the run reports
    table = Table("metric", "value", title=f"run {out}")
    for name, value in run.metrics.items():
        table.add_row(name, f"{value:.1f}")
    Console().print(table)
    Console().print(f"The network is in {out}; README.txt there lists the files.")
