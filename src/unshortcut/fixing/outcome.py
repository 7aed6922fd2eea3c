"""Which refitted head is best on held-out images, and whether it is better than the first one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unshortcut.fixing.samples import CellAccuracies, Samples
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.linear_head import Head, Indices
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

Word = Literal["fixed", "nothing to fix", "costs more than it brings"]


@dataclass(frozen=True)
class Candidate:
    """A way to refit a head with given settings."""

    description: str
    fit: Callable[[Samples], Head]


@dataclass(frozen=True)
class Outcome:
    """The best candidate, and what it changes on the half of the images that it was not fitted on.

    Gain and cost have 95 % intervals by a bootstrap over images, paired between the two heads.
    """

    word: Word
    description: str
    head: Head
    """Fitted on all images."""
    before: CellAccuracies
    after: CellAccuracies
    gain: Estimate
    """Accuracy of the worst cell, after minus before."""
    balanced: Estimate
    """Mean accuracy over cells, after minus before."""
    change: Estimate
    """Accuracy over all images, after minus before."""

    def sentence(self) -> str:
        """What came out, for people."""
        worst = (
            f"the worst group ('{self.before.worst_name}') goes from "
            f"{percent(self.before.worst(), 1)} to {percent(self.after.worst(), 1)} on held-out "
            f"images, all together from {percent(self.before.mean(), 1)} to "
            f"{percent(self.after.mean(), 1)}"
        )
        if self.word == "fixed":
            return f"Fixed by {self.description}: {worst}."
        if self.word == "costs more than it brings":
            return (
                f"Fixing costs more than it brings: with {self.description}, {worst}. Keep the "
                "first model unless the worst group matters more to you than the others."
            )
        return (
            f"There is nothing to fix that this can see: with {self.description}, {worst}, which "
            "may be chance. The model is left as it is."
        )


def choose(
    samples: Samples,
    first: Head,
    candidates: Sequence[Candidate],
    *,
    seed: int,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Fit every candidate on one half, choose by the worst cell of the other half, fit on all.

    The worst cell has few images, so that several candidates are usually as good as the best within
    one standard error; among them the one with the highest mean counts, then the earlier one.
    """
    fitting, held_out = samples.halves(seed)
    before = held_out.accuracies(first)
    tried: list[CellAccuracies] = []
    for candidate in candidates:
        tried.append(held_out.accuracies(candidate.fit(fitting)))
        if on_progress:
            on_progress(len(tried), len(candidates) + 1)
    best = max(tried, key=CellAccuracies.worst)
    enough = best.worst() - best.worst_error()
    number = max(
        (index for index, one in enumerate(tried) if one.worst() >= enough),
        key=lambda index: tried[index].mean(),
    )
    chosen, after = candidates[number], tried[number]
    gain, balanced, change = _compare(before, after, held_out.images, seed)
    word: Word = "fixed"
    if gain.value <= 0 or max(gain.low, balanced.low) <= 0:
        word = "nothing to fix"
    elif -change.value > gain.value:
        word = "costs more than it brings"
    head = chosen.fit(samples)
    if on_progress:
        on_progress(len(candidates) + 1, len(candidates) + 1)
    return Outcome(word, chosen.description, head, before, after, gain, balanced, change)


def _compare(
    before: CellAccuracies, after: CellAccuracies, images: Indices, seed: int
) -> tuple[Estimate, Estimate, Estimate]:
    """Changes of the worst cell, of the mean over cells, and over images.

    Versions of an image are drawn together. The worst cell alone would need many images to be told
    from chance, so that the mean over cells counts as well.
    """
    order = np.argsort(images, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(images[order])) + 1)

    def change(statistic: Callable[[CellAccuracies, Indices], float]) -> Estimate:
        def of(chosen: Indices) -> float:
            rows = np.concatenate([parts[one] for one in chosen])
            return statistic(after, rows) - statistic(before, rows)

        return Estimate.of(of, len(parts), seed=seed)

    return (
        change(CellAccuracies.worst),
        change(CellAccuracies.mean_of_cells),
        change(CellAccuracies.mean),
    )
