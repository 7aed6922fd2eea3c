"""How many epochs BYOL needs on `shapes` to come near MoCo, on drawings of another seed.

    python -m benchmarks.byol_epochs METHOD:EPOCHS:LR ... --out FOLDER [--jobs 2] [--json FILE]

trains `moco` or `byol` (the arm without negatives of the claim `negatives-byol`) at the scale
`laptop` on drawings that no claim reports on, minutes each on one core (an interrupted run is
continued), and measures the accuracy of a linear probe on their `val`. The claim uses the smallest
number of epochs whose accuracy is within ten points of MoCo's after the 40 epochs of that scale.
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
from unshortcut.probes.run import probe
from unshortcut.recipes.load import load_recipe
from unshortcut.reproduction.scales import scale_recipe
from unshortcut.training.folder import RunFolder
from unshortcut.training.logs import read_log
from unshortcut.training.pretraining import pretrain

DRAWINGS = 100
"""Seed of the drawings; claims have 0, and what they fine-tune on has 1 to 5."""
RECIPES = {
    "moco": ("moco-v2-shapes", ()),
    "byol": (
        "byol-patch-shapes",
        ("method.negatives.patch.alpha=0", "method.negatives.regular.alpha=0"),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.byol_epochs")
    parser.add_argument("runs", nargs="+", metavar="METHOD:EPOCHS:LR")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    figures: dict[str, float] = {"drawings_seed": DRAWINGS, "seed": 0}
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn"), use_one_thread) as pool:
        measured = pool.map(partial(measure, out=arguments.out), arguments.runs)
        for found in measured:
            figures |= found
            print(found, flush=True)
    module = f"byol_epochs {' '.join(arguments.runs)}"
    report(module, figures, ["torch", "timm"], arguments.json)


def measure(run: str, out: Path) -> dict[str, float]:
    """Train, or continue: accuracy on `val`, and kNN accuracy on the way, on held-out images."""
    method, epochs, lr = run.split(":")
    recipe, changes = RECIPES[method]
    length = (f"schedule.epochs={epochs}", f"optimizer.lr={lr}")
    own = (*changes, *length, "training.knn_epochs=8", "data.workers=0")
    folder = out / f"{method}-{epochs}-{lr}"
    train = Shapes("train", seed=DRAWINGS)
    settings = scale_recipe(load_recipe(recipe), "laptop", own)
    pretrain(settings, train, folder, resume=True, console=Console(quiet=True))
    tests = {"val": Shapes("val", seed=DRAWINGS)}
    found = probe(folder, train, "linear", tests=tests, console=Console(quiet=True)).means()
    name = f"{method}_{epochs}_epochs_lr_{lr}"
    return {f"{name}_linear_val": found["val"]} | {
        f"{name}_knn_after_{entry['epoch']:g}": entry["knn"]
        for entry in read_log(RunFolder(folder).log)
        if "knn" in entry
    }


if __name__ == "__main__":
    main()
