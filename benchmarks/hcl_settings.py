"""Settings of hyperbolic learning for the claim `hyperbolic`, on scenes of another seed.

    python -m benchmarks.hcl_settings CURVATURE:WEIGHT ... --out FOLDER [--epochs 40] [--jobs 2]
        [--json FILE]

trains `hcl-context-shapes` at the scale `laptop` with each curvature and weight of the hyperbolic
loss, on `context-train`, and measures norms on `context-val` and odd objects on `context-odd`, all
of a seed that nothing else uses. 0.05:0.1 is as published. An interrupted run is continued.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console

from benchmarks.common import report
from unshortcut.build.job import use_one_thread
from unshortcut.data.shapes import Shapes
from unshortcut.recipes.load import load_recipe
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measures.context import OutOfContextMeasure, SceneNormMeasure
from unshortcut.reproduction.scales import scale_recipe
from unshortcut.training.pretraining import pretrain

SCENES = 100
"""Seed of the scenes."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hcl_settings")
    parser.add_argument("settings", nargs="+", metavar="CURVATURE:WEIGHT")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the runs")
    parser.add_argument("--epochs", type=int, default=40, help="those of the claim are 40")
    parser.add_argument("--scenes", type=int, help="number of scenes to train on, by default all")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    figures: dict[str, float] = {"scenes_seed": SCENES, "epochs": arguments.epochs}
    one = partial(measure, out=arguments.out, epochs=arguments.epochs, scenes=arguments.scenes)
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn"), use_one_thread) as pool:
        for found in pool.map(one, arguments.settings):
            figures |= found
            print(found, flush=True)
    module = f"hcl_settings {' '.join(arguments.settings)} --epochs {arguments.epochs}"
    report(module, figures, ["torch", "timm", "lightning"], arguments.json)


def measure(setting: str, out: Path, epochs: int, scenes: int | None) -> dict[str, float]:
    """Train with a curvature and a weight, or continue; the metrics of the claim, in percent."""
    curvature, weight = setting.split(":")
    recipe = scale_recipe(
        load_recipe("hcl-context-shapes"),
        "laptop",
        (
            f"schedule.epochs={epochs}",
            f"method.curvature={curvature}",
            f"method.hyperbolic_weight={weight}",
            "training.knn_epochs=0",
            "data.workers=0",
        ),
    )
    train, run = Shapes("context-train", seed=SCENES, count=scenes), out / f"{setting}-{epochs}"
    console = Console(quiet=True)
    pretrain(recipe, train, run, resume=True, console=console)
    tests = {"test": Shapes("context-val", seed=SCENES), "odd": Shapes("context-odd", seed=SCENES)}
    evaluation = Evaluation(train, more_tests=tests, console=console)
    metrics = {
        **SceneNormMeasure().compute(run, evaluation),
        **OutOfContextMeasure().compute(run, evaluation),
    }
    return {f"c_{curvature}_weight_{weight}_{name}": value for name, value in metrics.items()}


if __name__ == "__main__":
    main()
