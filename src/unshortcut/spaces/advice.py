"""Advise on which spaces of a LooC run suit a task, from a few labeled images (LooC, table 5).

Tasks differ in which representation suits them: the run's own, which is the backbone for LooC and
all spaces together for LooC++, or a subset of its spaces. All of them are cross-validated on the
same folds of the user's images; `spaces/choice.py` has the rule for the choice.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from unshortcut.data.naming import Data
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.models.card import WEIGHTS_FILE
from unshortcut.models.load import load_model
from unshortcut.probes.cross_validation import held_out_hits, stratified_folds
from unshortcut.probes.prepare import features_of
from unshortcut.progress import bar
from unshortcut.result import RESULT_FILE, write_result
from unshortcut.spaces.choice import Candidate, Choice, Comparison, choose
from unshortcut.spaces.loading import load_spaces, save_spaces
from unshortcut.spaces.subsets import SpaceSubset, columns, required_spaces, subsets_of
from unshortcut.training.exporting import export_encoder

BACKBONE = "backbone"
PLOT_FILE = "advice.png"
_MAX_FACTOR = 20
"""How many more images than at hand may be suggested; beyond that the estimate is useless."""


@dataclass(frozen=True)
class Advice:
    """Which representation of a run to use, and the evidence."""

    choice: Choice
    classes: tuple[str, ...]
    """The classes that were distinguished."""
    counts: tuple[int, ...]
    """Number of images of each class."""
    repeats: int
    seed: int
    complete: bool
    """Whether all subsets were tried; with more than four spaces only some are."""

    @property
    def num_images(self) -> int:
        return sum(self.counts)

    @property
    def chosen(self) -> Comparison:
        """The representation to use."""
        return self.choice.chosen

    @property
    def majority_accuracy(self) -> float:
        """Accuracy of always predicting the most frequent class, in percent."""
        return 100 * max(self.counts) / self.num_images

    @property
    def beats_majority(self) -> bool:
        """Whether any representation is significantly better than the most frequent class."""
        return any(one.interval[0] > self.majority_accuracy for one in self.choice.candidates)

    def sentence(self) -> str:
        """The advice as text."""
        own, best, chosen = self.choice.own, self.choice.best, self.chosen
        if chosen is not own:
            text = (
                f"Use {chosen.name}: its accuracy is {chosen.accuracy:.1f} %, that of {_the(own)} "
                f"is {own.accuracy:.1f} % (difference {_difference(chosen)})."
            )
            if best.accuracy > chosen.accuracy:
                text += (
                    f" {best.name} has {best.accuracy:.1f} %, which is within one standard error."
                )
            return text
        if self.choice.conclusive:
            return (
                f"Use {_the(own)}: its accuracy is {own.accuracy:.1f} %, and every other choice of "
                f"spaces is worse (the best, {best.name}, by {_difference(best)})."
            )
        relation = "ahead" if best.difference >= 0 else "behind"
        text = (
            f"The labels are inconclusive, so use {_the(own)}: with {self.num_images} images, no "
            f"subset of spaces is significantly better than its {own.accuracy:.1f} % (the best, "
            f"{best.name}, is {_difference(best)} {relation})."
        )
        needed = self.choice.images_needed
        if not self.beats_majority:
            frequent = self.classes[int(np.argmax(self.counts))]
            text += (
                f" No representation is significantly better than always predicting '{frequent}', "
                f"which is correct for {self.majority_accuracy:.1f} % of the images."
            )
        elif needed is not None and needed <= _MAX_FACTOR * self.num_images:
            per_class = _round_up(needed / len(self.classes))
            text += (
                f" If that difference is real, about {per_class} images per class would show it."
            )
        return text

    def to_dict(self) -> dict[str, Any]:
        """The advice as plain values, for JSON; accuracies are in percent."""
        candidates = {
            one.name: {
                "spaces": None if one.candidate.spaces is None else list(one.candidate.spaces),
                "dim": one.candidate.dim,
                "accuracy": one.accuracy,
                "interval": list(one.interval),
                "difference": one.difference,
                "margin": one.margin,
                "outcome": one.outcome,
            }
            for one in self.choice.candidates
        }
        return {
            "advice": self.sentence(),
            "use": self.chosen.name,
            "conclusive": self.choice.conclusive,
            "own": self.choice.own.name,
            "candidates": candidates,
            "num_images": dict(zip(self.classes, self.counts, strict=True)),
            "majority_accuracy": self.majority_accuracy,
            "images_needed": self.choice.images_needed,
            "repeats": self.repeats,
            "complete": self.complete,
        }

    def plot(self, path: str | Path) -> None:
        """Write a PNG with the accuracies of all candidates and their confidence intervals."""
        from unshortcut.spaces.advice_plot import plot_choice

        plot_choice(path, self.choice, self.majority_accuracy)


def advise(
    run: str | Path,
    data: Data,
    *,
    out: str | Path | None = "advice",
    repeats: int = 5,
    seed: int = 0,
    console: Console | None = None,
    workers: int | None = None,
) -> Advice:
    """Find the spaces of a run that suit labeled images best, and write the encoder for them.

    Args:
        run: a finished run of the method `looc`.
        data: labeled images of the task, with at least two images of at least two classes; 5 to 50
            images per class are typical. A class with one image is left out with a warning.
        out: folder for `encoder.safetensors` with its card, `advice.png` and `result.json`; None to
            write nothing.
        repeats: number of repeats of the cross-validation, each with other folds.
        seed: random seed for the folds.
        workers: number of workers that decode images; by default one per available core.
    """
    if repeats < 1:
        raise UsageError(f"repeats must be at least 1, not {repeats}")
    if out is not None and Path(out).is_file():
        raise UsageError(f"'{out}' is a file; --out must be a folder")
    source = open_data(data)
    if source.labels is None:
        name = "the source" if isinstance(data, ImageSource) else f"'{data}'"
        raise UsageError(f"{name} has no labels: advice needs class folders with some images each")
    console = console or Console(stderr=True)
    labels, spaces, representations = _representations(run, source, console, workers)
    kept, truth, classes = usable(labels, source.classes or ())
    folds = stratified_folds(truth, repeats=repeats, seed=seed)
    candidates = []
    with bar(console, "cross-validation") as on_progress:
        for done, (subset, features) in enumerate(representations, 1):
            hits = held_out_hits(features[kept], truth, folds)
            name = BACKBONE if subset is None else " + ".join(subset)
            candidates.append(Candidate(name, subset, features.shape[1], hits))
            on_progress(done, len(representations))
    counts = tuple(np.bincount(truth).tolist())
    complete = len(subsets_of(spaces)) == 2 ** len(spaces) - 1
    choice = choose(candidates[0], candidates[1:])
    advice = Advice(choice, classes, counts, repeats, seed, complete)
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
        found = ", ".join(f"{count} of '{name}'" for name, count in named.items() if count)
        raise UsageError(
            f"advice needs two or more images of at least two classes; the data have {found}"
        )
    if single := [name for name, count in named.items() if count == 1]:
        warnings.warn(
            "left out, because a single image cannot be used for both training and testing: "
            + ", ".join(single),
            stacklevel=3,
        )
    kept = counts[labels] > 1
    return kept, np.unique(labels[kept], return_inverse=True)[1], several


def _representations(
    run: str | Path, source: ImageSource, console: Console, workers: int | None
) -> tuple[NDArray[np.int64], SpaceSubset, list[tuple[SpaceSubset | None, NDArray[np.float32]]]]:
    """Labels, spaces, and the features of the run's own representation and of all subsets.

    The first representation is the run's own; None stands for the backbone.
    """
    everything, own = load_spaces(run), load_model(run)
    spaces = required_spaces(everything)
    if spaces == own.spaces and len(spaces) == 1:
        raise UsageError(f"'{run}' has only one space, so there is nothing to choose")
    full = features_of(everything, source, "the spaces", console, workers)
    found: list[tuple[SpaceSubset | None, NDArray[np.float32]]] = []
    if own.spaces is None:
        found.append((None, features_of(own, source, "the backbone", console, workers).values))
    else:
        found.append((spaces, full.values))
    for subset in subsets_of(spaces):
        if subset != found[0][0]:
            chosen = columns(spaces, subset, full.values.shape[1]).numpy()
            found.append((subset, full.values[:, chosen]))
    return full.required_labels(), spaces, found


def _write(advice: Advice, run: str | Path, data: Data, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    weights = out / WEIGHTS_FILE
    if advice.chosen is advice.choice.own:
        export_encoder(run, "safetensors", weights)
    else:
        save_spaces(run, advice.chosen.candidate.spaces or (), weights)
    advice.plot(out / PLOT_FILE)
    spec = None if isinstance(data, ImageSource) else str(data)
    path, metrics = out / RESULT_FILE, advice.to_dict()
    write_result(path, "advise", metrics=metrics, seed=advice.seed, data=spec, model=str(run))


def _the(own: Comparison) -> str:
    return f"the {own.name}" if own.candidate.spaces is None else f"all spaces ({own.name})"


def _difference(one: Comparison) -> str:
    return f"{abs(one.difference):.1f} ± {one.margin:.1f} points"


def _round_up(number: float) -> int:
    """Round up to two significant digits."""
    unit = 10 ** max(0, int(np.log10(number)) - 1)
    return int(np.ceil(number / unit)) * unit
