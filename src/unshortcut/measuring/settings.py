"""How an audit is made, whatever the measurement."""

from dataclasses import dataclass
from typing import Literal

from unshortcut.measuring.subjects.class_names import Aggregate

Severities = Literal["imagenet", "cifar"]

IMAGES = 2000
"""Images of the data that an audit looks at, at most, unless all are asked for."""


@dataclass(frozen=True)
class Settings:
    """What results depend on beside model and data."""

    full: bool = False
    """Every measurement takes all images."""
    images: int = IMAGES
    """At most, unless `full`; some measurements take a part of them."""
    seed: int = 0
    aggregate: Aggregate = "mean"
    """How a class that stands for several outputs gets its probability."""
    severities: Severities = "imagenet"
    """Of the corruptions."""
