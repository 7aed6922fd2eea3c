"""Linear probe on cached features: a grid of learning rates and weight decays, solved at once.

The papers train a linear classifier by SGD for 100 epochs, and try learning rates and weight
decays. The problem is convex, and what the settings change is how far the classifier goes from its
start before it is stopped or held back. SGD of rate eta, momentum m and a schedule follows the
gradient for a time T = eta / (1 - m) * (steps, each counted by its drop); stopping the gradient
flow at T is close to a penalty of 1 / T on the distance from the start (Ali et al. 2020). So the
setting (eta, wd) stands here for the exact minimum of

    cross-entropy + wd / 2 |w|^2 + 1 / (2 T(eta)) |w - w_0|^2,     w_0 ~ N(0, 0.01) by seed,

which has no step that could be too large: rates at which SGD diverges are weak penalties, no more.
Features are centered and the bias is free, so a large common mean, which slows SGD down, does not
count: there the papers' SGD falls behind the probe, and catches up when the mean is subtracted.
The settings are solved from the strongest penalty to the weakest, each from the one before, and
all seeds side by side.

A seed is a repetition of the whole evaluation: it draws the held-out part of train and w_0, chooses
its own setting on that part, and fits again on all of train. Test sets are seen by nobody before.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.probes.matrices import FeatureMatrix, Labeled, Labels, accuracy, checked
from unshortcut.probes.protocols import INIT_STD, MOCO
from unshortcut.probes.solver import Basis, Problem, solve
from unshortcut.randomness import generator, torch_generator

RATES = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Default learning rates, times the total variance of the features."""
DECAYS = (0.0, 1e-5)
"""Default weight decays, as parts of the total variance of the features."""
TOLERANCE = 1e-4
"""Nats that a solution may lie above the minimum, about."""
MAX_PASSES = 200
HEAD_NUMBERS = 2**23
"""Weights of the seeds that are solved side by side; the solver needs some 20 times the memory."""


@dataclass(frozen=True, order=True)
class Setting:
    """One point of the grid, in the units of the papers' SGD on the features as they are."""

    learning_rate: float
    weight_decay: float

    def pulls(self, samples: int) -> tuple[float, float]:
        """Penalties on the distance from the start, 1 / T, and from zero, for a training set."""
        drops = sum(MOCO.rate(epoch) / MOCO.learning_rate for epoch in range(MOCO.epochs))
        steps = math.ceil(samples / MOCO.batch_size) * drops
        return (1 - MOCO.momentum) / (self.learning_rate * steps), self.weight_decay


@dataclass(frozen=True)
class LinearProbe:
    """One seed's classifier, fitted on all of train with the setting that the seed chose."""

    seed: int
    setting: Setting
    holdout: Mapping[Setting, float]
    """Accuracy on the held-out part of train, for the whole grid; empty for a grid of one."""
    weight: Tensor
    """(K, D)"""
    bias: Tensor
    """(K,)"""

    def logits(self, features: Tensor) -> Tensor:
        """(N, D) -> (N, K)."""
        return features.float() @ self.weight.T + self.bias

    def predict(self, features: Tensor) -> Tensor:
        """(N, D) -> (N,) classes, by chunks."""
        return torch.cat([self.logits(part).argmax(1) for part in features.split(2**14)])


@dataclass(frozen=True)
class LinearResult:
    """Accuracies (0 to 1) of all seeds on all test sets."""

    probes: tuple[LinearProbe, ...]
    """One a seed."""
    accuracies: Mapping[str, tuple[float, ...]]
    """By test set, in the order of the seeds."""
    per_class: Mapping[str, tuple[float, ...]]
    """By test set: mean over seeds for each class, NaN where the set has none of it."""

    @property
    def chosen(self) -> Setting:
        """The setting that most seeds chose; of equals the one of the earliest seed."""
        return statistics.mode(probe.setting for probe in self.probes)

    def mean(self, test: str) -> float:
        """Mean accuracy over seeds."""
        return statistics.fmean(self.accuracies[test])

    def std(self, test: str) -> float:
        """Sample standard deviation over seeds (n - 1); 0 for one seed."""
        values = self.accuracies[test]
        return statistics.stdev(values) if len(values) > 1 else 0.0


