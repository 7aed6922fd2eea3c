"""The Trainer of a run: Lightning's, with our callbacks, loader and checkpoints."""

import logging
import warnings

import torch
from lightning.pytorch import Callback, Trainer
from rich.console import Console
from timm.layers import convert_sync_batchnorm

from unshortcut.data.loader import ViewLoader
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.memory import keep_freed_memory
from unshortcut.methods.method import Method
from unshortcut.recipes.schema import Recipe
from unshortcut.training.checkpoint import Checkpointing, WholeFileIO, load_checkpoint
from unshortcut.training.divergence import StopOnDivergence
from unshortcut.training.folder import RunFolder
from unshortcut.training.logs import Watching
from unshortcut.training.machine import Machine
from unshortcut.training.online_knn import KnnData, OnlineKnn
from unshortcut.training.progress import TrainingProgress
from unshortcut.training.stopping import StopGracefully, signals_restored


def fit(
    recipe: Recipe,
    method: Method,
    source: ImageSource,
    knn_images: KnnData | None,
    folder: RunFolder,
    machine: Machine,
    console: Console,
    how_to_resume: str,
) -> OnlineKnn | None:
    """Train a method on a source; a checkpoint in the run folder is where it goes on from."""
    _quieten_lightning()
    if not torch.cuda.is_available():
        keep_freed_memory()
    settings = recipe.training
    watching = Watching(folder, settings.log_steps)
    progress = TrainingProgress(console, recipe.method.name)
    checkpointing = Checkpointing(
        folder.checkpoint, settings.checkpoint_minutes, settings.checkpoint_steps
    )
    callbacks: list[Callback] = [StopOnDivergence(checkpointing), watching, progress]
    knn = None
    if settings.knn_epochs and knn_images is not None:
        knn = OnlineKnn(knn_images, preprocessing(recipe), settings.knn_epochs, watching, progress)
        callbacks.insert(0, knn)
    callbacks += [checkpointing, StopGracefully(checkpointing, how_to_resume)]
    trainer = Trainer(
        accelerator="auto",
        devices=machine.devices,
        num_nodes=machine.nodes,
        strategy=machine.strategy(),
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
    if settings.sync_batch_norm and machine.world > 1:
        if not torch.cuda.is_available():
            raise UsageError(
                "batch norm over several processes needs GPUs; on a CPU set "
                "training.sync_batch_norm=false"
            )
        # timm's, because torch's own conversion drops the activations fused into batch norms
        convert_sync_batchnorm(method)
    loader = ViewLoader(
        source,
        recipe.view_plan(),
        batch_size=recipe.data.batch_size // settings.accumulate,
        seed=recipe.seed,
        rank=trainer.global_rank,
        world=trainer.world_size,
        accumulate=settings.accumulate,
        workers=machine.workers() if recipe.data.workers is None else recipe.data.workers,
    )
    checkpoint = folder.checkpoint if folder.checkpoint.exists() else None
    if checkpoint is not None:
        load_checkpoint(checkpoint)  # a file that is not ours is refused before training begins
    try:
        with signals_restored():
            trainer.fit(method, train_dataloaders=loader, ckpt_path=checkpoint)
    finally:
        loader.close()
    return knn


def preprocessing(recipe: Recipe) -> Preprocessing:
    """How a trained encoder of this recipe wants its images."""
    views = recipe.views
    return Preprocessing(
        size=views.size, crop_share=views.crop_share, mean=views.mean, std=views.std
    )


def _quieten_lightning() -> None:
    """Its remarks on itself are not for the user of this library."""
    for part in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(part).setLevel(logging.WARNING)
    for remark in (".*isinstance.treespec, LeafSpec.*", ".*broadcast_buffers.*"):
        warnings.filterwarnings("ignore", message=remark)
