"""MoCo-v2 with a small encoder on real images: kNN accuracy compared with simple baselines.

    python -m benchmarks.real_data --out RUN [--json FILE]

trains the recipe `moco-v2-imagenette` on the Imagenette images of the test data (at most half an
hour on two cores; an interrupted run is continued), then classifies `val` by the nearest neighbors
in `train`, with k chosen by leave-one-out on `train`. The baselines are the untrained encoder and
raw pixels.
"""

import argparse
import time
from pathlib import Path

import torch

from benchmarks.common import real_data, report
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.load import LoadedModel, from_module
from unshortcut.probes.run import probe
from unshortcut.recipes.load import load_recipe
from unshortcut.training.fit import preprocessing
from unshortcut.training.folder import RunFolder
from unshortcut.training.pretraining import build_method, pretrain

RECIPE = "moco-v2-imagenette"
PIXELS = 32


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_data")
    parser.add_argument("--out", type=Path, required=True, metavar="RUN", help="the run folder")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    data = real_data("imagenette-112.tar")
    recipe = load_recipe(RECIPE)
    started = time.monotonic()
    pretrain(recipe, data, arguments.out, resume=RunFolder(arguments.out).recipe.exists())
    minutes = (time.monotonic() - started) / 60
    models = {
        "trained": str(arguments.out),
        "untrained": from_module("untrained", build_method(recipe).encoder, preprocessing(recipe)),
        "pixels": pixels(),
    }
    figures = {
        f"knn_{name}": probe(model, data, "knn").scores["val"].mean
        for name, model in models.items()
    }
    gain = figures["knn_trained"] - max(figures["knn_untrained"], figures["knn_pixels"])
    figures |= {"knn_gain": gain, "training_minutes": minutes, "seed": recipe.seed}
    report("real_data", figures, ["torch", "timm", "lightning"], arguments.json)


def pixels() -> LoadedModel:
    """A model whose features are the pixels of the image at 32 px."""
    shown = Preprocessing(size=PIXELS, crop_share=1.0)
    return from_module("pixels", torch.nn.Flatten(), shown)


if __name__ == "__main__":
    main()
