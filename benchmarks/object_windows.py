"""The window of object crops and the size of evaluation on scenes of `shapes`, of another seed.

    python -m benchmarks.object_windows CROPS ... --out FOLDER [--epochs 12] [--json FILE]

trains MoCo-v2 at the scale `laptop` on scenes that no claim reports on: on random crops of at least
a share of their area (`random:0.3`), or on crops of annotated objects with a window of so many
pixels (`objects:32`). An interrupted run is continued. It measures the mean average precision of a
multi-label probe on their `scene-val`, for two sizes that scenes are resized to.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks.common import report
from unshortcut.build.job import use_one_thread
from unshortcut.data.shapes import Shapes
from unshortcut.models.load import load_model
from unshortcut.probes.run import probe
from unshortcut.recipes.load import load_recipe
from unshortcut.reproduction.scales import scale_recipe
from unshortcut.training.pretraining import pretrain

SCENES = 100
"""Seed of the scenes; claims have 0, and what they fine-tune on has 1 to 5."""
SIZES = (64, 128)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.object_windows")
    parser.add_argument("crops", nargs="+", metavar="CROPS", help="random:SHARE or objects:PIXELS")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    use_one_thread()
    figures: dict[str, float] = {"scenes_seed": SCENES, "seed": 0, "epochs": arguments.epochs}
    for crops in arguments.crops:
        found = measure(crops, arguments.epochs, arguments.out)
        figures |= found
        print(found, flush=True)
    command = f"object_windows {' '.join(arguments.crops)} --epochs {arguments.epochs}"
    report(command, figures, ["torch", "timm"], arguments.json)


def measure(crops: str, epochs: int, out: Path) -> dict[str, float]:
    """Train, or continue: mean average precision (%) on `scene-val` by size of evaluation."""
    kind, _, value = crops.partition(":")
    change = {
        "random": f"views.augmentations.random_resized_crop.scale=[{value}, 1.0]",
        "objects": f"views.objects={{window: {value}}}",
    }[kind]
    own = (change, f"schedule.epochs={epochs}", "training.knn_epochs=0", "data.workers=0")
    recipe = scale_recipe(load_recipe("moco-v2-scenes-shapes"), "laptop", own)
    folder, train = out / f"{kind}-{value}-{epochs}", Shapes("scene-train", seed=SCENES)
    pretrain(recipe, train, folder, resume=True, console=Console(quiet=True))
    model, figures = load_model(folder), {}
    for size in SIZES:
        sized = replace(model, preprocessing=model.preprocessing.model_copy(update={"size": size}))
        tests = {"val": Shapes("scene-val", seed=SCENES)}
        found = probe(sized, train, "multilabel", tests=tests, console=Console(quiet=True))
        figures[f"{kind}_{value}_size_{size}_map"] = found.means()["val"]
    return figures


if __name__ == "__main__":
    main()