def linear_accuracy(
    train: Labeled,
    tests: Mapping[str, Labeled],
    *,
    classes: int | None = None,
    learning_rates: Sequence[float] | None = None,
    weight_decays: Sequence[float] | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    holdout: float = 0.2,
) -> LinearResult:
    """Fit a linear probe on train (`fit_linear`) and measure it on every test set."""
    features, labels = checked(train, "train", classes)
    classes = int(labels.max()) + 1 if classes is None else classes
    held = {name: checked(test, name, classes) for name, test in tests.items()}
    for name, (rows, _) in held.items():
        if rows.shape[1] != features.shape[1]:
            raise UsageError(
                f"the train features have {features.shape[1]} dimensions, "
                f"the {name} set's {rows.shape[1]}"
            )
    probes = fit_linear(
        features,
        labels,
        classes=classes,
        learning_rates=learning_rates,
        weight_decays=weight_decays,
        seeds=seeds,
        holdout=holdout,
    )
    accuracies, per_class = {}, {}
    for name, (rows, truth) in held.items():
        right = torch.stack([probe.predict(rows) == truth for probe in probes]).double()
        accuracies[name] = tuple(right.mean(1).tolist())
        sums = right.new_zeros(classes).index_add_(0, truth, right.mean(0))
        per_class[name] = tuple((sums / torch.bincount(truth, minlength=classes)).tolist())
    return LinearResult(probes, accuracies, per_class)


