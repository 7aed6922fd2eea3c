"""What a run writes about itself: run.json, the contact sheet, skipped images, final metrics."""

from typing import Any

import torch
from rich.console import Console

from unshortcut.data.failures import FailureLog
from unshortcut.methods.method import Method
from unshortcut.recipes.schema import Recipe
from unshortcut.result import commit, versions
from unshortcut.training.folder import RunFolder
from unshortcut.training.logs import read_log
from unshortcut.training.machine import Machine
from unshortcut.training.online_knn import OnlineKnn
from unshortcut.training.run_data import RunData
from unshortcut.views.sheet import view_sheet

_PROGRESS = ("step", "epoch", "lr", "images_per_second")
"""Entries of the log that say how far a run is; the last values of all others are its metrics."""


def about_data(data: RunData) -> dict[str, Any]:
    """What `run.json` says about the data."""
    about = {
        "data": data.name,
        "num_images": len(data.everything),
        "num_classes": data.num_classes,
        "data_fingerprint": data.fingerprint(),
    }
    if data.objects.images:
        about |= {"images_without_objects": data.objects.without, "num_items": len(data.source)}
    return about


def about_run(recipe: Recipe, machine: Machine) -> dict[str, Any]:
    """What `run.json` says about the program and the machine."""
    return {
        "seed": recipe.seed,
        "devices": machine.world_size,
        "threads": torch.get_num_threads(),
        "versions": versions(),
        "commit": commit(),
    }


def write_views_and_skipped(
    folder: RunFolder, data: RunData, recipe: Recipe, console: Console
) -> None:
    """Write the contact sheet of a new run, and the images that cannot be read, if any."""
    FailureLog(folder.skipped).add(data.unreadable)
    if data.unreadable:
        console.print(f"{len(data.unreadable)} images cannot be read; see '{folder.skipped.name}'")
    if not folder.views.exists():
        view_sheet(data.source, recipe.view_plan(), recipe.seed).save(folder.views)


def final_metrics(folder: RunFolder, knn: OnlineKnn | None, method: Method) -> dict[str, float]:
    """The last values of the log, and the kNN accuracy if there is one."""
    metrics: dict[str, float] = {}
    for entry in read_log(folder.log):
        metrics |= {key: value for key, value in entry.items() if key not in _PROGRESS}
    if knn is not None:
        # A run that was killed after its last step has not measured yet.
        metrics["knn"] = knn.measure(method) if knn.accuracy is None else knn.accuracy
    return metrics
