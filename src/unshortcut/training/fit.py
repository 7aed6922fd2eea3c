"""Training a recipe's method on its data, with kNN accuracy and pictures along the way."""

from lightning.pytorch import Callback
from rich.console import Console

from unshortcut.data.loader import ViewLoader
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.methods.method import Method
from unshortcut.recipes.schema import Recipe
from unshortcut.training.folder import RunFolder
from unshortcut.training.machine import Machine
from unshortcut.training.online_knn import OnlineKnn
from unshortcut.training.run_data import RunData
from unshortcut.training.samples import Samples
from unshortcut.training.trainer import TrainingLoop


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
    settings, plan = recipe.training, recipe.view_plan()
    loop = TrainingLoop(
        folder,
        settings,
        machine,
        console,
        label=recipe.method.name,
        how_to_resume=how_to_resume,
    )
    callbacks: list[Callback] = []
    knn = None
    if settings.knn_epochs and data.knn is not None and recipe.method.has_encoder:
        every = settings.knn_epochs
        knn = OnlineKnn(data.knn, preprocessing(recipe), every, loop.log, loop.progress)
        callbacks.append(knn)
    if method.makes_pictures:
        callbacks.append(Samples(data.source, plan, recipe.seed, folder.samples))
    workers = machine.default_workers() if recipe.data.workers is None else recipe.data.workers

    def loader(rank: int, world: int) -> ViewLoader:
        return ViewLoader(
            data.source,
            plan,
            batch_size=recipe.data.batch_size // settings.accumulate,
            seed=recipe.seed,
            rank=rank,
            world=world,
            accumulate=settings.accumulate,
            workers=workers,
        )

    loop.run(
        method,
        loader,
        callbacks,
        epochs=recipe.schedule.epochs,
        in_turn=not method.automatic_optimization,
    )
    return knn


def preprocessing(recipe: Recipe) -> Preprocessing:
    """How images are prepared for an encoder of this recipe."""
    v = recipe.views
    size = v.size if v.eval_size is None else v.eval_size
    return Preprocessing(size=size, crop_share=v.crop_share, mean=v.mean, std=v.std)
