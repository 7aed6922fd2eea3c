"""The loss of pretext tasks on originals and on stylized images (dissertation, figure 2.6).

    python -m benchmarks.stylized_curve PICTURE --out FOLDER [--epochs 7] [--json FILE]

trains MoCo-v2 and Jigsaw on the embedded shapes and on stylized ones, a few minutes each on one
core (an interrupted run is continued), and draws the four losses. A loss that falls at once means
that the task has a solution without shapes.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
from rich.console import Console

from benchmarks.common import report
from unshortcut.build.job import use_one_thread
from unshortcut.data.shapes import Shapes
from unshortcut.probes.run import probe
from unshortcut.training.folder import RunFolder
from unshortcut.training.logs import read_log
from unshortcut.training.pretraining import pretrain

TASKS = {
    "MoCo-v2": {"originals": "moco-v2-shapes", "stylized": "moco-v2-stylized-shapes"},
    "Jigsaw": {"originals": "jigsaw-shapes", "stylized": "jigsaw-stylized-shapes"},
}
EARLY = 0.25
"""The part of the training after which the loss is compared."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stylized_curve")
    parser.add_argument("picture", type=Path, metavar="PICTURE")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    use_one_thread()
    figures: dict[str, float] = {"epochs": arguments.epochs, "seed": 0}
    figure, axes = plt.subplots(1, len(TASKS), figsize=(8, 3), layout="constrained")
    for axis, (task, recipes) in zip(axes, TASKS.items(), strict=True):
        for kind, recipe in recipes.items():
            run = train(recipe, arguments.out, arguments.epochs)
            curve = losses(run)
            axis.plot(list(curve), list(curve.values()), label=kind)
            early = max(step for step in curve if step <= EARLY * max(curve))
            name = recipe.replace("-", "_")
            tests = {"val": Shapes("val")}
            accuracy = probe(run, "shapes", tests=tests, console=Console(quiet=True)).means()
            figures |= {
                f"{name}_early_loss": curve[early],
                f"{name}_final_loss": curve[max(curve)],
                f"{name}_linear_val": accuracy["val"],
            }
        axis.set(title=task, xlabel="optimizer steps", ylabel="loss")
        axis.legend()
    figure.savefig(arguments.picture, dpi=110)
    report("stylized_curve", figures, ["torch", "timm"], arguments.json)


def train(recipe: str, out: Path, epochs: int) -> Path:
    """Train a recipe, or continue; returns the run folder."""
    run = out / recipe
    sets = [f"schedule.epochs={epochs}", "data.workers=0", "training.knn_epochs=0"]
    pretrain(recipe, out=run, sets=sets, resume=True, console=Console(quiet=True))
    return run


def losses(run: Path) -> dict[int, float]:
    """The logged loss by optimizer step."""
    return {
        entry["step"]: entry["loss"] for entry in read_log(RunFolder(run).log) if "loss" in entry
    }


if __name__ == "__main__":
    main()
