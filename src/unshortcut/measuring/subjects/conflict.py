"""Conflict stimuli: images with the shape of one class and the texture of another.

File names state both classes, as in the stimuli of Geirhos et al. (2019):
`SHAPE/SHAPE1-TEXTURE2.png`.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.named import SHAPES
from unshortcut.data.open import DataSpec, open_data
from unshortcut.data.shapes import SHAPE_NAMES, Shapes
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.measuring.subjects.class_names import CATEGORIES

# WordNet ids end in digits of their own. Otherwise a number ends the name of a class, which may
# then have a hyphen (t-shirt1-dog2). The number may be left out.
_NAMES = (
    re.compile(r"(n\d{8})\d*-(n\d{8})\d*"),
    re.compile(r"(.+?)\d+-(.+?)\d*"),
    re.compile(r"([^-]+)-([^-]+?)\d*"),
)


@dataclass(frozen=True)
class Conflict:
    """Conflict stimuli with the classes of their two cues."""

    source: ImageSource
    classes: tuple[str, ...]
    """Classes to decide among: those of the cues, or all 16 categories of Geirhos et al. where
    every cue is one of them."""
    shapes: NDArray[np.int64]  # (N,), indices into `classes`
    textures: NDArray[np.int64]  # (N,), indices into `classes`


def open_conflict(spec: str | Path | ImageSource) -> Conflict:
    """Open the stimuli in a folder or tar file, or those of `shapes@conflict`."""
    if isinstance(spec, Shapes):
        return _from_shapes(spec)
    if not isinstance(spec, ImageSource) and DataSpec.parse(spec).where in SHAPES:
        source = open_data(spec, split=DataSpec.parse(spec).split or "conflict")
        assert isinstance(source, Shapes)
        return _from_shapes(source)
    source = open_data(spec)
    if not len(source):
        raise UsageError(f"'{spec}' has no conflict stimuli")
    folders = frozenset(source.classes or ())
    cues = [cues_of(source.identity(index), folders) for index in range(len(source))]
    named = [cue for cue in cues if cue is not None]
    if len(named) < len(cues):
        first = source.identity(cues.index(None))
        raise UsageError(
            f"'{first}' does not name its cues ({len(cues) - len(named)} of {len(cues)} images do "
            "not); the file name of a conflict stimulus is SHAPE1-TEXTURE2.png, the shape first"
        )
    names = {name for cue in named for name in cue}
    classes = tuple(CATEGORIES) if names <= set(CATEGORIES) else tuple(sorted(names))
    index = {name: number for number, name in enumerate(classes)}
    labels = np.array([[index[name] for name in cue] for cue in named], dtype=np.int64)
    return Conflict(source, classes, shapes=labels[:, 0], textures=labels[:, 1])


def cues_of(identity: str, known: Collection[str] = ()) -> tuple[str, str] | None:
    """Classes of shape and texture in a file name, or None; `known` names may have hyphens."""
    stem = PurePosixPath(identity).stem
    halves = [(stem[: at.start()], stem[at.end() :]) for at in re.finditer("-", stem)]
    for left, right in halves:
        shape, texture = _known(left, known), _known(right, known)
        if shape is not None and texture is not None:
            return shape, texture
    for left, right in reversed(halves):
        shape, texture = _known(left, known), right.rstrip("0123456789")
        if shape is not None and texture:
            return shape, texture
    for pattern in _NAMES:
        match = pattern.fullmatch(stem)
        if match is not None:
            return match[1], match[2]
    return None


def _known(text: str, known: Collection[str]) -> str | None:
    """The longest known name that a text consists of, apart from digits at its end."""
    shortest = len(text.rstrip("0123456789"))
    ends = range(len(text), shortest - 1, -1)
    return next((text[:end] for end in ends if text[:end] in known), None)


def _from_shapes(source: Shapes) -> Conflict:
    """The built-in shapes know their cues; each texture is named after the shape it goes with."""
    cues = source.texture_labels
    if cues.min() < 0 or cues.max() >= len(SHAPE_NAMES):
        raise UsageError(
            f"the images of shapes@{source.split} do not have two cues; use shapes@conflict"
        )
    return Conflict(source, SHAPE_NAMES, source.shape_labels, cues)