def fit_linear(
    features: FeatureMatrix,
    labels: Labels,
    *,
    classes: int | None = None,
    learning_rates: Sequence[float] | None = None,
    weight_decays: Sequence[float] | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    holdout: float = 0.2,
) -> tuple[LinearProbe, ...]:
    """A probe for every seed, fitted on features (N, D) and labels (N,).

    `learning_rates` and `weight_decays` are those of the papers' SGD on these features; by default
    `RATES` and `DECAYS` in units of their total variance, so that no rescaling of the features
    changes the result. A rate of infinity stands for training to convergence: the start no longer
    counts, and the decay alone holds the classifier back. `holdout` is the part of each class on
    which a seed chooses; a grid of one setting needs none. Needs memory for one float32 copy of
    the features.
    """
    rows, truth = checked((features, labels), "train", classes)
    classes = int(truth.max()) + 1 if classes is None else classes
    if not seeds or len(set(seeds)) < len(seeds):
        raise UsageError(f"seeds must be different numbers, at least one, not {list(seeds)}")
    basis = Basis.of(rows)
    grid = _grid(learning_rates, weight_decays, float(basis.energy[:-1].sum()))
    fitter = _Fitter(basis, basis.coordinates(rows), truth, classes)
    group = max(1, HEAD_NUMBERS // (classes * len(basis.energy)))
    return tuple(
        probe
        for first in range(0, len(seeds), group)
        for probe in fitter.fit(grid, seeds[first : first + group], holdout)
    )


def _grid(
    learning_rates: Sequence[float] | None, weight_decays: Sequence[float] | None, variance: float
) -> list[Setting]:
    """The grid, from the strongest penalty to the weakest."""
    unit = variance or 1.0
    rates = [rate / unit for rate in RATES] if learning_rates is None else learning_rates
    decays = [decay * unit for decay in DECAYS] if weight_decays is None else weight_decays
    if not rates or not all(rate > 0 for rate in rates):
        raise UsageError(f"learning rates must be above 0, not {list(rates)}")
    if not decays or not all(0 <= decay < math.inf for decay in decays):
        raise UsageError(f"weight decays must be 0 or more, not {list(decays)}")
    if math.inf in rates and 0 in decays:
        raise UsageError("without a weight decay the learning rate must be finite, not inf")
    grid = {Setting(rate, decay) for rate in rates for decay in decays}
    return sorted(grid, key=lambda setting: (-sum(setting.pulls(10_000)), setting))


@dataclass(frozen=True)
class _Fitter:
    """Fits heads of several seeds side by side on one training set."""

    basis: Basis
    coordinates: Tensor
    labels: Tensor
    classes: int

    def fit(
        self, grid: Sequence[Setting], seeds: Sequence[int], holdout: float
    ) -> list[LinearProbe]:
        starts = torch.stack([self._start(seed) for seed in seeds])
        everything = torch.ones(len(seeds), len(self.labels), device=self.labels.device)
        if len(grid) == 1:
            weights = self._solve(everything, [grid[0]] * len(seeds), starts, starts)
            holdouts: list[dict[Setting, float]] = [{} for _ in seeds]
            chosen = [grid[0]] * len(seeds)
        else:
            held = torch.stack([stratified_holdout(self.labels, holdout, seed) for seed in seeds])
            holdouts, chosen, guess = self._choose(grid, held, starts)
            weights = self._solve(everything, chosen, starts, guess)
        return [
            LinearProbe(seed, setting, scores, *self.basis.plain(weight))
            for seed, setting, scores, weight in zip(seeds, chosen, holdouts, weights, strict=True)
        ]

    def _choose(
        self, grid: Sequence[Setting], held: Tensor, starts: Tensor
    ) -> tuple[list[dict[Setting, float]], list[Setting], Tensor]:
        """Holdout accuracies of the grid, the best setting and its weights, for each row of `held`.

        Of settings with equal accuracy the one with the strongest penalty wins.
        """
        seen = (~held).float()
        weights, best = starts, starts.clone()
        scores: list[dict[Setting, float]] = [{} for _ in held]
        chosen = [grid[0]] * len(held)
        for setting in grid:
            weights = self._solve(seen, [setting] * len(held), starts, weights)
            for head, mask in enumerate(held):
                logits = self.coordinates[mask] @ weights[head].T
                score = accuracy(logits.argmax(1), self.labels[mask])
                if score > max(scores[head].values(), default=-1.0):
                    chosen[head], best[head] = setting, weights[head]
                scores[head][setting] = score
        return scores, chosen, best

    def _solve(
        self, seen: Tensor, settings: Sequence[Setting], starts: Tensor, guess: Tensor
    ) -> Tensor:
        """Weights (H, K, A) of heads that see the rows marked in `seen` (H, N)."""
        counts = seen.sum(1)
        pulls = [s.pulls(int(n)) for s, n in zip(settings, counts.tolist(), strict=True)]
        to_start, to_zero = starts.new_tensor(pulls).unbind(1)
        penalty = to_start + to_zero
        center = starts * (to_start / penalty)[:, None, None]
        problem = Problem(self.coordinates, self.labels, seen / counts[:, None], penalty, center)
        return solve(problem, self.basis.energy, guess, tolerance=TOLERANCE, max_passes=MAX_PASSES)

    def _start(self, seed: int) -> Tensor:
        """w_0 (K, A); drawn along the axes, which changes nothing for a round Gaussian."""
        random = torch_generator("linear probe", "start", seed)
        start = torch.randn(self.classes, len(self.basis.energy), generator=random) * INIT_STD
        start[:, -1] = 0
        return start.to(self.labels.device)


def stratified_holdout(labels: Tensor, part: float, seed: int) -> Tensor:
    """(N,) bool: the samples to hold out, a `part` of each class, drawn by seed.

    Of a class with two samples or more at least one is held out and one is kept; the only sample of
    a class is kept.
    """
    if not 0 < part < 1:
        raise UsageError(f"the held-out part must lie between 0 and 1, not {part}")
    shuffled = torch.from_numpy(generator("linear probe", "holdout", seed).permutation(len(labels)))
    by_class = shuffled[labels.cpu()[shuffled].argsort(stable=True)]
    held = torch.zeros(len(labels), dtype=torch.bool)
    for members in by_class.split(torch.bincount(labels.cpu()).tolist()):
        count = min(max(round(part * len(members)), 1), max(len(members) - 1, 0))
        held[members[:count]] = True
    if not held.any():
        raise UsageError(
            "no class has two training samples, so none can be held out to choose a learning rate: "
            "give one learning rate and one weight decay"
        )
    return held.to(labels.device)
