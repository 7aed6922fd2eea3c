"""What a measurement contributes to the top of the page: a position on an axis, a telling picture.

Like exhibits, these are independent of how they are drawn, and their text is untrusted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Picture


@dataclass(frozen=True)
class AxisMark:
    """A known value that the models on an axis are compared with."""

    name: str  # a few letters, since there is little room
    value: float


@dataclass(frozen=True)
class Axis:
    """A line between two things that decisions can depend on, from 0 (left) to 1 (right)."""

    left: str
    right: str
    meaning: str
    """What a position is the share of, in a few words."""
    positions: Mapping[str, Estimate] = field(default_factory=dict)
    """By model."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why a model that was measured has no position, in a few words."""
    marks: tuple[AxisMark, ...] = ()
    """The most important ones first; where there is no room, the last have no label."""


@dataclass(frozen=True)
class TellingPicture:
    """One picture per model that shows what its numbers mean."""

    title: str
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    """By model."""
    missing: str = "none"
    """What it means that a model which was measured has none, in a few words."""


GlancePart = Axis | TellingPicture
