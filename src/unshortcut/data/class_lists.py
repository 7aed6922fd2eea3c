"""Lists of classes of ImageNet and of the data sets derived from it, with their origin.

The ids and names of ImageNet's classes, and the classes of ImageNet-R and ImageNet-A, come with
timm. `lists/` has what timm lacks; the comments at the top of each file say where it is from.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from unshortcut.errors import unknown

LISTS = Path(__file__).parent / "lists"
WORDNET = LISTS / "wordnet.tsv"

_ID = re.compile(r"(?<![0-9A-Za-z])n\d{8}(?!\d)")


def wordnet_ids(name: str) -> tuple[str, ...]:
    """The WordNet ids in the name of a class, such as `n01440764` or `n01440764_tench`.

    A class that stands for several classes of ImageNet has several: ObjectNet's is called
    `tie (n02883205 n04591157)`.
    """
    return tuple(_ID.findall(name))


@cache
def imagenet_1k() -> tuple[str, ...]:
    """WordNet ids of ImageNet's 1000 classes, in the order of a model's outputs."""
    return _timm("imagenet_synsets.txt")


@cache
def imagenet_r() -> tuple[str, ...]:
    """The 200 classes of ImageNet-R (Hendrycks et al. 2021)."""
    return _timm("imagenet_r_synsets.txt")


@cache
def imagenet_a() -> tuple[str, ...]:
    """The 200 classes of ImageNet-A (Hendrycks et al. 2021)."""
    return _timm("imagenet_a_synsets.txt")


@cache
def imagenet_100() -> tuple[str, ...]:
    """The 100 classes of ImageNet-100 (Tian et al. 2020)."""
    return tuple(row[0] for row in tab_separated(LISTS / "imagenet100.tsv"))


@cache
def objectnet() -> Mapping[str, tuple[str, ...]]:
    """The 113 class folders of ObjectNet that overlap with ImageNet, with the ids of its classes.

    13 of them overlap with ImageNet-100 (LooC, appendix B).
    """
    return {folder: tuple(ids.split()) for folder, ids in tab_separated(LISTS / "objectnet.tsv")}


CLASS_LISTS: Mapping[str, Callable[[], tuple[str, ...]]] = {
    "imagenet100": imagenet_100,
    "imagenet-r": imagenet_r,
    "imagenet-a": imagenet_a,
}
"""Lists that select classes of a data set: `imagenet100:FOLDER`."""


def class_list(name: str) -> tuple[str, ...]:
    """The WordNet ids of a list by its name."""
    if name not in CLASS_LISTS:
        raise unknown("list of classes", name, CLASS_LISTS)
    return CLASS_LISTS[name]()


def tab_separated(path: Path) -> list[list[str]]:
    """The rows of a list, with tabs between columns; lines that begin with # are comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def _timm(file: str) -> tuple[str, ...]:
    # Found without importing timm, which takes seconds.
    spec = find_spec("timm")
    assert spec is not None and spec.origin is not None
    return tuple((Path(spec.origin).parent / "data" / "_info" / file).read_text().split())
