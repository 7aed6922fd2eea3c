"""Which encoder, image size and number of workers learn most per minute on this machine.

    python -m benchmarks.small_nets [--seconds 60] [--json FILE]

The result decides the settings of the demo. Every variant of `moco-v2-shapes` is timed for a few
steps, trained for as many epochs as fit into the given time, and evaluated by kNN accuracy on
`val`; `test` is not used.
"""

import argparse
import tempfile
import time
from itertools import islice
from pathlib import Path

import torch
from rich.console import Console

from benchmarks.common import report
from unshortcut.data.loader import ViewLoader
from unshortcut.data.shapes import Shapes
from unshortcut.methods.optimization import build_optimizer
from unshortcut.probes.run import probe
from unshortcut.recipes.load import load_recipe
from unshortcut.recipes.schema import Recipe
from unshortcut.training.pretraining import build_method, pretrain

RECIPE = "moco-v2-shapes"
VARIANTS = {
    "width16_48px": ["views.size=48", "data.workers=0"],
    "width32_48px": [
        "views.size=48",
        "data.workers=0",
        "encoder.options.channels=[32, 64, 128, 256]",
    ],
    "width16_32px": ["views.size=32", "data.workers=0"],
    "width16_64px": ["views.size=64", "data.workers=0"],
    "width16_48px_one_worker": ["views.size=48", "data.workers=1"],
}
STEPS = 15


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_nets")
    parser.add_argument("--seconds", type=float, default=60, help="training time of each variant")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    source, validation = Shapes("train"), Shapes("val")
    figures: dict[str, float] = {"threads": torch.get_num_threads()}
    for name, sets in VARIANTS.items():
        speed = images_per_second(load_recipe(RECIPE, sets), source)
        epochs = max(2, round(arguments.seconds * speed / len(source)))
        recipe = load_recipe(RECIPE, [*sets, f"schedule.epochs={epochs}", "training.knn_epochs=0"])
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            run = pretrain(recipe, source, Path(folder) / "run", console=Console(quiet=True))
            seconds = time.monotonic() - started
            knn = probe(run.folder, source, "knn", tests={"val": validation}).scores["val"].mean
        figures |= {
            f"{name}_images_per_second": speed,
            f"{name}_epochs": epochs,
            f"{name}_seconds": seconds,
            f"{name}_knn_val": knn,
        }
        print(f"{name}: {epochs} epochs, {seconds:.0f} s, kNN on val {knn:.1f} %", flush=True)
    report("small_nets", figures, ["torch", "timm"], arguments.json)


def images_per_second(recipe: Recipe, source: Shapes) -> float:
    """Training speed in images per second, including the creation of views."""
    method = build_method(recipe).train()
    optimizer = build_optimizer(method, recipe.optimizer)
    loader = ViewLoader(
        source,
        recipe.view_plan(),
        batch_size=recipe.data.batch_size,
        seed=0,
        workers=recipe.data.workers or 0,
    )
    started = time.monotonic()
    for step, batch in enumerate(islice(loader, STEPS + 3)):
        if step == 3:  # the first steps include compiling and starting workers
            started = time.monotonic()
        optimizer.zero_grad()
        method.training_step(batch, step).backward()
        method.on_after_backward()
        optimizer.step()
    seconds = time.monotonic() - started
    loader.close()
    return STEPS * recipe.data.batch_size / seconds


if __name__ == "__main__":
    main()
