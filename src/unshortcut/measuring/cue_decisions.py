"""The decisions of a model on cue-conflict stimuli: counts, intervals and examples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unshortcut.errors import UsageError
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.settings import Limit
from unshortcut.measuring.shape_bias import CueCounts, bias_interval, by_shape, shape_bias
from unshortcut.measuring.subjects.conflict import Conflict
from unshortcut.measuring.subjects.images import Pixels, stratified
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress

MAX_STIMULI = Limit(quick=240, standard=4000)
"""The published set has 1,280."""
EXAMPLES = 8
LOW_COVERAGE = 0.1
"""With a lower coverage the bias is meaningless."""
FEW = 10
"""With fewer decisions for either cue the bias is meaningless, too."""

Indices = NDArray[np.int64]
"""Class indices (N,)."""
Cue = Literal["shape", "texture", "neither"]


@dataclass(frozen=True)
class ClassBias:
    """Decisions on the stimuli with the shape of one class."""

    name: str
    bias: Estimate
    """With Wilson's interval."""
    coverage: float
    shape: int
    texture: int
    conflicts: int


@dataclass(frozen=True)
class StimulusExample:
    """A stimulus and the decision on it."""

    shape: str
    texture: str
    decided: str
    """The predicted class; empty if all classes have a probability of 0."""
    follows: Cue
    picture: Picture


@dataclass(frozen=True)
class ShapeBiasResult:
    """The decisions of a model on stimuli whose cues conflict."""

    bias: Estimate
    """shape / (shape + texture), with a bootstrap interval over stimuli."""
    coverage: Estimate
    """(shape + texture) / conflicts."""
    shape_accuracy: Estimate
    """Accuracy if the shape is the label (Ge et al. 2021, figure 6 b)."""
    texture_accuracy: Estimate
    """Accuracy if the texture is the label."""
    shape: int
    """Number of decisions for the shape."""
    texture: int
    """Number of decisions for the texture."""
    conflicts: int
    """Number of stimuli that were classified."""
    stimuli: int
    """Number of stimuli given."""
    agreeing: int
    """Stimuli left out because their cues have the same class."""
    unnamed: int
    """Stimuli left out because the model does not know one of their cues."""
    unreadable: int
    available: int
    """Remaining stimuli, readable or not; more than `conflicts` if only a part was used."""
    classes: tuple[ClassBias, ...]
    candidates: tuple[str, ...]
    """The classes to choose from."""
    missing: tuple[str, ...]
    """Classes of cues that the model does not know."""
    decides: str
    """The classifier that decided: the head of the model, or one fitted on its features."""
    grouped: bool
    """Whether a class combines several outputs, so that the aggregate matters."""
    aggregate: str
    examples: tuple[StimulusExample, ...]
    by_texture: StimulusExample | None = None
    """The most confident decision for the texture, if there is any."""

    @property
    def meaningful(self) -> bool:
        """Whether enough decisions name either cue, more than by guessing, for the bias to count.

        With two classes every decision names a cue.
        """
        beyond = self.coverage.low > self.guessing or len(self.candidates) == 2
        named = self.shape + self.texture
        return beyond and self.coverage.value >= LOW_COVERAGE and named >= FEW

    @property
    def guessing(self) -> float:
        """The coverage of random decisions."""
        return 2 / len(self.candidates)

    @property
    def low_coverage(self) -> str:
        """A clause about a model whose bias is not meaningful."""
        return (
            f"names either cue in only {self.shape + self.texture} of {self.conflicts} conflicts "
            f"({self.guessing * self.conflicts:.0f} by guessing)"
        )


class Cues:
    """The cues of stimuli as indices of the classes that a model knows; -1 for others."""

    def __init__(self, conflict: Conflict, names: Sequence[str]) -> None:
        known = {name: index for index, name in enumerate(names)}
        index = np.array([known.get(name, -1) for name in conflict.classes], dtype=np.int64)
        self.shapes: Indices = index[conflict.shapes]
        self.textures: Indices = index[conflict.textures]
        self.agree = conflict.shapes == conflict.textures
        self.usable = ~self.agree & (self.shapes >= 0) & (self.textures >= 0)


