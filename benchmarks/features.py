"""Images a second from files to features, with one worker and two, beside torchvision's loader.

Photographs of 500 × 375 px are decoded, cropped to 224 px and normalized for a model that costs
nothing; the peer is `ImageFolder` in a `DataLoader` with torchvision's transforms. A ResNet-50 and
a ViT-S then run over images in memory, beside a plain loop over the same network, each in a fresh
process because glibc's settings stay for the life of a process.
"""

import io
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import PIL.Image
import timm
import torch
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

from benchmarks.common import ROOT, alternate, json_target, read_photos, report
from unshortcut.data.folder import open_folder
from unshortcut.inference.features import compute_features
from unshortcut.inference.images import ImageList
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.load import LoadedModel, load_model

PHOTOS, WORKERS, BATCH, ROUNDS = 384, 2, 64, 7
NETWORKS = {"inference": "resnet50", "inference_vit": "vit_small_patch16_224"}
"""By the beginning of the name of their figures."""
BATCHES, FRESH_ROUNDS = 3, 3
SHOWN = Preprocessing(size=224)


def main() -> None:
    target = json_target("features")
    figures = read_figures()
    for prefix, network in NETWORKS.items():
        figures |= inference_figures(prefix, network)
    report("features", figures, ["torch", "torchvision", "timm", "simplejpeg", "Pillow"], target)


def read_figures() -> dict[str, float]:
    """Reading alone, for a model that costs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        write_photos(Path(folder))
        source = open_folder(Path(folder))
        model = LoadedModel("free", SHOWN, lambda images: images[:, :, 0, 0], None)
        peer = torchvision_loader(Path(folder))

        def features(workers: int) -> None:
            compute_features(model, source, workers=workers, cache=False)

        speedup = alternate(lambda _: features(WORKERS), lambda _: features(1), 1, ROUNDS)
        beside = alternate(
            lambda _: features(WORKERS),
            lambda _: [model.features(images) for images, _ in peer],
            1,
            ROUNDS,
        )
    return {
        "features_images_per_second": PHOTOS / median(beside.ours),
        "features_images_per_second_torchvision": PHOTOS / median(beside.peer),
        "feature_workers_speedup": speedup.ratio,
        "features_vs_torchvision": beside.ratio,
    }


def write_photos(folder: Path) -> None:
    """JPEG files in two class folders."""
    try:
        photos = [PIL.Image.open(io.BytesIO(photo)).convert("RGB") for photo in read_photos()]
    except SystemExit:  # no real data: noise of a photograph's size and roughly its detail
        noise = np.random.default_rng(0).integers(0, 256, (64, 94, 125, 3), dtype=np.uint8)
        photos = [PIL.Image.fromarray(one) for one in noise]
    resized = [photo.resize((500, 375)) for photo in photos]
    for number in range(PHOTOS):
        path = folder / ("even", "odd")[number % 2] / f"{number}.jpg"
        path.parent.mkdir(exist_ok=True)
        resized[number % len(resized)].save(path, quality=90)


def torchvision_loader(folder: Path) -> DataLoader[tuple[torch.Tensor, int]]:
    """The peer; its workers stay, so that starting them is not timed."""
    steps = [
        transforms.Resize(round(SHOWN.size / SHOWN.crop_share)),
        transforms.CenterCrop(SHOWN.size),
        transforms.ToTensor(),
        transforms.Normalize(SHOWN.mean, SHOWN.std),
    ]
    dataset = ImageFolder(str(folder), transforms.Compose(steps))
    return DataLoader(dataset, BATCH, num_workers=WORKERS, persistent_workers=True)


def inference_figures(prefix: str, network: str) -> dict[str, float]:
    """A network over images in memory, ours and a plain loop in turn, in fresh processes."""
    rates: dict[str, list[float]] = {"ours": [], "plain": []}
    for number in range(FRESH_ROUNDS):
        for which in ("ours", "plain") if number % 2 else ("plain", "ours"):
            code = (
                "from benchmarks.features import inference_rate; "
                f"print(inference_rate('{which}', '{network}'))"
            )
            done = subprocess.run(
                [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
            )
            rates[which].append(float(done.stdout.split()[-1]))
    ratios = [ours / plain for ours, plain in zip(rates["ours"], rates["plain"], strict=True)]
    return {
        f"{prefix}_images_per_second": median(rates["ours"]),
        f"{prefix}_images_per_second_plain_loop": median(rates["plain"]),
        f"{prefix}_vs_plain_loop": median(ratios),
    }


def inference_rate(which: str, network: str) -> float:
    """Images a second, after a first batch that is not timed."""
    torch.set_num_threads(2)
    pixels = np.random.default_rng(0).integers(0, 256, (BATCH, 224, 224, 3), dtype=np.uint8)
    run = _ours(pixels, network) if which == "ours" else _plain(pixels, network)
    run(1)
    start = time.perf_counter()
    run(BATCHES)
    return BATCHES * BATCH / (time.perf_counter() - start)


def _ours(pixels, network):  # type: ignore[no-untyped-def]
    model = load_model(f"timm:{network}@random", crop=1.0)
    return lambda batches: compute_features(
        model, ImageList(list(pixels) * batches), cache=False, workers=WORKERS
    )


def _plain(pixels, network):  # type: ignore[no-untyped-def]
    model = timm.create_model(network, pretrained=False, num_classes=0).eval()
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous()
    mean, std = (torch.tensor(values).view(1, 3, 1, 1) for values in (SHOWN.mean, SHOWN.std))

    @torch.no_grad()
    def run(batches: int) -> torch.Tensor:
        return torch.cat([model((images / 255 - mean) / std) for _ in range(batches)])

    return run


if __name__ == "__main__":
    main()
