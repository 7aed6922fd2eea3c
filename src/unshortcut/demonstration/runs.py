"""Trainings of the demo, which are continued where an earlier demo was interrupted."""

import os
import shlex
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from unshortcut.errors import InterruptedRunError
from unshortcut.models.load import LoadedModel, load_model
from unshortcut.recipes.load import load_recipe
from unshortcut.training.exporting import export_encoder
from unshortcut.training.folder import RunFolder
from unshortcut.training.pretraining import pretrain

_POLL_SECONDS = 0.05


def trained(
    recipe: str, folder: Path, seed: int, console: Console, sets: tuple[str, ...] = ()
) -> LoadedModel:
    """The model of a run folder, which is trained or continued if needed."""
    changes = [f"seed={seed}", *sets]
    run = RunFolder(folder)
    if run.result.exists() and load_recipe(run.recipe) == load_recipe(recipe, changes):
        console.print(f"{folder} is trained already", highlight=False)
    else:
        again = ["unshortcut", "pretrain", recipe, "--out", str(folder)]
        again += [argument for change in changes for argument in ("--set", change)]
        command = shlex.join(again)
        pretrain(recipe, None, folder, sets=changes, resume=True, console=console, command=command)
    return load_model(folder)


def interrupted_and_resumed(
    recipe: str, folder: Path, seed: int, console: Console, sets: tuple[str, ...] = ()
) -> LoadedModel:
    """As `trained`, but stopped by a signal after the first epoch, resumed, and exported."""
    if not RunFolder(folder).checkpoint.exists():
        with interrupted_when(RunFolder(folder).checkpoint) as sent:
            try:
                trained(recipe, folder, seed, console, sets)
            except InterruptedRunError as error:
                if not sent.is_set():
                    raise  # it was the user
                console.print(f"Interrupted on purpose: {error}", highlight=False, markup=False)
    model = trained(recipe, folder, seed, console, sets)
    exported = export_encoder(folder, "timm")
    console.print(f"Exported for timm: {exported}", highlight=False)
    return model


@contextmanager
def interrupted_when(file: Path) -> Iterator[threading.Event]:
    """Send this process a SIGINT, as Ctrl-C does, when a file appears during the block.

    Yields an event that says whether this happened. Nothing is sent outside the main thread, where
    a training does not handle signals.
    """
    sent, ended = threading.Event(), threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_SECONDS):
            if file.exists():
                sent.set()
                os.kill(os.getpid(), signal.SIGINT)
                return

    watcher = threading.Thread(target=watch, name="interruption", daemon=True)
    if threading.current_thread() is threading.main_thread():
        watcher.start()
    try:
        yield sent
    finally:
        ended.set()
        if watcher.ident is not None:
            watcher.join()
