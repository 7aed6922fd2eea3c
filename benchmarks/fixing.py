"""How much of what a planted tag costs `unshortcut fix` wins back.

    python -m benchmarks.fixing --out FOLDER [--only shapes|imagenette] [--json FILE]

trains a small classifier on images of which 95 % of one class carry a tag in a corner, lets
`carriers` find the images that carry it, and fixes the head with that list; and so for three
classes in turn, because a single gap is some dozens of images wide. The figures are means over the
three of accuracies on test images without the tag, of all classes and of the tagged one: of the old
head, of the fixed one, and of a linear probe on the same features that was fitted on images without
the tag. `closed` is the share of the gap between the first and the last mean that the fixed head
closes, and `follows` the share of test images of other classes that are taken for the tagged class
once they carry the tag. A run that exists is continued, or read if it is finished.
"""

import argparse
import tarfile
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from rich.console import Console

from benchmarks.common import real_data, report
from unshortcut.data.open import open_data
from unshortcut.fixing.carriers import find_carriers
from unshortcut.fixing.first_head import load_frozen, probe_head
from unshortcut.fixing.run import fix
from unshortcut.inference.features import Features, compute_features
from unshortcut.measuring.linear_head import Head
from unshortcut.training.pretraining import pretrain

WHOLE = "views.augmentations=[{name: random_resized_crop, scale: [0.8, 1.0]}]"
"""Views show nearly the whole image: a crop would often leave out the corner with the tag."""


@dataclass(frozen=True)
class Case:
    """Data with a planted tag, and the training of a classifier that may go by it."""

    tagged: tuple[str, ...]
    """The classes that carry it in turn."""
    train: str
    refit: str
    test: str
    recipe: str
    sets: tuple[str, ...]


CASES = {
    "shapes": Case(
        ("house", "mushroom", "tree"),
        "shapes@paired",
        "shapes@paired-test",
        "shapes@unseen",
        "supervised-marks-shapes",
        (WHOLE,),
    ),
    "imagenette": Case(
        ("n01440764", "n02102040", "n02979186"),
        "{photographs}@train",
        "{photographs}@val",
        "{photographs}@test",
        "supervised-marks-shapes",
        (
            WHOLE,
            "schedule.epochs=10",
            "encoder.options={layers: [1, 1, 1, 1], channels: [32, 64, 128, 256], "
            "stem_type: deep, stem_width: 8}",
        ),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fixing")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the runs")
    parser.add_argument("--only", choices=list(CASES))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    figures: dict[str, float] = {"seed": 0}
    for name, case in CASES.items():
        if arguments.only in (None, name):
            figures |= {
                f"{name}_{key}": value for key, value in measure(name, case, arguments.out).items()
            }
    report("fixing --out FOLDER", figures, ["torch", "timm", "scikit-learn"], arguments.json)


def measure(name: str, case: Case, out: Path) -> dict[str, float]:
    """The means over the tagged classes, in percent."""
    found = [measure_class(name, case, tagged, out) for tagged in case.tagged]
    figures = {key: mean(one[key] for one in found) for key in found[0]}
    for scope in ("all", "tagged_class"):
        gap = figures[f"probe_{scope}"] - figures[f"old_{scope}"]
        gain = figures[f"fixed_{scope}"] - figures[f"old_{scope}"]
        figures[f"closed_{scope}"] = 100 * gain / gap if gap > 0 else float("nan")
    return figures


def measure_class(name: str, case: Case, tagged: str, out: Path) -> dict[str, float]:
    """Train, list and fix with a tag in one class; accuracies in percent."""
    folder = str(photographs(out / "photographs")) if "{photographs}" in case.train else ""
    specs = (case.train, case.refit, case.test)
    train, refit, test = (spec.format(photographs=folder) for spec in specs)
    tag, run = f"tag=0.95,of={tagged}:", out / f"{name}-{tagged}"
    console = Console(stderr=True)
    pretrain(case.recipe, f"{tag}{train}", run, sets=list(case.sets), resume=True, console=console)
    with_tag = open_data(f"{tag}{refit}")
    found = find_carriers(str(run), with_tag, train=f"{tag}{train}", console=console)
    listed = run.with_name(f"{run.name}-carriers.csv")
    found.write(listed)
    rows = with_tag.carriers.nonzero()[0].tolist()  # type: ignore[attr-defined]
    carries = {with_tag.identity(row) for row in rows}
    images = {one.image for one in found.carriers}
    fixed = fix(
        str(run),
        with_tag,
        run.with_name(f"{run.name}-fixed"),
        groups=listed,
        test=f"{tag}{test}",
        only=("confidence",),
        console=console,
    )
    frozen, plain = load_frozen(str(run)), open_data(test)
    assert plain.classes is not None
    own = frozen.own_head(plain.classes)
    assert own is not None
    clean = compute_features(frozen.features, open_data(refit))
    heads = {
        "old": own,
        "fixed": fixed.outcome.head,
        "probe": probe_head(clean, len(plain.classes), seed=0),
    }
    tested = compute_features(frozen.features, plain)
    in_all = "".join(f"tag=1,of={one}:" for one in plain.classes)
    everywhere = compute_features(frozen.features, open_data(f"{in_all}{test}"))
    figures = {
        "carriers_found": 100 * len(images & carries) / len(carries),
        "carriers_wrong": 100 * len(images - carries) / max(len(images), 1),
    }
    own_class = plain.classes.index(tagged)
    for key, head in heads.items():
        figures |= accuracies(head, tested, own_class, key)
        others = everywhere.required_labels() != own_class
        taken = head.predict(everywhere.values[others]) == own_class
        figures[f"{key}_follows"] = 100 * float(taken.mean())
    return figures


def accuracies(head: Head, features: Features, tagged: int, key: str) -> dict[str, float]:
    """Accuracy of a head on images without the tag, of all classes and of one."""
    labels = features.required_labels()
    right = head.predict(features.values) == labels
    return {
        f"{key}_all": 100 * float(right.mean()),
        f"{key}_tagged_class": 100 * float(right[labels == tagged].mean()),
    }


def photographs(folder: Path) -> Path:
    """Imagenette: two thirds of its `train` as `train`, the others as `test`, and its `val`.

    A head is refitted on `val`. A third of `train` is more to test on than a half of `val`, on
    which the gap of one class is as wide as chance.
    """
    if (folder / "test").is_dir():
        return folder
    with tarfile.open(real_data("imagenette-112.tar")) as archive:
        seen = 0
        for member in archive.getmembers():
            if not member.isfile():
                continue
            split, label, name = Path(member.name).parts[-3:]
            if split == "train":
                seen += 1
                split = ("train", "train", "test")[seen % 3]
            target = folder / split / label / name
            target.parent.mkdir(parents=True, exist_ok=True)
            content = archive.extractfile(member)
            assert content is not None
            target.write_bytes(content.read())
    return folder


if __name__ == "__main__":
    main()
