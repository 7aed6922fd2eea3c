"""What a protocol loses on cached copies: random crops made anew in every epoch as the reference.

The protocol is that of non-semantic negatives (60 epochs of SGD), the encoder EfficientNet-Lite0
with ImageNet weights (`examples/efficientnet_lite.py`) at 96 px. 1,000 images of Oxford-IIIT Pets
(37 breeds) are for training, the other 2,686 for testing, with five seeds. The classifier is
trained on the center crop, on 1 to 20 cached copies with random resized crops and flips, and on new
ones in every epoch. Crops are keyed by epoch, so the copies are the first epochs of the new ones,
and the features of all are computed once. Seconds are CPU time, with one thread for the model.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, stdev

import numpy as np
import torch

from benchmarks.common import json_target, real_data, report
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource, Joined, Subset
from unshortcut.inference.features import Features, compute_features
from unshortcut.models.load import LoadedModel, load_model
from unshortcut.probes.matrices import Labeled
from unshortcut.probes.protocol_training import FeaturesByEpoch, run_protocol
from unshortcut.probes.protocols import NSN
from unshortcut.randomness import generator

TRAIN = 1000
SIZE = 96
COPIES = (1, 2, 5, 10, 20)
SEEDS = range(5)


def main() -> None:
    target = json_target("protocols")
    torch.set_num_threads(1)
    model = encoder()
    train, test = pets()
    held = {"test": labeled(features(model, test))}
    center = timed(model, train, [None])
    fresh = timed(model, train, range(NSN.epochs))
    per_copy = sum(seconds for _, seconds in fresh) / len(fresh)
    figures = {"protocol_images_per_cpu_second": TRAIN / per_copy}
    trained = {"center": center, **{f"{k}_copies": fresh[:k] for k in COPIES}, "fresh": fresh}
    for name, copies in trained.items():
        start = time.process_time()
        used = cycled([copy for copy, _ in copies])
        found = run_protocol(NSN, used, held, seeds=SEEDS)["test"]
        spent = time.process_time() - start
        top1 = [100 * one.top1 for one in found]
        figures |= {
            f"protocol_accuracy_{name}": fmean(top1),
            f"protocol_std_{name}": stdev(top1),
            f"protocol_top5_{name}": 100 * fmean(one.top5 or 0.0 for one in found),
            f"protocol_cpu_seconds_{name}": sum(seconds for _, seconds in copies) + spent,
        }
    for name in trained:
        gap = figures[f"protocol_accuracy_{name}"] - figures["protocol_accuracy_fresh"]
        figures[f"protocol_gap_{name}"] = gap
    report("protocols", figures, ["torch", "numpy", "efficientnet_lite_pytorch"], target)


def encoder() -> LoadedModel:
    """The network at a smaller size than it was trained at; it has 1280 features."""
    model = load_model("examples.efficientnet_lite:efficientnet_lite0")
    return replace(model, preprocessing=model.preprocessing.model_copy(update={"size": SIZE}))


def pets() -> tuple[ImageSource, ImageSource]:
    """A random choice of images to train on, and the others."""
    path = real_data("pets.tar")
    everything = Joined(*(open_data(path, split=split) for split in ("train", "val")))
    order = generator("benchmark", "protocols").permutation(len(everything))
    return Subset(everything, order[:TRAIN]), Subset(everything, np.sort(order[TRAIN:]))


def timed(
    model: LoadedModel, source: ImageSource, epochs: Sequence[int | None]
) -> list[tuple[Labeled, float]]:
    """Labeled features of the crops of each epoch (None: center crops), and their CPU seconds."""
    found = []
    for epoch in epochs:
        start = time.process_time()
        copy = labeled(features(model, source, epoch))
        found.append((copy, time.process_time() - start))
    return found


def cycled(copies: Sequence[Labeled]) -> FeaturesByEpoch:
    return lambda epoch: copies[epoch % len(copies)]


def features(model: LoadedModel, source: ImageSource, epoch: int | None = None) -> Features:
    return compute_features(model, source, workers=1, crops_of=epoch, cache=False)


def labeled(found: Features) -> Labeled:
    return found.values, found.required_labels()


if __name__ == "__main__":
    main()
