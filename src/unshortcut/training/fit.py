"""The training loop: Lightning's Trainer with our callbacks, loader and checkpoints."""

import logging
import warnings

import torch
from lightning.pytorch import Callback, Trainer
from rich.console import Console
from timm.layers import convert_sync_batchnorm

from unshortcut.data.loader import ViewLoader
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.memory import keep_freed_memory
from unshortcut.methods.method import Method
from unshortcut.recipes.schema import Recipe
from unshortcut.training.acceleration import compile_encoders
from unshortcut.training.checkpoint import WholeFileIO, load_checkpoint
from unshortcut.training.folder import RunFolder
from unshortcut.training.logs import LogWriter
from unshortcut.training.machine import Machine
from unshortcut.training.online_knn import OnlineKnn
from unshortcut.training.progress import TrainingProgress
from unshortcut.training.run_data import RunData
from unshortcut.training.safeguards import Checkpointing, StepExchange, signals_restored
from unshortcut.training.samples import Samples


def fit(
    recipe: Recipe,
    method: Method,
    data: RunData,
    folder: RunFolder,
    machine: Machine,
    console: Console,
    how_to_resume: str,
) -> OnlineKnn | None:
    """Train a method, from the checkpoint in the run folder if there is one."""
    _quieten_lightning()
    if not torch.cuda.is_available():
        keep_freed_memory()
    settings = recipe.training
    log = LogWriter(folder, settings.log_steps)
    progress = TrainingProgress(console, recipe.method.name)
    checkpointing = Checkpointing(
        folder.checkpoint, settings.checkpoint_minutes, settings.checkpoint_steps, how_to_resume
    )
    callbacks: list[Callback] = [StepExchange(checkpointing), log, progress, checkpointing]
    if method.makes_pictures:
        plan = recipe.view_plan()
        callbacks.insert(0, Samples(data.source, plan, recipe.seed, folder.samples))
    knn = None
    if settings.knn_epochs and data.knn is not None and recipe.method.has_encoder:
        knn = OnlineKnn(data.knn, preprocessing(recipe), settings.knn_epochs, log, progress)
        callbacks.insert(0, knn)
    trainer = Trainer(
        accelerator="auto",
        devices=machine.devices,
        num_nodes=machine.nodes,
        strategy=machine.strategy(in_turn=not method.automatic_optimization),
        max_epochs=recipe.schedule.epochs,
        accumulate_grad_batches=settings.accumulate,
        precision=settings.precision,
        gradient_clip_val=settings.gradient_clip,
        callbacks=callbacks,
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
    loader = ViewLoader(
        data.source,
        recipe.view_plan(),
        batch_size=recipe.data.batch_size // settings.accumulate,
        seed=recipe.seed,
        rank=trainer.global_rank,
        world=trainer.world_size,
        accumulate=settings.accumulate,
        workers=machine.default_workers() if recipe.data.workers is None else recipe.data.workers,
    )
    checkpoint = folder.checkpoint if folder.checkpoint.exists() else None
    if checkpoint is not None:
        load_checkpoint(checkpoint)  # refuses a foreign file before training begins
    try:
        with signals_restored():
            trainer.fit(method, train_dataloaders=loader, ckpt_path=checkpoint)
    finally:
        loader.close()
    return knn


def preprocessing(recipe: Recipe) -> Preprocessing:
    """How images are prepared for an encoder of this recipe."""
    v = recipe.views
    size = v.size if v.eval_size is None else v.eval_size
    return Preprocessing(size=size, crop_share=v.crop_share, mean=v.mean, std=v.std)


def _quieten_lightning() -> None:
    """Hide messages that are of no use to users of this library."""
    for part in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(part).setLevel(logging.WARNING)
    for message in (".*isinstance.treespec, LeafSpec.*", ".*broadcast_buffers.*"):
        warnings.filterwarnings("ignore", message=message)
