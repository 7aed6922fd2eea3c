"""Settings shared by all measurements of an audit."""

from dataclasses import dataclass
from typing import Literal, get_args

from unshortcut.measuring.subjects.class_names import Aggregate

Input = Literal["conflict", "shifts", "hierarchy", "corrupted"]
"""Optional inputs of an audit besides models and data."""
Severities = Literal["imagenet", "cifar"]
Profile = Literal["quick", "standard", "full"]
"""How many images an audit uses: as few as a verdict needs, an hour's worth at most, or all."""
PROFILES: tuple[Profile, ...] = get_args(Profile)
MAX_IMAGES: dict[Profile, int | None] = {"quick": 200, "standard": 2000, "full": None}
"""Default limit on the images of an audit, by profile."""


@dataclass(frozen=True)
class Limit:
    """Maximum number of images of a measurement, or of anything else; `full` has no limit."""

    quick: int
    standard: int


@dataclass(frozen=True)
class Settings:
    """What results depend on besides model and data; `AuditRequest` explains each of them."""

    profile: Profile = "standard"
    max_images: int | None = None
    """Defaults to that of the profile; see `most_images`."""
    seed: int = 0
    aggregate: Aggregate = "mean"
    severities: Severities = "imagenet"

    @property
    def full(self) -> bool:
        """Whether every measurement uses all images."""
        return self.profile == "full"

    @property
    def most_images(self) -> int | None:
        """Maximum number of images of the data to measure on; None for all."""
        return MAX_IMAGES[self.profile] if self.max_images is None else self.max_images

    def at_most(self, limit: Limit | int | None) -> int | None:
        """A limit in this profile; a plain number is the limit of `quick` and of `standard`."""
        if self.full:
            return None
        if isinstance(limit, Limit):
            return limit.quick if self.profile == "quick" else limit.standard
        return limit