def num_stimuli(subject: Subject, conflict: Conflict) -> int:
    """The number of stimuli to classify, at most."""
    conflicts, most = conflict.shapes != conflict.textures, subject.settings.at_most(MAX_STIMULI)
    return min(int(conflicts.sum()), len(conflicts) if most is None else most)


def decide(
    subject: Subject, conflict: Conflict, on_progress: OnProgress | None = None
) -> ShapeBiasResult:
    """Classify the uncropped stimuli. Raises `NotApplicable` if the model knows none of them."""
    subject = subject.deciding(conflict.classes)
    selection = subject.decisions.over(conflict.classes)
    cues = Cues(conflict, selection.names)
    if not cues.usable.any():
        raise NotApplicable(
            f"none of the {len(cues.usable)} stimuli has two different cues that the model knows; "
            f"{int(cues.agree.sum())} have cues that agree"
        )
    most = subject.settings.at_most(MAX_STIMULI)
    images = subject.prepare(conflict.source, most, whole=True)
    images = images.take(np.flatnonzero(cues.usable[images.indices]))
    if not len(images):
        raise UsageError("no stimulus with conflicting cues can be read")
    native = subject.outputs(images, on_progress=on_progress).native
    assert native is not None
    decided, seed = selection.decisions(native), subject.settings.seed
    shapes, textures = cues.shapes[images.indices], cues.textures[images.indices]
    found = shape_bias(decided, shapes, textures)

    def example(row: int) -> StimulusExample:
        pixels, names = images.pixels(row), selection.names
        return _example(pixels, decided[row], shapes[row], textures[row], names)

    confidence = np.where(decided == textures, selection.probabilities(native).max(axis=1), -1.0)
    occurring = {conflict.classes[index] for index in (*conflict.shapes, *conflict.textures)}
    return ShapeBiasResult(
        bias=Estimate(found.bias, *bias_interval(decided, shapes, textures, seed=seed)),
        coverage=Estimate.counted(found.shape + found.texture, found.conflicts),
        shape_accuracy=Estimate.counted(found.shape, found.conflicts),
        texture_accuracy=Estimate.counted(found.texture, found.conflicts),
        shape=found.shape,
        texture=found.texture,
        conflicts=found.conflicts,
        stimuli=len(cues.usable),
        agreeing=int(cues.agree.sum()),
        unnamed=int((~cues.agree & ~cues.usable).sum()),
        unreadable=images.unreadable,
        available=int(cues.usable.sum()),
        classes=tuple(
            _class_bias(selection.names[shape], one)
            for shape, one in by_shape(decided, shapes, textures).items()
        ),
        candidates=selection.names,
        missing=tuple(name for name in selection.missing if name in occurring),
        decides=subject.decisions.description,
        grouped=selection.grouped,
        aggregate=selection.aggregate,
        examples=tuple(
            example(row)
            for row in stratified(shapes, EXAMPLES, seed).tolist()  # the same for all models
        ),
        by_texture=example(int(confidence.argmax())) if found.texture else None,
    )


def _class_bias(name: str, found: CueCounts) -> ClassBias:
    bias = Estimate.counted(found.shape, found.shape + found.texture)
    return ClassBias(name, bias, found.coverage, found.shape, found.texture, found.conflicts)


def _example(
    pixels: Pixels, decision: int, shape: int, texture: int, names: Sequence[str]
) -> StimulusExample:
    named: dict[int, Cue] = {texture: "texture", shape: "shape"}
    follows = named.get(decision, "neither")
    decided = names[decision] if decision >= 0 else ""
    return StimulusExample(names[shape], names[texture], decided, follows, picture(pixels))
