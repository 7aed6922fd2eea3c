"""Cues, and the list of images that carry them."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from unshortcut.arrays import ImageArray
from unshortcut.files import write_text
from unshortcut.fixing.cues import BOX_COLUMNS, Box
from unshortcut.imaging.template import Template
from unshortcut.measurements.transplant.transplants import Patch
from unshortcut.measuring.estimates import Estimate


@dataclass(frozen=True)
class Carrier:
    """An image that carries a cue."""

    image: str
    split: str
    label: str
    group: str
    """The name of the cue."""
    score: float
    box: Box
    """In pixels of the full image."""
    crop: ImageArray | None = None
    """The image as it was searched, with the cue framed."""


@dataclass(frozen=True)
class Cue:
    """A patch that wins, and where it occurs."""

    name: str
    """Its class and a number, such as `dog-1`."""
    patch: Patch
    template: Template
    threshold: float
    counts: dict[tuple[str, str], tuple[int, int]]
    """By split and class: images that carry it, and all."""
    carried: Estimate
    """Accuracy on the test images of its class that carry it."""
    filled: Estimate
    """The same images with the cue filled from its surroundings."""
    without: Estimate
    """Accuracy on the test images of its class that do not carry it."""


@dataclass(frozen=True)
class Carriers:
    """All cues of a model, and the images that carry them, the best match of each cue first."""

    cues: tuple[Cue, ...]
    carriers: tuple[Carrier, ...]
    num_images: int
    unreadable: int
    tried: int
    """Patches of the audit that were looked at."""

    def write(self, path: str | Path) -> None:
        """Write the list as a CSV file, which `unshortcut fix --groups` takes."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["image", "group", *BOX_COLUMNS, "split", "class", "score"])
        for one in self.carriers:
            box = (f"{end:.1f}" for end in one.box)
            writer.writerow([one.image, one.group, *box, one.split, one.label, f"{one.score:.3f}"])
        write_text(path, text.getvalue())
