"""What a pretrained encoder is worth for detection, segmentation and classification.

    python -m benchmarks.transfer --model RUN --only scenes|pets --out FOLDER [--json FILE]

`scenes` fine-tunes an encoder that was pretrained on `shapes` on drawn scenes of 128 px, three
seeds: AP50 of boxes and mean IoU of masks on `scene-test`. `pets` fine-tunes an encoder that was
pretrained on Imagenette on the Oxford-IIIT Pets of the test data, one seed: top-1 of breeds, mean
IoU of the animal, AP50 of heads on `val`. Beside each stands the same network from scratch, with
the same steps. A run that exists is continued, or read if it is finished, so that the command can
be repeated at any time; `--jobs 2` trains two at a time with one thread each.
"""

import argparse
import tarfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from statistics import mean

import torch

from benchmarks.common import real_data, report
from unshortcut.models.card import load_exported, save_encoder
from unshortcut.models.encoder import create_encoder
from unshortcut.transfer.finetuning import finetune

SEEDS = {"scenes": 3, "pets": 1}


@dataclass(frozen=True)
class Job:
    """One fine-tuning."""

    name: str
    """E.g. `scenes_segment`."""
    data: str
    task: str
    protocol: str
    metric: str
    start: str = "pretrained"
    seed: int = 0
    model: str = ""
    out: str = ""


JOBS = {
    "scenes": [
        Job("detect", "shapes@scene-train", "detect", "detect-shapes", "scene-test ap50"),
        Job("segment", "shapes@scene-train", "segment", "segment-shapes", "scene-test miou"),
    ],
    "pets": [
        Job("breeds", "oxford-pets:{pets}@train", "classify", "classify-pets", "val top1"),
        Job("animals", "oxford-pets:{pets}@train", "segment", "segment-pets", "val miou"),
        Job("heads", "oxford-pets:{pets}@train", "detect", "detect-pets", "val ap50"),
    ],
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transfer")
    parser.add_argument("--model", required=True, metavar="RUN", help="the pretrained encoder")
    parser.add_argument("--only", choices=list(JOBS), required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the runs")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    jobs = list(planned(arguments.only, arguments.model, arguments.out))
    if arguments.jobs == 1:
        values = [run(job) for job in jobs]
    else:
        with ProcessPoolExecutor(arguments.jobs, get_context("spawn"), one_thread) as pool:
            values = list(pool.map(run, jobs))
    figures: dict[str, float] = {}
    for job, value in zip(jobs, values, strict=True):
        print(f"{job.name} {job.start} seed {job.seed}: {value:.2f}")
        figures[f"{arguments.only}_{job.name}_{job.start}_seed{job.seed}"] = value
    for job in JOBS[arguments.only]:
        for start in ("pretrained", "scratch"):
            own = [
                v
                for one, v in zip(jobs, values, strict=True)
                if (one.name, one.start) == (job.name, start)
            ]
            figures[f"{arguments.only}_{job.name}_{start}"] = mean(own)
    module = f"transfer --only {arguments.only}"
    report(module, figures, ["torch", "torchvision", "timm", "lightning"], arguments.json)


def planned(kind: str, model: str, out: Path) -> Iterator[Job]:
    """All jobs: from the pretrained encoder and from scratch, by seed."""
    weights = Path(model) / "encoder.safetensors" if Path(model).is_dir() else Path(model)
    pets = unpacked(out) if kind == "pets" else ""
    for seed in range(SEEDS[kind]):
        for job in JOBS[kind]:
            for start in ("pretrained", "scratch"):
                yield replace(
                    job,
                    data=job.data.format(pets=pets),
                    start=start,
                    seed=seed,
                    model=str(weights if start == "pretrained" else untrained(weights, out, seed)),
                    out=str(out / f"{job.name}-{start}-{seed}"),
                )


def run(job: Job) -> float:
    """Fine-tune, or read the result of a finished run."""
    sets = [f"seed={job.seed}"]
    done = finetune(job.model, job.data, job.task, job.out, protocol=job.protocol, sets=sets)
    return done.metrics[job.metric]


def untrained(weights: Path, out: Path, seed: int) -> Path:
    """The same encoder with initial weights."""
    _, _, card = load_exported(weights)
    path = out / f"untrained-{seed}.safetensors"
    if not path.is_file():
        card = card.model_copy(update={"classes": None})
        save_encoder(create_encoder(card.encoder, seed), card, path)
    return path


def unpacked(out: Path) -> Path:
    """The Pets of the test data as a folder."""
    folder = out / "pets"
    if not folder.is_dir():
        with tarfile.open(real_data("pets.tar")) as archive:
            archive.extractall(folder, filter="data")
    return folder


def one_thread() -> None:
    torch.set_num_threads(1)


if __name__ == "__main__":
    main()
