"""Which spaces of a LooC run a task wants, by a handful of labeled images (LooC, table 5).

Tasks differ in what they prefer: the run's own representation, which is the backbone for LooC and
all spaces together for LooC++, or some of its spaces. Each is cross-validated on the same folds of
the user's images; what they warrant is decided in `_choice`.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.models.card import WEIGHTS_FILE
from unshortcut.probes.cross_validation import held_out_hits, stratified_folds
from unshortcut.probes.run import Data
from unshortcut.progress import bar
from unshortcut.result import RESULT_FILE, write_result
from unshortcut.spaces.advice_plot import draw_accuracies
from unshortcut.spaces.choice import Candidate, Choice, Standing, choose
from unshortcut.spaces.loading import save_spaces
from unshortcut.spaces.representations import Representations
from unshortcut.spaces.subsets import subsets_of
from unshortcut.training.exporting import export

BACKBONE = "backbone"
PICTURE_FILE = "advice.png"
_MOST_FOLD_MORE = 20
"""Times the images at hand; an estimate of more than that is not worth a word."""


@dataclass(frozen=True)
class Advice:
    """What to use of a run, and why."""

    choice: Choice
    classes: tuple[str, ...]
    """Those that were told apart."""
    counts: tuple[int, ...]
    """Images of each class."""
    repeats: int
    seed: int
    complete: bool
    """Whether every subset was tried; of more than four spaces only some are."""

    @property
    def images(self) -> int:
        return sum(self.counts)

    @property
    def chosen(self) -> Standing:
        """What to use."""
        return self.choice.chosen

    @property
    def told(self) -> bool:
        """Whether the labels tell the run's own representation from its subsets."""
        return self.choice.told

    @property
    def guessing(self) -> float:
        """Percent that are right if the most frequent class is always answered."""
        return 100 * max(self.counts) / self.images

    def sentence(self) -> str:
        """The advice in words."""
        own, best, chosen = self.choice.own, self.choice.best, self.chosen
        if chosen is not own:
            said = (
                f"Use {chosen.name}: {chosen.accuracy:.1f} % against {own.accuracy:.1f} % of "
                f"{_the(own)} (difference {_difference(chosen)})."
            )
            if best.accuracy > chosen.accuracy:
                said += f" {best.name} has {best.accuracy:.1f} %, within one standard error."
            return said
        if self.told:
            return (
                f"Use {_the(own)}: {own.accuracy:.1f} %, and every other choice of spaces is worse "
                f"(the best, {best.name}, by {_difference(best)})."
            )
        place = "ahead" if best.difference >= 0 else "behind"
        said = (
            f"The labels cannot tell, so use {_the(own)}: with {self.images} images nothing is "
            f"better than its {own.accuracy:.1f} % beyond chance (the best, {best.name}, is "
            f"{_difference(best)} {place})."
        )
        needed = self.choice.images_needed
        if self.guesses():
            said += (
                f" Nothing does better than always answering '{self._frequent}', which is right in "
                f"{self.guessing:.1f} %."
            )
        elif needed is not None and needed <= _MOST_FOLD_MORE * self.images:
            each = _round(needed / len(self.classes))
            said += f" If that difference is real, about {each} images a class would show it."
        return said

    def guesses(self) -> bool:
        """Whether no representation does better than guessing beyond chance."""
        everything = (self.choice.own, *self.choice.subsets)
        return all(standing.interval[0] <= self.guessing for standing in everything)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON; accuracies in percent."""
        rows = {
            one.name: {
                "spaces": None if one.candidate.spaces is None else list(one.candidate.spaces),
                "dim": one.candidate.dim,
                "accuracy": one.accuracy,
                "interval": list(one.interval),
                "difference": one.difference,
                "margin": one.margin,
                "verdict": one.verdict,
            }
            for one in (self.choice.own, *self.choice.subsets)
        }
        return {
            "advice": self.sentence(),
            "use": self.chosen.name,
            "told": self.told,
            "own": self.choice.own.name,
            "candidates": rows,
            "images": dict(zip(self.classes, self.counts, strict=True)),
            "guessing": self.guessing,
            "images_needed": self.choice.images_needed,
            "repeats": self.repeats,
            "complete": self.complete,
        }

    def plot(self, path: str | Path) -> None:
        """A PNG: the accuracies of all candidates with their intervals, what to use marked."""
        everything = (self.choice.own, *self.choice.subsets)
        draw_accuracies(path, everything, self.chosen, self.guessing)

    @property
    def _frequent(self) -> str:
        return self.classes[int(np.argmax(self.counts))]


def advise(
    run: str | Path,
    data: Data,
    *,
    out: str | Path | None = "advice",
    repeats: int = 5,
    seed: int = 0,
    console: Console | None = None,
    workers: int = 0,
) -> Advice:
    """Say which spaces of a run do best on labeled images, and write the encoder that gives them.

    Args:
        run: a finished run of the method `looc`.
        data: labeled images of the task, two or more of each of two classes or more; 5 to 50 of
            each are what this is for. A class of one image is left out with a warning.
        out: the folder for `encoder.safetensors` with its card, `advice.png` and `result.json`;
            None to write nothing.
        repeats: of the cross-validation, each with folds of its own.
        seed: of the folds.
    """
    if repeats < 1:
        raise UsageError(f"repeats must be at least 1, not {repeats}")
    if out is not None and Path(out).is_file():
        raise UsageError(f"'{out}' is a file; --out wants a folder")
    source = _labeled(data)
    console = console or Console(stderr=True)
    seen = Representations.of(run, source, console, workers)
    kept, truth, classes = usable(seen.labels, source.classes or ())
    folds = stratified_folds(truth, repeats=repeats, seed=seed)
    asked = seen.asked
    candidates = []
    with bar(console, "cross-validation") as on_progress:
        for done, subset in enumerate(asked, 1):
            rows = seen.features(subset)[kept]
            hits = held_out_hits(rows, truth, folds)
            name = BACKBONE if subset is None else " + ".join(subset)
            candidates.append(Candidate(name, subset, rows.shape[1], hits))
            on_progress(done, len(asked))
    advice = Advice(
        choose(candidates[0], candidates[1:]),
        classes,
        tuple(np.bincount(truth).tolist()),
        repeats,
        seed,
        complete=len(subsets_of(seen.spaces)) == 2 ** len(seen.spaces) - 1,
    )
    if out is not None:
        _write(advice, run, data, Path(out))
    return advice


def usable(
    labels: NDArray[np.int64], classes: Sequence[str]
) -> tuple[NDArray[np.bool_], NDArray[np.int64], tuple[str, ...]]:
    """Which images (N,) can be cross-validated, their labels 0 to K - 1, and the K classes."""
    counts = np.bincount(labels, minlength=len(classes))
    named = dict(zip(classes, counts.tolist(), strict=True))
    several = tuple(name for name, count in named.items() if count > 1)
    if len(several) < 2:
        seen = ", ".join(f"{count} of '{name}'" for name, count in named.items() if count)
        raise UsageError(
            f"advice needs two or more images of at least two classes; here are {seen}"
        )
    if alone := [name for name, count in named.items() if count == 1]:
        warnings.warn(
            "left out because their only image cannot be both held out and learned from: "
            + ", ".join(alone),
            stacklevel=3,
        )
    kept = counts[labels] > 1
    return kept, np.unique(labels[kept], return_inverse=True)[1], several


def _labeled(data: Data) -> ImageSource:
    source = open_data(data)
    if source.labels is None:
        name = "the source" if isinstance(data, ImageSource) else f"'{data}'"
        raise UsageError(f"{name} has no labels: advice needs class folders with some images each")
    return source


def _write(advice: Advice, run: str | Path, data: Data, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    weights = out / WEIGHTS_FILE
    if advice.chosen is advice.choice.own:
        export(run, "safetensors", weights)
    else:
        save_spaces(run, advice.chosen.candidate.spaces or (), weights)
    advice.plot(out / PICTURE_FILE)
    named = None if isinstance(data, ImageSource) else str(data)
    write_result(
        out / RESULT_FILE,
        "advise",
        metrics=advice.to_dict(),
        seed=advice.seed,
        data=named,
        model=str(run),
    )


def _the(own: Standing) -> str:
    return f"the {own.name}" if own.candidate.spaces is None else f"all spaces ({own.name})"


def _difference(standing: Standing) -> str:
    return f"{abs(standing.difference):.1f} ± {standing.margin:.1f} points"


def _round(number: float) -> int:
    """To two digits, upwards: an estimate."""
    unit = 10 ** max(0, int(np.log10(number)) - 1)
    return int(np.ceil(number / unit)) * unit
