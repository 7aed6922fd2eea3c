"""Stimuli with conflicting cues: the shape of one class, the texture of another.

File names carry both labels, as Geirhos et al. (2019) publish them: `SHAPE/SHAPEn-TEXTUREm.png`.
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

# WordNet ids end in digits of their own. Otherwise numbers end a class name, so that one may have
# a hyphen (t-shirt1-dog2); they may be left out.
_NAMES = (
    re.compile(r"(n\d{8})\d*-(n\d{8})\d*"),
    re.compile(r"(.+?)\d+-(.+?)\d*"),
    re.compile(r"([^-]+)-([^-]+?)\d*"),
)


@dataclass(frozen=True)
class Conflict:
    """Stimuli, and the classes of their two cues."""

    source: ImageSource
    classes: tuple[str, ...]
    """That are decided among: those of the cues, or all 16 categories where they are of these."""
    shapes: NDArray[np.int64]
    """(N,) places in `classes`."""
    textures: NDArray[np.int64]
    """(N,) likewise."""


def open_conflict(spec: str | Path | ImageSource) -> Conflict:
    """The stimuli of a folder or tar file, or of `shapes@conflict`."""
    if isinstance(spec, Shapes):
        return _drawn(spec)
    if not isinstance(spec, ImageSource) and DataSpec.parse(spec).where in SHAPES:
        source = open_data(spec, split=DataSpec.parse(spec).split or "conflict")
        assert isinstance(source, Shapes)
        return _drawn(source)
    source = open_data(spec)
    if not len(source):
        raise UsageError(f"'{spec}' holds no conflict stimuli")
    folders = frozenset(source.classes or ())
    cues = [cues_of(source.identity(index), folders) for index in range(len(source))]
    named = [cue for cue in cues if cue is not None]
    if len(named) < len(cues):
        odd = source.identity(cues.index(None))
        raise UsageError(
            f"'{odd}' does not name its cues ({len(cues) - len(named)} of {len(cues)} images do "
            "not): conflict stimuli are called SHAPE1-TEXTURE2.png, the shape's class first"
        )
    names = {name for cue in named for name in cue}
    classes = tuple(CATEGORIES) if names <= set(CATEGORIES) else tuple(sorted(names))
    shapes, textures = zip(*named, strict=True)
    return Conflict(source, classes, _places(shapes, classes), _places(textures, classes))


def cues_of(identity: str, known: Collection[str] = ()) -> tuple[str, str] | None:
    """Shape and texture that a file name states, without their numbers; None where it does not.

    Names of classes that are known are recognized whatever hyphens and digits they have.
    """
    stem = PurePosixPath(identity).stem
    hyphens = [place for place, character in enumerate(stem) if character == "-"]
    halves = [(stem[:place], stem[place + 1 :]) for place in hyphens]
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
    """The longest known name that a text is, but for digits at its end."""
    shortest = len(text.rstrip("0123456789"))
    ends = range(len(text), shortest - 1, -1)
    return next((text[:end] for end in ends if text[:end] in known), None)


def _drawn(source: Shapes) -> Conflict:
    """The embedded shapes know their cues; a texture has the name of the shape it goes with."""
    if min(source.shape_labels.min(), source.texture_labels.min()) < 0:
        raise UsageError(f"the split '{source.split}' of shapes has no two cues; 'conflict' has")
    return Conflict(source, SHAPE_NAMES, source.shape_labels, source.texture_labels)


def _places(names: tuple[str, ...], classes: tuple[str, ...]) -> NDArray[np.int64]:
    place = {name: at for at, name in enumerate(classes)}
    return np.array([place[name] for name in names], dtype=np.int64)
