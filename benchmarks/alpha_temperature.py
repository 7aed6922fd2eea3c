"""Which alpha and temperature suit patch negatives on photographs, chosen on held-out ones.

    python -m benchmarks.alpha_temperature --out FOLDER [--epochs 9] [--pairs 0:0.1] [--json FILE]

trains `moco-v2-patch-imagenette` with pairs of both on 85 % of Imagenette's training images, about
ten minutes each on one core (an interrupted run is continued), and measures on the other 15 % the
accuracy of a linear probe on photographs, on textures synthesized from them, and on photographs
without their high frequencies. Imagenette's `val` is not used.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from rich.console import Console

from benchmarks.common import real_data, report
from unshortcut.build.job import use_one_thread
from unshortcut.data.open import open_data
from unshortcut.data.source import ArrayImage, DerivedSource, ImageSource, Subset
from unshortcut.imaging.frequency import low_pass
from unshortcut.probes.holdout import stratified_holdout
from unshortcut.probes.run import probe
from unshortcut.recipes.load import load_recipe
from unshortcut.reproduction.textures import textures_of
from unshortcut.training.pretraining import pretrain

RECIPE = "moco-v2-patch-imagenette"
PAIRS = ((0.0, 0.1), (1.0, 0.1), (0.0, 0.2), (1.0, 0.2), (2.0, 0.2))
HELD_OUT = 0.15


class LowPass(DerivedSource):
    """Images without the frequencies above a quarter of the highest in each direction."""

    def image(self, index: int) -> ArrayImage:
        pixels = self.source.image(index).pixels()
        return ArrayImage(low_pass(pixels, min(pixels.shape[:2]) // 4))

    def fingerprint(self) -> str:
        return f"{self.source.fingerprint()} low-pass"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.alpha_temperature")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument(
        "--pairs",
        nargs="+",
        default=[f"{a:g}:{t:g}" for a, t in PAIRS],
        metavar="ALPHA:TEMPERATURE",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    use_one_thread()
    train, tests = split_training_images()
    figures: dict[str, float] = {"epochs": arguments.epochs, "seed": 0}
    for pair in arguments.pairs:
        alpha, temperature = map(float, pair.split(":"))
        run = train_pair(alpha, temperature, train, arguments.epochs, arguments.out)
        name = f"alpha{alpha:g}_temperature{temperature:g}"
        found = probe(run, train, "linear", tests=tests, console=Console(quiet=True)).means()
        figures |= {f"{name}_{test}": accuracy for test, accuracy in found.items()}
        print(name, *(f"{test} {accuracy:.1f}" for test, accuracy in found.items()), flush=True)
    report("alpha_temperature", figures, ["torch", "timm"], arguments.json)


def split_training_images() -> tuple[ImageSource, dict[str, ImageSource]]:
    """The images to train on, and the test sets made from the held-out ones."""
    images = open_data(f"{real_data('imagenette-112.tar')}@train")
    assert images.labels is not None
    held = stratified_holdout(torch.from_numpy(images.labels), HELD_OUT, seed=0).numpy()
    train, photographs = (Subset(images, np.flatnonzero(part)) for part in (~held, held))
    textures = textures_of(photographs, Console(stderr=True))
    return train, {
        "photographs": photographs,
        "texture": textures,
        "low_pass": LowPass(photographs),
    }


def train_pair(
    alpha: float, temperature: float, train: ImageSource, epochs: int, out: Path
) -> Path:
    """Train with one pair of values, or continue; returns the run folder."""
    run = out / f"alpha{alpha:g}-temperature{temperature:g}"
    recipe = load_recipe(
        RECIPE,
        [
            f"method.negatives.patch.alpha={alpha}",
            f"method.loss.temperature={temperature}",
            f"schedule.epochs={epochs}",
            "data.workers=0",
            "training.knn_epochs=0",
        ],
    )
    pretrain(recipe, train, run, resume=True, console=Console(quiet=True))
    return run


if __name__ == "__main__":
    main()
