"""Fine-tuning: from a model, data and a protocol to a trained network and its test metrics."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from unshortcut.data.failures import FailureLog
from unshortcut.data.naming import Data
from unshortcut.errors import UsageError
from unshortcut.methods.step import DeviceBatch
from unshortcut.models.load import ModelLike
from unshortcut.progress import bar
from unshortcut.result import commit, public_name, versions, write_result
from unshortcut.training.acceleration import check_hardware, device_type
from unshortcut.training.machine import Machine, find_machine
from unshortcut.training.resume import check_same_run
from unshortcut.transfer.data import TaskData, open_task_data
from unshortcut.transfer.fitting import fit
from unshortcut.transfer.folder import TransferFolder
from unshortcut.transfer.protocol import (
    AnyProtocol,
    Protocol,
    load_protocol,
    to_mapping,
    to_yaml,
)
from unshortcut.transfer.setup import Setup
from unshortcut.transfer.sheets import prediction_sheet, training_sheet
from unshortcut.transfer.start import load_start
from unshortcut.transfer.task import TASKS, About, Task
from unshortcut.transfer.validation import Validation


@dataclass(frozen=True)
class FinetuningRun:
    """A finished run of fine-tuning."""

    folder: Path
    metrics: dict[str, float]
    """By test set and metric, such as `test top1`; those of the last weights end in `(last)`."""


def finetune(
    model: ModelLike,
    data: Data,
    task: str = "classify",
    out: str | Path = "run",
    *,
    protocol: AnyProtocol | None = None,
    tests: Sequence[Data] | Mapping[str, Data] = (),
    sets: Iterable[str] = (),
    devices: int = 1,
    console: Console | None = None,
    command: str = "unshortcut finetune",
) -> FinetuningRun:
    """Fine-tune a model for a task.

    The same call continues a run that was interrupted, to the same weights, and returns the result
    of one that is finished.

    Args:
        model: as in `load_model`; it must have weights that can be trained. A module of your own is
            trained in place.
        data: training data with what the task needs: labels, several labels per image, boxes or
            masks.
        task: `classify`, `multilabel`, `detect` or `segment`.
        out: the run folder.
        protocol: the name of a protocol, a YAML file, a mapping, or a `Protocol`; by default that
            of the task.
        tests: data to test on, by default the split `test`, or else `val`, of the data.
        sets: changes to the protocol, `key=value`.
        devices: number of devices, or processes on a CPU, that share each batch.
        command: the command to repeat; shown when the run is interrupted.
    """
    TASKS.find(task)  # a misspelt task is answered as one, not as the protocol of its name
    start = load_start(model)
    settings = load_protocol(protocol or task, sets, size=start.preprocessing.size)
    if settings.task.name != task:
        raise UsageError(
            f"the protocol is for the task '{settings.task.name}', not for '{task}'; "
            f"give --task {settings.task.name}, or another --protocol"
        )
    folder = TransferFolder(Path(out), settings.task.weights)
    machine, shown = find_machine(devices), console or Console(stderr=True)
    run = _Run(Setup(settings, start), machine, folder, shown, command)
    return FinetuningRun(folder.path, run.run(data, tests))


@dataclass(frozen=True)
class _Run:
    """One run: what it trains, where, and where it reports."""

    setup: Setup
    machine: Machine
    folder: TransferFolder
    console: Console
    command: str

    @property
    def protocol(self) -> Protocol:
        return self.setup.protocol

    @property
    def leads(self) -> bool:
        """Whether this process writes files."""
        return self.machine.is_first

    def run(self, data: Data, tests: Sequence[Data] | Mapping[str, Data]) -> dict[str, float]:
        resumes = self.leads and self.folder.check(resume=True)
        check_hardware(self.protocol.training, self.machine)
        opened = open_task_data(self.protocol, data, tests, self.console, visible=self.leads)
        task = self.setup.build(opened)
        batch_size = self.batch_size(opened)
        self.check(batch_size)
        finished = self.folder.result.is_file()
        if self.leads:
            self.begin(opened, resumes)
        if finished:
            self.console.print(f"'{self.folder.path}' is finished; these are its results")
            return read_metrics(self.folder, opened.tests)
        if self.leads:
            self.console.print(opened.summary(), highlight=False, markup=False)
        where = self.folder, self.machine, self.console, self.command
        validation = fit(self.setup, task, opened, batch_size, *where)
        return self.finish(task, opened, validation) if self.leads else {}

    def batch_size(self, data: TaskData) -> int:
        """Images per step: as the protocol says, or fewer if there are fewer images."""
        stated = self.protocol.data.batch_size
        if len(data.train) >= stated:
            return stated
        parts = self.machine.world_size * self.protocol.training.accumulate * 2
        fitting = len(data.train) // parts * parts or len(data.train)
        if self.leads:
            self.console.print(
                f"the batch size is {fitting} instead of {stated}, because there are few images"
            )
        return fitting

    def check(self, batch_size: int) -> None:
        """Raise `UsageError` for what cannot work, before anything is written."""
        accumulate, world = self.protocol.training.accumulate, self.machine.world_size
        self.machine.check_batch(batch_size, accumulate)
        images = batch_size // (world * accumulate)
        sync = self.protocol.training.sync_batch_norm
        self.protocol.task.check(DeviceBatch(images, world, sync))
        if self.protocol.task.dense:
            self.setup.training_view().pipeline.check_regions()

    def begin(self, data: TaskData, resumes: bool) -> None:
        """Write what is known before training, or check that the run to resume is the same."""
        metadata: dict[str, Any] = {
            "model": public_name(self.setup.start.name),
            "model_fingerprint": self.setup.start.fingerprint,
            "data": data.name,
            "num_images": len(data.train),
            "num_classes": len(data.classes),
            "data_fingerprint": data.fingerprint(),
            "seed": self.protocol.seed,
            "devices": self.machine.world_size,
            "threads": torch.get_num_threads(),
            "versions": versions(),
            "commit": commit(),
        }
        folder = self.folder
        if resumes:
            stored = to_mapping(load_protocol(folder.recipe))
            given = to_mapping(self.protocol)
            check_same_run(folder, stored, given, metadata, self.console, "protocol")
            before = folder.read_metadata().get("model_fingerprint")
            if before != self.setup.start.fingerprint:
                raise UsageError(
                    f"the run in '{folder.path}' started from other weights; choose another --out"
                )
        else:
            readme = folder.readme(chooses=data.validation is not None)
            folder.start(to_yaml(self.protocol), metadata, readme)
        FailureLog(folder.skipped).add(data.failures)
        if data.failures:
            self.console.print(
                f"{len(data.failures)} images or annotations are left out; see "
                f"'{folder.skipped.name}'"
            )
        if not folder.views.exists():
            training_sheet(data, self.setup.training_view(), self.protocol.seed).save(folder.views)

    def finish(self, task: Task, data: TaskData, validation: Validation | None) -> dict[str, float]:
        """Export the last and the best weights, and measure both on the test sets."""
        folder = self.folder
        task.to(device_type())  # Lightning has moved it to the CPU
        origin = {"recipe": to_mapping(self.protocol), "versions": versions(), "commit": commit()}
        about = About(data.classes, self.setup.preprocessing, origin)
        metrics: dict[str, float] = {}
        if validation is not None:
            task.save(folder.last, about)
            last = self.measure(task, data)
            metrics |= {f"{name} (last)": value for name, value in last.items()}
            validation.load_best(task)
            assert validation.best is not None
            metrics[f"validation {self.protocol.task.metric}"] = validation.best
        task.save(folder.weights, about)
        metrics = {**self.measure(task, data), **metrics}
        if self.protocol.task.dense and data.tests:
            first = next(iter(data.tests.values()))
            prediction_sheet(self.setup.evaluation(first), task, data.classes).save(
                folder.predictions
            )
        write_result(
            folder.result,
            "finetune",
            metrics=metrics,
            seed=self.protocol.seed,
            data=data.name,
            model=self.setup.start.name,
        )
        folder.best_state.unlink(missing_ok=True)
        return metrics

    def measure(self, task: Task, data: TaskData) -> dict[str, float]:
        """The metrics on all test sets."""
        found: dict[str, float] = {}
        for name, source in data.tests.items():
            evaluation = self.setup.evaluation(source)
            with bar(self.console, f"testing on {name}", unit="images") as on_progress:
                metrics = evaluation.score(task, on_progress)
            found |= {f"{name} {metric}": value for metric, value in metrics.items()}
            FailureLog(self.folder.skipped).add(evaluation.failures)
        return found


def read_metrics(folder: TransferFolder, tests: Iterable[str]) -> dict[str, float]:
    """The metrics of a finished run, which must have been tested on data of these names."""
    metrics: dict[str, float] = json.loads(folder.result.read_text(encoding="utf-8"))["metrics"]
    for name in tests:
        if not any(key.startswith(f"{name} ") for key in metrics):
            raise UsageError(
                f"the run in '{folder.path}' is finished, and was not tested on '{name}'; choose "
                "another --out"
            )
    return metrics
