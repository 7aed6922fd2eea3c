"""Lightning's Trainer with our logs, progress, checkpoints and loader, for any training."""

import logging
import warnings
from collections.abc import Callable, Sequence

import torch
from lightning.pytorch import Callback, Trainer
from rich.console import Console
from timm.layers import convert_sync_batchnorm

from unshortcut.data.loader import ViewLoader
from unshortcut.memory import keep_freed_memory
from unshortcut.methods.method import Method
from unshortcut.recipes.schema import TrainingSettings
from unshortcut.training.acceleration import compile_encoders
from unshortcut.training.checkpoint import WholeFileIO, load_checkpoint
from unshortcut.training.folder import RunFolder
from unshortcut.training.logs import LogWriter
from unshortcut.training.machine import Machine
from unshortcut.training.progress import TrainingProgress
from unshortcut.training.safeguards import Checkpointing, StepExchange, signals_restored


class TrainingLoop:
    """Trains a method in a run folder, from the checkpoint there if there is one."""

    def __init__(
        self,
        folder: RunFolder,
        settings: TrainingSettings,
        machine: Machine,
        console: Console,
        *,
        label: str,
        how_to_resume: str,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.machine = machine
        self.log = LogWriter(folder, settings.log_steps)
        self.progress = TrainingProgress(console, label)
        self._checkpointing = Checkpointing(
            folder.checkpoint, settings.checkpoint_minutes, settings.checkpoint_steps, how_to_resume
        )

    def run(
        self,
        method: Method,
        make_loader: Callable[[int, int], ViewLoader],
        callbacks: Sequence[Callback] = (),
        *,
        epochs: int,
        steps: int | None = None,
        in_turn: bool = False,
    ) -> None:
        """Train for a number of epochs.

        Args:
            make_loader: the loader for (rank, world size).
            callbacks: what else happens; called before log, progress and checkpoint.
            steps: optimizer steps after which to stop within the last epoch.
            in_turn: whether a backward pass may reach only some of the parameters.
        """
        _quieten_lightning()
        if not torch.cuda.is_available():
            keep_freed_memory()
        settings, machine, folder = self.settings, self.machine, self.folder
        always = [StepExchange(self._checkpointing), self.log, self.progress, self._checkpointing]
        trainer = Trainer(
            accelerator="auto",
            devices=machine.devices,
            num_nodes=machine.nodes,
            strategy=machine.strategy(in_turn=in_turn),
            max_epochs=epochs,
            max_steps=-1 if steps is None else steps,
            accumulate_grad_batches=settings.accumulate,
            precision=settings.precision,
            gradient_clip_val=settings.gradient_clip,
            callbacks=[*callbacks, *always],
            plugins=[WholeFileIO()],
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            use_distributed_sampler=False,
            default_root_dir=folder.path,
        )
        if settings.sync_batch_norm and machine.world_size > 1:
            # timm's, because torch's own conversion drops the activations fused into batch norms
            convert_sync_batchnorm(method)
        if settings.compile:
            compile_encoders(method)
        loader = make_loader(trainer.global_rank, trainer.world_size)
        checkpoint = folder.checkpoint if folder.checkpoint.exists() else None
        if checkpoint is not None:
            load_checkpoint(checkpoint)  # refuses a foreign file before training begins
        try:
            with signals_restored():
                trainer.fit(method, train_dataloaders=loader, ckpt_path=checkpoint)
        finally:
            loader.close()


def _quieten_lightning() -> None:
    """Hide messages that are of no use to users of this library."""
    for part in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(part).setLevel(logging.WARNING)
    known = (
        ".*isinstance.treespec, LeafSpec.*",
        ".*broadcast_buffers.*",
        ".*in eval mode at the start.*",
    )
    for message in known:
        warnings.filterwarnings("ignore", message=message)
