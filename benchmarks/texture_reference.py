"""Texture synthesis compared with the papers' Rust tool and with patch tiling.

There are 40 pairs of example patches with the tool's result for each. The statistics are those of
`benchmarks.texture_statistics`. The settings of the synthesis were chosen on the even pairs.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import PIL.Image
from rich.console import Console
from rich.table import Table

from benchmarks.common import real_data, report
from benchmarks.texture_statistics import find_copied_pieces, gram_distance, wasserstein_distance
from unshortcut.imaging.synthesis import synthesize_texture
from unshortcut.views.sheet import sheet

SIDE, SMALLEST, LARGEST = 224, 16, 72
METHODS = ("ours", "rust", "tiling")
STATISTICS = (
    "wasserstein", "gram", "copied_area", "copied_region", "share_center", "share_random",
    "share_larger",
)  # fmt: skip
PAIRS = {"all": slice(None), "even": slice(0, None, 2), "odd": slice(1, None, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.texture_reference", description=__doc__
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--sheet", type=Path, metavar="PNG", help="write a contact sheet there")
    arguments = parser.parse_args()
    pairs = read_pairs(real_data("texture-reference"))
    results = [make(*pair, number) for number, pair in enumerate(pairs)]
    values = {
        method: np.array(
            [
                measure(textures[method], pair[:2])
                for textures, pair in zip(results, pairs, strict=True)
            ]
        )
        for method in METHODS
    }
    for name, chosen in PAIRS.items():
        show(f"{name} pairs", {method: one[chosen] for method, one in values.items()})
    report("texture_reference", figures(values), ["numpy", "numba"], arguments.json)
    if arguments.sheet is not None:
        rows = [
            [*pair[:2], textures["rust"], textures["ours"]]
            for textures, pair in zip(results, pairs, strict=True)
        ]
        sheet(rows, ["center", "random", "Rust tool", "ours"], side=SIDE).save(arguments.sheet)


def read_pairs(folder: Path) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Center patch, random patch and the tool's result of every pair."""
    return [
        (
            _read(path),
            _read(path.with_name(path.name.replace("centre", "random"))),
            _read(path.with_name(path.name.replace("centre", "reference"))),
        )
        for path in sorted(folder.glob("*-centre.png"))
    ]


def make(
    center: np.ndarray, random: np.ndarray, reference: np.ndarray, number: int
) -> dict[str, np.ndarray]:
    """The textures to compare by method."""
    return {
        "ours": synthesize_texture([center, random], SIDE, SIDE),
        "rust": reference,
        "tiling": tiled([center, random], np.random.default_rng(number)),
    }


def tiled(examples: Sequence[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Square patches of one random side, from random positions of random examples."""
    side = int(rng.integers(SMALLEST, LARGEST + 1))
    out = np.empty((SIDE, SIDE, 3), np.uint8)
    for top in range(0, SIDE, side):
        for left in range(0, SIDE, side):
            example = examples[rng.integers(len(examples))]
            y, x = rng.integers(np.subtract(example.shape[:2], side) + 1)
            hole = out[top : top + side, left : left + side]
            hole[:] = example[y : y + hole.shape[0], x : x + hole.shape[1]]
    return out


def measure(result: np.ndarray, examples: Sequence[np.ndarray]) -> list[float]:
    """The `STATISTICS` of a result."""
    copied = find_copied_pieces(result, examples)
    return [
        wasserstein_distance([result], examples),
        gram_distance([result], examples),
        copied.median_area,
        copied.median_region,
        *copied.shares,
        max(copied.shares),
    ]


def show(title: str, values: Mapping[str, np.ndarray]) -> None:
    """Print means over pairs and, except for shares, how often our value is lower."""
    table = Table("statistic", *METHODS, "below rust", "below tiling", title=title)
    for column, statistic in enumerate(STATISTICS):
        means = [f"{values[method][:, column].mean():.4g}" for method in METHODS]
        wins = [
            f"{int((values['ours'][:, column] < values[other][:, column]).sum())}"
            f" of {len(values['ours'])}"
            for other in METHODS[1:]
        ]
        is_share = statistic.startswith("share")
        table.add_row(statistic, *means, *(["", ""] if is_share else wins))
    Console().print(table)


def figures(values: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Means over all pairs and, for the two distances, also over even and odd pairs."""
    found = {}
    for column, statistic in enumerate(STATISTICS):
        for method in METHODS:
            for name, chosen in PAIRS.items():
                if name == "all" or column < 2:
                    ending = "" if name == "all" else f"_{name}"
                    mean = float(values[method][chosen, column].mean())
                    found[f"synthesis_{statistic}_{method}{ending}"] = mean
        if column < 2:
            lower = values["ours"][:, column] < values["rust"][:, column]
            found[f"synthesis_{statistic}_wins"] = float(lower.mean())
    return found


def _read(path: Path) -> np.ndarray:
    with PIL.Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


if __name__ == "__main__":
    main()
