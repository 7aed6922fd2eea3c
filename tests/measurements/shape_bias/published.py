"""Decisions on conflict stimuli that somebody else has made and published: networks', humans'.

The files are those of Geirhos et al. (2019) and of model-vs-human: CSV, a trial a line, with the
columns `object_response` (the decision), `category` (the shape's class) and `imagename`, which ends
in `SHAPEn-TEXTUREm.png`.
"""

import csv
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from unshortcut.errors import UsageError
from unshortcut.measuring.shape_bias import CueCounts, shape_bias

COLUMNS = ("object_response", "category", "imagename")


@dataclass(frozen=True)
class Decisions:
    """What was decided on stimuli with two cues, one entry a trial."""

    classes: tuple[str, ...]
    """Of the cues."""
    decided: NDArray[np.int64]
    """(N,) indices into `classes`; -1 for another answer, or none."""
    shapes: NDArray[np.int64]
    """(N,) indices into `classes`."""
    textures: NDArray[np.int64]
    """(N,) likewise."""

    def shape_bias(self) -> CueCounts:
        """Counts over all trials whose cues conflict."""
        return shape_bias(self.decided, self.shapes, self.textures)


def read_decisions(path: str | Path) -> Decisions:
    """The decisions of a file; several subjects in it are pooled. Raises `UsageError`."""
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            table = csv.DictReader(file)
            absent = [name for name in COLUMNS if name not in (table.fieldnames or ())]
            rows = list(table)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"the decisions '{path}' cannot be read: {error}") from None
    if absent:
        raise UsageError(
            f"the decisions '{path}' lack the column '{absent[0]}'; wanted are {', '.join(COLUMNS)}"
        )
    if not rows:
        raise UsageError(f"the decisions '{path}' hold no line under their header")
    cues = []
    for number, row in enumerate(rows, start=2):
        texture = _texture(row["imagename"] or "", row["category"] or "")
        if texture is None:
            raise UsageError(
                f"'{path}', line {number}: the image '{row['imagename']}' of the category "
                f"'{row['category']}' does not end in SHAPE1-TEXTURE2.png"
            )
        cues.append((row["category"], texture))
    classes = tuple(sorted({name for cue in cues for name in cue}))
    index = {name: at for at, name in enumerate(classes)}
    return Decisions(
        classes,
        np.array([index.get(row["object_response"], -1) for row in rows], dtype=np.int64),
        np.array([index[shape] for shape, _ in cues], dtype=np.int64),
        np.array([index[texture] for _, texture in cues], dtype=np.int64),
    )


def _texture(image: str, shape: str) -> str | None:
    """The texture's class in an image's name; a trial's number and more may stand before it."""
    stem = PurePosixPath(image).stem
    match = re.fullmatch(rf"(?:.*_)?{re.escape(shape)}\d*-(.+?)\d*", stem) if shape else None
    return None if match is None else match[1]
