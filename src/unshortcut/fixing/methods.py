"""The ways to refit a head, each as candidates that differ in their settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np

from unshortcut.errors import UsageError, unknown
from unshortcut.fixing.balanced import STRENGTHS, fit_balanced
from unshortcut.fixing.outcome import Candidate
from unshortcut.fixing.reweighted import GAMMAS, PULLS, fit_reweighted
from unshortcut.fixing.samples import Samples
from unshortcut.fixing.steady import PULLS as STEADY_PULLS
from unshortcut.fixing.steady import STEADINESS, fit_steady
from unshortcut.measuring.class_components import class_components, without_components
from unshortcut.measuring.linear_head import Head

FixMethod = Literal["balanced", "pasted", "reweighted", "components"]
METHODS: tuple[FixMethod, ...] = get_args(FixMethod)
COMPONENTS = 20
"""Number of principal components of a class that can be named."""


@dataclass(frozen=True)
class Component:
    """`dog:2`, the second component of a class."""

    name: str
    number: int
    """From 1."""

    @classmethod
    def parse(cls, text: str, classes: Sequence[str]) -> "Component":
        name, colon, number = text.rpartition(":")
        if not colon or not number.isdecimal() or not 1 <= int(number) <= COMPONENTS:
            raise UsageError(
                f"'{text}' is not a component; write a class and a number from 1 to {COMPONENTS}, "
                "such as dog:2"
            )
        if name not in classes:
            raise unknown("class", name, classes)
        return cls(name, int(number))


def balanced_candidates(num_classes: int, seed: int) -> list[Candidate]:
    """Refit with every group counting the same."""

    def fit(samples: Samples, strength: float) -> Head:
        return fit_balanced(
            samples.features,
            samples.labels,
            samples.cells,
            num_classes=num_classes,
            strength=strength,
            seed=seed,
        )

    return [
        Candidate(f"group-balanced refitting (L1, C = {one:g})", partial(fit, strength=one))
        for one in STRENGTHS
    ]


def reweighted_candidates(first: Head) -> list[Candidate]:
    """Refit where the first head errs."""

    def fit(samples: Samples, gamma: float, pull: float) -> Head:
        return fit_reweighted(samples.features, samples.labels, first, gamma=gamma, pull=pull)

    return [
        Candidate(
            f"reweighting by the errors of the first head (γ = {gamma:g}, pull {pull:g})",
            partial(fit, gamma=gamma, pull=pull),
        )
        for pull in PULLS
        for gamma in GAMMAS
    ]


def pasted_candidates(first: Head) -> list[Candidate]:
    """Refit on images without the cue, with logits that it does not change."""

    def fit(samples: Samples, pull: float, steady: float) -> Head:
        without, with_cue = samples.versions()
        return fit_steady(
            without.features,
            with_cue.features,
            without.labels,
            first,
            pull=pull,
            steady=steady,
        )

    return [
        Candidate(
            f"refitting a head that the cue leaves steady (weight {steady:g}, pull {pull:g})",
            partial(fit, pull=pull, steady=steady),
        )
        for pull in STEADY_PULLS
        for steady in STEADINESS
    ]


def component_candidates(
    first: Head, components: Sequence[Component], classes: Sequence[str]
) -> list[Candidate]:
    """Subtract components from the logits, without any fit but their own."""
    named = ", ".join(f"{one.name}:{one.number}" for one in components)

    def fit(samples: Samples) -> Head:
        found = []
        for one in components:
            label = classes.index(one.name)
            rows = np.flatnonzero(samples.labels == label)
            known = class_components(samples.features[rows], first, label, COMPONENTS)
            if one.number > len(known.directions):
                raise UsageError(
                    f"'{one.name}' has {len(rows)} images and so {len(known.directions)} "
                    f"components; there is no number {one.number}"
                )
            found.append((known, one.number - 1))
        return without_components(first, found)

    return [Candidate(f"subtracting the components {named}", fit)]
