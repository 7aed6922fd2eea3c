"""Learning rate and steps of `segment-shapes` or `detect-shapes`, on scenes of another seed.

    python -m benchmarks.scene_settings LR:STEPS ... --model RUN --task segment|detect --out FOLDER
        [--jobs 2] [--json FILE]

fine-tunes a pretrained encoder on `scene-train` and tests it on `scene-val`, both of a seed that
nothing else uses. The protocol gets the best learning rate, and the fewest steps that come within
one point of the best value. An interrupted run is continued.
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
from unshortcut.transfer.finetuning import finetune

SCENES = 100
"""Seed of the scenes."""
METRICS = {"segment": "miou", "detect": "ap50"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scene_settings")
    parser.add_argument("settings", nargs="+", metavar="LR:STEPS")
    parser.add_argument("--model", required=True, metavar="RUN", help="the pretrained encoder")
    parser.add_argument("--task", choices=list(METRICS), default="segment")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the runs")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    figures: dict[str, float] = {"scenes_seed": SCENES, "seed": 0}
    one = partial(measure, model=arguments.model, task=arguments.task, out=arguments.out)
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn"), use_one_thread) as pool:
        for found in pool.map(one, arguments.settings):
            figures |= found
            print(found, flush=True)
    module = f"scene_settings {' '.join(arguments.settings)} --task {arguments.task}"
    report(module, figures, ["torch", "torchvision", "timm", "lightning"], arguments.json)


def measure(setting: str, model: str, task: str, out: Path) -> dict[str, float]:
    """Fine-tune with a learning rate and a number of steps, or continue; test on `scene-val`."""
    lr, steps = setting.split(":")
    done = finetune(
        model,
        Shapes("scene-train", seed=SCENES),
        task,
        out / f"{task}-{lr}-{steps}",
        protocol=f"{task}-shapes",
        tests={"scene-val": Shapes("scene-val", seed=SCENES)},
        sets=[f"optimizer.lr={lr}", f"schedule.steps={steps}", "data.workers=0"],
        console=Console(quiet=True),
    )
    metric = METRICS[task]
    return {f"{task}_lr_{lr}_steps_{steps}_{metric}": done.metrics[f"scene-val {metric}"]}


if __name__ == "__main__":
    main()
