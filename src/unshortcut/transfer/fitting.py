"""The training of a task, from the checkpoint in the run folder if there is one."""

from rich.console import Console

from unshortcut.data.loader import ViewLoader
from unshortcut.training.machine import Machine
from unshortcut.training.trainer import TrainingLoop
from unshortcut.transfer.data import Repeated, TaskData
from unshortcut.transfer.folder import TransferFolder
from unshortcut.transfer.setup import Setup
from unshortcut.transfer.task import Task
from unshortcut.transfer.validation import Validation

EPOCHS_OF_STEPS = 20
"""A training counted in steps is divided into this many epochs at most, after each of which it is
validated and saved."""


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
    source, epochs = data.train, schedule.epochs
    if schedule.steps is not None:
        steps_per_pass = len(source) // batch_size
        passes = max(1, schedule.steps // EPOCHS_OF_STEPS // max(steps_per_pass, 1))
        source = Repeated(source, passes)
        epochs = -(-schedule.steps // (len(source) // batch_size))
    assert epochs is not None
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
        in_turn=schedule.head_first > 0,
    )
    return validation
