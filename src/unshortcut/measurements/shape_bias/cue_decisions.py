"""What a model decides on stimuli with conflicting cues: counts, intervals and examples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unshortcut.errors import UsageError
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.shape_bias import ShapeBias, bias_interval, by_shape, shape_bias
from unshortcut.measuring.subjects.conflict import Conflict
from unshortcut.measuring.subjects.images import Prepared, stratified
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress

STIMULI = 4000
"""That are shown, at most, unless all are asked for; the published ones are 1,280."""
EXAMPLES = 8
LITTLE = 0.1
"""A coverage below which a bias says next to nothing."""
FEW = 10
"""Decisions for either cue below which it does not either."""

Places = NDArray[np.int64]
Cue = Literal["shape", "texture", "neither"]


@dataclass(frozen=True)
class ClassBias:
    """Decisions on the stimuli with the shape of one class."""

    name: str
    bias: Estimate
    """The interval is Wilson's."""
    coverage: float
    shape: int
    texture: int
    conflicts: int


@dataclass(frozen=True)
class Example:
    """One stimulus, and what was decided."""

    shape: str
    texture: str
    decided: str
    """Empty where none of the classes was likely at all."""
    follows: Cue
    picture: Picture


@dataclass(frozen=True)
class ShapeBiasResult:
    """Decisions on stimuli whose cues conflict."""

    bias: Estimate
    """Decisions for the shape over those for shape or texture; a bootstrap over stimuli."""
    coverage: Estimate
    """Decisions for shape or texture over all."""
    shape_accuracy: Estimate
    """Where the shape is the label (papers/001, figure 6 b)."""
    texture_accuracy: Estimate
    shape: int
    """Decisions for the shape."""
    texture: int
    """Decisions for the texture."""
    conflicts: int
    """Stimuli that were decided on."""
    stimuli: int
    """That were given."""
    agreeing: int
    """Of these, left out because their cues are of the same class."""
    unnamed: int
    """Left out because the model cannot name one of their cues."""
    unreadable: int
    available: int
    """Readable or not, what is left; more than `conflicts` where only a part was shown."""
    classes: tuple[ClassBias, ...]
    candidates: tuple[str, ...]
    """Classes that were decided among."""
    missing: tuple[str, ...]
    """Classes of cues that the model cannot name."""
    decides: str
    """What decided: the head, or a readout."""
    grouped: bool
    """Whether a class stands for several outputs, so that the aggregate counts."""
    aggregate: str
    examples: tuple[Example, ...]

    @property
    def telling(self) -> bool:
        """Whether so many decisions name either cue, beyond guessing, that the bias says something.

        Of two classes every decision names a cue.
        """
        beyond = self.coverage.low > self.guessing or len(self.candidates) == 2
        return beyond and self.coverage.value >= LITTLE and self.shape + self.texture >= FEW

    @property
    def guessing(self) -> float:
        """The coverage of decisions at random."""
        return 2 / len(self.candidates)


def decide(
    subject: Subject, conflict: Conflict, on_progress: OnProgress | None = None
) -> ShapeBiasResult:
    """Show a model the stimuli, whole; `NotApplicable` where it can decide on none of them."""
    subject = subject.deciding(conflict.classes)
    selection = subject.decisions.over(conflict.classes)
    cues = _Cues(conflict, selection.names)
    if not cues.usable.any():
        raise NotApplicable(
            f"none of the {len(cues.usable)} stimuli has two different cues that the model can "
            f"name: {int(cues.agree.sum())} have cues that agree"
        )
    images = subject.prepare(conflict.source, STIMULI, whole=True)
    images = images.take(np.flatnonzero(cues.usable[images.indices]))
    if not len(images):
        raise UsageError("no stimulus whose cues conflict can be read")
    native = subject.outputs(images, on_progress=on_progress).native
    assert native is not None
    decided = selection.decisions(native)
    shapes, textures = cues.shapes[images.indices], cues.textures[images.indices]
    found = shape_bias(decided, shapes, textures)
    seed = subject.settings.seed
    occurring = {conflict.classes[place] for place in (*conflict.shapes, *conflict.textures)}
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
        examples=_examples(images, decided, shapes, textures, selection.names, seed),
    )


class _Cues:
    """The cues of stimuli, as places among the classes that a model can name; -1 for others."""

    def __init__(self, conflict: Conflict, names: Sequence[str]) -> None:
        place = {name: at for at, name in enumerate(names)}
        counted = np.array([place.get(name, -1) for name in conflict.classes], dtype=np.int64)
        self.shapes: Places = counted[conflict.shapes]
        self.textures: Places = counted[conflict.textures]
        self.agree = conflict.shapes == conflict.textures
        self.usable = ~self.agree & (self.shapes >= 0) & (self.textures >= 0)


def _class_bias(name: str, found: ShapeBias) -> ClassBias:
    bias = Estimate.counted(found.shape, found.shape + found.texture)
    return ClassBias(name, bias, found.coverage, found.shape, found.texture, found.conflicts)


def _examples(
    images: Prepared,
    decided: Places,
    shapes: Places,
    textures: Places,
    names: Sequence[str],
    seed: int,
) -> tuple[Example, ...]:
    """Some stimuli, not chosen by what was decided: the same for models that name the same."""
    found = []
    for row in stratified(shapes, EXAMPLES, seed).tolist():
        decision = int(decided[row])
        follows: Cue = "neither"
        if decision in (shapes[row], textures[row]):
            follows = "shape" if decision == shapes[row] else "texture"
        found.append(
            Example(
                names[shapes[row]],
                names[textures[row]],
                names[decision] if decision >= 0 else "",
                follows,
                picture(images.pixels(row)),
            )
        )
    return tuple(found)
