"""The linear probe compared with the papers' SGD protocol: same features, grid and seeds.

Both hold out the same part of the training set for each seed, choose a setting on it, and fit again
on the whole training set. The features are 10,000 × 512, from an untrained ResNet-18 on Imagenette,
with 3,394 test images. Each run of the protocol is timed once; the probe is timed before, between
and after the seeds of the protocol, and the median counts. Both use one thread.

These features are far from the origin, as features after a ReLU are. This slows down SGD at high
learning rates, but not the probe, so a negative accuracy gap is expected; it says nothing about
centered features.
"""

import tarfile
import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, median

import numpy as np
import timm
import torch
from torch import Tensor

from benchmarks.common import json_target, real_data, report
from benchmarks.normalize import to_float
from unshortcut.data.decode import EncodedImage
from unshortcut.probes.holdout import stratified_holdout
from unshortcut.probes.linear import Setting, linear_accuracy
from unshortcut.probes.protocol_training import run_protocol
from unshortcut.probes.protocols import MOCO
from unshortcut.randomness import generator

TRAIN = 10_000
LRS = (0.3, 1.0, 3.0, 10.0)
WEIGHT_DECAYS = (0.0, 1e-5)
SEEDS = (0, 1, 2)
HOLDOUT = 0.2
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

Labeled = tuple[Tensor, Tensor]


def main() -> None:
    target = json_target("probe")
    features, labels = imagenette_features()
    order = torch.from_numpy(generator("benchmark", "probe").permutation(len(labels)))
    train = features[order[:TRAIN]], labels[order[:TRAIN]]
    test = features[order[TRAIN:]], labels[order[TRAIN:]]
    torch.set_num_threads(1)

    def ours() -> tuple[float, float]:
        start = time.perf_counter()
        result = linear_accuracy(
            train,
            {"test": test},
            lrs=LRS,
            weight_decays=WEIGHT_DECAYS,
            seeds=SEEDS,
            holdout=HOLDOUT,
        )
        return time.perf_counter() - start, result.mean("test")

    ours()
    our_seconds = [ours()[0]]
    protocol_seconds, protocol_accuracies = 0.0, []
    for seed in SEEDS:
        start = time.perf_counter()
        protocol_accuracies.append(searched_by_protocol(train, test, seed))
        protocol_seconds += time.perf_counter() - start
        seconds, our_accuracy = ours()
        our_seconds.append(seconds)

    report(
        "probe",
        {
            "probe_seconds_ours": median(our_seconds),
            "probe_seconds_protocol": protocol_seconds,
            "probe_speedup": protocol_seconds / median(our_seconds),
            "probe_accuracy_ours": 100 * our_accuracy,
            "probe_accuracy_protocol": 100 * fmean(protocol_accuracies),
            "probe_accuracy_gap": 100 * (fmean(protocol_accuracies) - our_accuracy),
        },
        ["torch", "timm", "numpy"],
        target,
    )


def searched_by_protocol(train: Labeled, test: Labeled, seed: int) -> float:
    """Test accuracy of the protocol with the setting that is best on the held-out part."""
    features, labels = train
    held = stratified_holdout(labels, HOLDOUT, seed)
    kept, held_out = (features[~held], labels[~held]), (features[held], labels[held])

    def run(setting: Setting, data: Labeled, on: Labeled) -> float:
        protocol = replace(MOCO, lr=setting.lr, weight_decay=setting.weight_decay)
        (found,) = run_protocol(protocol, lambda epoch: data, {"on": on}, seeds=[seed])["on"]
        return found.top1

    grid = [Setting(lr, decay) for lr in LRS for decay in WEIGHT_DECAYS]
    return run(max(grid, key=lambda setting: run(setting, kept, held_out)), train, test)


def imagenette_features() -> Labeled:
    """Features (13394, 512) of an untrained ResNet-18 at 56 px, and their labels."""
    names, pixels = [], []
    with tarfile.open(real_data("imagenette-112.tar")) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                names.append(member.name.split("/")[-2])
                pixels.append(EncodedImage(file.read()).pixels(shrink=2))
    torch.manual_seed(0)
    model = timm.create_model("resnet18", pretrained=False, num_classes=0).eval()
    with torch.inference_mode():
        features = torch.cat(
            [_embed(model, pixels[i : i + 128]) for i in range(0, len(pixels), 128)]
        )
    labels = np.unique(names, return_inverse=True)[1]
    return features.clone(), torch.from_numpy(labels)


def _embed(model: torch.nn.Module, pixels: Sequence[np.ndarray]) -> Tensor:
    embedded: Tensor = model(torch.from_numpy(to_float(np.stack(pixels), MEAN, STD)))
    return embedded


if __name__ == "__main__":
    main()
