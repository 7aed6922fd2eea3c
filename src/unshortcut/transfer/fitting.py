"""The training of a task, from the checkpoint in the run folder if there is one."""

import numpy as np
from rich.console import Console

from unshortcut.data.loader import ViewLoader
from unshortcut.data.source import Subset
from unshortcut.training.machine import Machine
from unshortcut.training.trainer import TrainingLoop
from unshortcut.transfer.data import TaskData
from unshortcut.transfer.folder import TransferFolder
from unshortcut.transfer.schedule import TransferSchedule
from unshortcut.transfer.setup import Setup
from unshortcut.transfer.task import Task
from unshortcut.transfer.validation import Validation

EPOCHS_OF_STEPS = 20
"""A training counted in steps is divided into this many epochs at most, each of one pass over the
images or more. After each of them it is validated and saved."""


def fit(
    setup: Setup,
    task: Task,
    data: TaskData,
    batch_size: int,
    folder: TransferFolder,
    machine: Machine,
    console: Console,
    how_to_resume: str,
) -> Validation | None:
    """Train a task; returns what chose its best weights, if anything did."""
    protocol = setup.protocol
    settings, schedule = protocol.training, protocol.schedule
    loop = TrainingLoop(
        folder,
        settings,
        machine,
        console,
        label=protocol.task.name,
        how_to_resume=how_to_resume,
    )
    validation = None
    if data.validation is not None:
        evaluation = setup.evaluation(data.validation)
        validation = Validation(evaluation, protocol.task.metric, folder, loop)
    passes, epochs = epochs_of(schedule, len(data.train), batch_size)
    # A repeated image is one of its own: it gets another view.
    source = Subset(data.train, np.tile(np.arange(len(data.train)), passes))
    own = protocol.data.workers
    workers = machine.default_workers() if own is None else own

    def loader(rank: int, world: int) -> ViewLoader:
        return ViewLoader(
            source,
            setup.training_view(),
            batch_size=batch_size // settings.accumulate,
            seed=protocol.seed,
            rank=rank,
            world=world,
            accumulate=settings.accumulate,
            workers=workers,
        )

    loop.run(
        task,
        loader,
        [validation] if validation is not None else [],
        epochs=epochs,
        steps=schedule.steps,
        in_turn=schedule.head_first > 0 and protocol.train.encoder != "none",
    )
    return validation


def epochs_of(schedule: TransferSchedule, images: int, batch_size: int) -> tuple[int, int]:
    """Passes over the images in each epoch, and the number of epochs, the last maybe cut short."""
    if schedule.steps is None:
        assert schedule.epochs is not None
        return 1, schedule.epochs
    steps_per_pass = images // batch_size
    passes = -(-schedule.steps // (EPOCHS_OF_STEPS * steps_per_pass))
    return passes, -(-schedule.steps // (passes * images // batch_size))
