"""Pix2Pix on real photographs: how close a generator comes to the filter that it learns.

    python -m benchmarks.pix2pix --out FOLDER [--minutes 15] [--json FILE] [--sheet PICTURE]

trains the published generator and the residual one (`pix2pix-photos`) on 2,000 photographs of
Imagenette at 64 px, for so many minutes each, and measures the PSNR to the diffused photograph
(20 iterations, kappa 20) on 500 held-out ones. The photograph itself and its best Gaussian blur,
whose sigma is chosen on training photographs, are the baselines. Both generators see the same views
in batches of 16; the published one has the published losses and optimizer. A killed command is
repeated as it is and goes on. `--sheet` draws photographs from scikit-image and scikit-learn.
"""

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.common import real_data, report
from unshortcut.arrays import ImageArray
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource, Subset
from unshortcut.imaging.blur import gaussian_blur
from unshortcut.imaging.diffusion import anisotropic_diffusion
from unshortcut.imaging.geometry import resize_box
from unshortcut.randomness import generator
from unshortcut.recipes.load import load_recipe
from unshortcut.training.folder import RunFolder
from unshortcut.training.forecasting import forecast
from unshortcut.training.pretraining import pretrain
from unshortcut.translation.trained import load_generator
from unshortcut.views.sheet import sheet

SIDE, TRAINED, HELD_OUT, CHOSEN_ON = 64, 2000, 500, 200
SIGMAS = [round(0.2 + 0.05 * step, 2) for step in range(30)]
RECIPE = "pix2pix-photos"
PUBLISHED = (
    "method={name: pix2pix}",
    "optimizer={name: adam, lr: 2.0e-4, weight_decay: 0, options: {betas: [0.5, 0.999]}}",
)
"""The published generator, discriminator, losses and optimizer, with the views of the recipe."""
VARIANTS: dict[str, tuple[str, ...]] = {"residual": (), "published": PUBLISHED}
Filter = Callable[[ImageArray], ImageArray]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pix2pix", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the two runs")
    parser.add_argument("--minutes", type=float, default=15, help="of training for each generator")
    parser.add_argument("--only", choices=VARIANTS, help="train and measure one generator")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--sheet", type=Path, metavar="PICTURE", help="draw examples there")
    arguments = parser.parse_args()
    train, held_out = photographs()
    sigma = best_sigma(train)
    filters: dict[str, Filter] = {
        "input": lambda image: image,
        "blur": lambda image: gaussian_blur(image, sigma),
    }
    chosen = VARIANTS if arguments.only is None else {arguments.only: VARIANTS[arguments.only]}
    for name, changes in chosen.items():
        run = arguments.out / name
        train_for(arguments.minutes, train, run, changes)
        filters[name] = load_generator(run)
    small = [shrunk(held_out.image(index).pixels()) for index in range(len(held_out))]
    figures = {f"pix2pix_psnr_{name}": mean_psnr(small, one) for name, one in filters.items()}
    figures |= {"blur_sigma": sigma, "minutes_each": arguments.minutes, "seed": 0}
    report("pix2pix", figures, ["torch", "lightning", "numpy"], arguments.json)
    if arguments.sheet is not None:
        draw(filters, arguments.sheet)


def photographs() -> tuple[ImageSource, ImageSource]:
    """Photographs to train on, and others to measure on."""
    data = real_data("imagenette-112.tar")
    parts = []
    for split, count in (("train", TRAINED), ("val", HELD_OUT)):
        source = open_data(data, split=split)
        order = generator(0, "pix2pix", split).permutation(len(source))
        parts.append(Subset(source, np.sort(order[:count])))
    return parts[0], parts[1]


def train_for(minutes: float, data: ImageSource, run: Path, changes: tuple[str, ...]) -> None:
    """Train for as many epochs as take so long on this machine, or go on with such a run.

    The number of epochs is measured once and kept, so that a run goes on as it was planned.
    """
    plan = run.with_suffix(".json")
    if not plan.is_file():
        planned = forecast(load_recipe(RECIPE, changes), data, seconds=5)
        assert planned.speed is not None
        # Views are made beside the training, on the same cores.
        seconds = 1 / planned.speed.images_per_second + 2 / planned.views_per_core / 2
        epochs = max(2, math.floor(60 * minutes / (seconds * len(data))))
        plan.parent.mkdir(parents=True, exist_ok=True)
        plan.write_text(json.dumps({"epochs": epochs}))
    epochs = json.loads(plan.read_text())["epochs"]
    schedule = f"schedule={{epochs: {epochs}, kind: linear, constant_epochs: {epochs // 2}}}"
    if not RunFolder(run).result.is_file():
        pretrain(
            RECIPE, data, run, sets=[*changes, schedule], resume=RunFolder(run).recipe.exists()
        )


def shrunk(image: ImageArray) -> ImageArray:
    """The central square of a photograph at 64 px."""
    height, width = image.shape[:2]
    side = min(height, width)
    box = ((height - side) / 2, (width - side) / 2, side, side)
    return resize_box(image, box, SIDE, SIDE)


def target(image: ImageArray) -> ImageArray:
    return anisotropic_diffusion(image, iterations=20, kappa=20)


def best_sigma(train: ImageSource) -> float:
    """The standard deviation of the blur that comes closest to the target."""
    images = [shrunk(train.image(index).pixels()) for index in range(CHOSEN_ON)]
    return max(
        SIGMAS, key=lambda sigma: mean_psnr(images, lambda image: gaussian_blur(image, sigma))
    )


def mean_psnr(images: list[ImageArray], one: Filter) -> float:
    """Mean PSNR of filtered images to their targets, in decibels."""
    return float(np.mean([psnr(one(image), target(image)) for image in images]))


def psnr(image: ImageArray, wanted: ImageArray) -> float:
    error = np.square(image.astype(np.float64) - wanted).mean()
    return float(10 * np.log10(255**2 / max(error, 1e-10)))


def draw(filters: dict[str, Filter], out: Path) -> None:
    """Photographs with their diffusion and every filter, side by side."""
    from benchmarks.texture_sheet import photographs as licensed

    images = [shrunk(image) for image in licensed()]
    learned = {name: one for name, one in filters.items() if name != "input"}
    rows = [[image, target(image), *(one(image) for one in learned.values())] for image in images]
    sheet(rows, ["photograph", "diffusion", *learned], side=160).save(out, quality=88)


if __name__ == "__main__":
    main()
