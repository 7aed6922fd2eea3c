"""Specs of published weights: `timm:NAME@FILE`, `torchvision:NAME@FILE`, or a file alone."""

from dataclasses import dataclass
from pathlib import Path

RANDOM = "random"
"""`timm:NAME@random` is the untrained model, not a file."""
LIBRARIES = ("timm", "torchvision")
SUFFIXES = (".pth", ".pt", ".tar", ".ckpt", ".bin")
"""Suffixes of files that are recognized without the name of an architecture; `.safetensors` files
alone are exports of unshortcut, whose cards also state the preprocessing."""


@dataclass(frozen=True)
class PublishedSpec:
    """A file of weights, and what the user says about it."""

    path: Path
    library: str | None = None
    architecture: str | None = None
    part: str | None = None
    """Which of several encoders in the file to take, by a part of its prefix, e.g. `student`."""


def parse_published(spec: str | Path) -> PublishedSpec | None:
    """Parse a spec; None if it does not name published weights.

    `:PART` after the file chooses among several encoders in it, e.g. `dino.pth:student`.

    >>> parse_published("timm:resnet50@moco.pth.tar").architecture
    'resnet50'
    >>> parse_published("timm:resnet50@random") is None
    True
    """
    text = str(spec)
    origin, colon, rest = text.partition(":")
    if colon and origin in LIBRARIES:
        name, at, file = rest.partition("@")
        if not at or file == RANDOM:
            return None
        path, part = _split(file)
        return PublishedSpec(path, origin, name, part)
    path, part = _split(text)
    if path.suffix not in SUFFIXES or (part and not path.is_file()) or path.is_dir():
        return None
    return PublishedSpec(path, part=part)


def _split(text: str) -> tuple[Path, str | None]:
    """A file and the part after its last colon, unless the colon belongs to the file's name."""
    file, colon, part = text.rpartition(":")
    if not colon or Path(text).is_file():
        return Path(text).expanduser(), None
    return Path(file).expanduser(), part
