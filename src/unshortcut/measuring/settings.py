"""Settings shared by all measurements of an audit."""

from dataclasses import dataclass
from typing import Literal

from unshortcut.measuring.subjects.class_names import Aggregate

Input = Literal["conflict", "shifts", "hierarchy", "corrupted"]
"""Optional inputs of an audit besides models and data."""
Severities = Literal["imagenet", "cifar"]

MAX_IMAGES = 2000
"""Default limit on the images of an audit."""


@dataclass(frozen=True)
class Settings:
    """What results depend on besides model and data; `AuditRequest` explains each of them."""

    full: bool = False
    max_images: int = MAX_IMAGES
    seed: int = 0
    aggregate: Aggregate = "mean"
    severities: Severities = "imagenet"
