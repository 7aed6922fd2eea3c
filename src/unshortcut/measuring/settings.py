"""Settings shared by all measurements of an audit."""

from dataclasses import dataclass
from typing import Literal

from unshortcut.measuring.subjects.class_names import Aggregate

Input = Literal["conflict", "shifts", "hierarchy"]
"""Optional inputs of an audit besides models and data."""
Severities = Literal["imagenet", "cifar"]

MAX_IMAGES = 2000
"""Default limit on the images of an audit."""


@dataclass(frozen=True)
class Settings:
    """Everything besides the model and the data that results depend on."""

    full: bool = False
    """Use all images in every measurement."""
    max_images: int = MAX_IMAGES
    """Largest number of images, unless `full`; some measurements use fewer."""
    seed: int = 0
    """Random seed for image subsets and for noise."""
    aggregate: Aggregate = "mean"
    """How the probabilities of the outputs that belong to one class are combined."""
    severities: Severities = "imagenet"
    """Which severities the corruptions have."""
