"""Linear probe on cached features: a grid of learning rates and weight decays, solved together.

The papers train a linear classifier with SGD for 100 epochs and search over learning rates and
weight decays. The problem is convex, so these settings only determine how far the classifier moves
from its initialization. SGD with learning rate lr, momentum m and a step schedule follows the
gradient flow for a time T = lr / (1 - m) * (number of steps, each weighted by its decay factor),
and stopping the gradient flow at time T is close to penalizing the squared distance from the
initialization with weight 1 / T (Ali et al. 2020). The setting (lr, wd) therefore stands for the
minimum of

    cross-entropy + wd / 2 |w|^2 + 1 / (2 T(lr)) |w - w_0|^2,     w_0 ~ N(0, 0.01^2) by seed.

A learning rate at which SGD would diverge is merely a weak penalty. Features are centered and the
bias is not penalized, so a large common mean does no harm; the papers' SGD converges slowly on such
features and scores lower than this probe until the mean is subtracted. Settings are solved from the
strongest penalty to the weakest, each starting at the previous solution, for all seeds together.

Each seed repeats the whole evaluation: it samples w_0 and the held-out part of the training set,
chooses its setting on that part, and fits again on the whole training set. Nothing is chosen on a
test set.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.probes.holdout import stratified_holdout
from unshortcut.probes.matrices import (
    MANY_CLASSES,
    Accuracy,
    FeatureMatrix,
    Labeled,
    Labels,
    accuracy,
    checked,
    in_top,
)
from unshortcut.probes.protocols import INIT_STD, MOCO
from unshortcut.probes.solver import Basis, Problem, solve
from unshortcut.randomness import torch_generator

LRS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Default learning rates, to be divided by the total variance of the features."""
WEIGHT_DECAYS = (0.0, 1e-5)
"""Default weight decays, to be multiplied by the total variance of the features."""
TOLERANCE = 1e-4
"""The solver stops when it predicts a smaller decrease of the objective than this, in nats."""
MAX_ITERATIONS = 200
MAX_WEIGHTS = 2**23
"""Number of weights to solve for at once; the solver needs about 20 times their memory."""


@dataclass(frozen=True, order=True)
class Setting:
    """A point of the grid, in the units of the papers' SGD on unscaled features."""

    lr: float
    weight_decay: float

    def penalties(self, num_samples: int) -> tuple[float, float]:
        """Penalties on the distances from the initialization, 1 / T, and from zero."""
        drops = sum(MOCO.lr_at(epoch) / MOCO.lr for epoch in range(MOCO.epochs))
        steps = math.ceil(num_samples / MOCO.batch_size) * drops
        return (1 - MOCO.momentum) / (self.lr * steps), self.weight_decay


@dataclass(frozen=True)
class LinearClassifier:
    """The classifier of one seed, fitted on the whole training set with the chosen setting."""

    seed: int
    setting: Setting
    holdout: Mapping[Setting, float]
    """Accuracy of every setting on the held-out part; empty for a single setting."""
    weight: Tensor
    """(K, D)"""
    bias: Tensor
    """(K,)"""

    def logits(self, features: Tensor) -> Tensor:
        """Features (N, D) to logits (N, K)."""
        return features.float() @ self.weight.T + self.bias

    def predict(self, features: Tensor) -> Tensor:
        """Features (N, D) to predicted classes (N,)."""
        return torch.cat([self.logits(part).argmax(1) for part in features.split(2**14)])

    def in_top5(self, features: Tensor, labels: Tensor) -> Tensor:
        """Whether the labels (N,) of features (N, D) are among the five best classes, (N,)."""
        parts = zip(features.split(2**14), labels.split(2**14), strict=True)
        return torch.cat([in_top(self.logits(rows), truth) for rows, truth in parts])


@dataclass(frozen=True)
class LinearResult:
    """Accuracies (0 to 1) of all seeds on all test sets."""

    classifiers: tuple[LinearClassifier, ...]
    """One classifier per seed."""
    accuracies: Mapping[str, tuple[float, ...]]
    """Accuracies by test set, in the order of the seeds."""
    per_class: Mapping[str, tuple[float, ...]]
    """Mean over seeds for each class, by test set; NaN for classes that the set lacks."""
    top5: Mapping[str, tuple[float, ...]]
    """Top-5 accuracies as in `accuracies`; empty for ten classes or fewer."""

    @property
    def chosen(self) -> Setting:
        """The setting that most seeds chose; in a tie, that of the earliest seed."""
        return statistics.mode(classifier.setting for classifier in self.classifiers)

    def mean(self, test: str) -> float:
        """Mean accuracy over seeds."""
        return statistics.fmean(self.accuracies[test])

    def by_seed(self, test: str) -> list[Accuracy]:
        """Top-1 and top-5 accuracy of every seed."""
        top1 = self.accuracies[test]
        top5 = self.top5.get(test, (None,) * len(top1))
        return [Accuracy(*pair) for pair in zip(top1, top5, strict=True)]

    def std(self, test: str) -> float:
        """Sample standard deviation over seeds (n - 1); 0 for one seed."""
        values = self.accuracies[test]
        return statistics.stdev(values) if len(values) > 1 else 0.0


def linear_accuracy(
    train: Labeled,
    tests: Mapping[str, Labeled],
    *,
    classes: int | None = None,
    lrs: Sequence[float] | None = None,
    weight_decays: Sequence[float] | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    holdout: float = 0.2,
) -> LinearResult:
    """Fit a linear classifier per seed with `fit_linear` and test it on every test set."""
    features, labels = checked(train, "train", classes)
    classes = int(labels.max()) + 1 if classes is None else classes
    held = {name: checked(test, name, classes) for name, test in tests.items()}
    for name, (rows, _) in held.items():
        if rows.shape[1] != features.shape[1]:
            raise UsageError(
                f"the train features have {features.shape[1]} dimensions, "
                f"the {name} set's {rows.shape[1]}"
            )
    classifiers = fit_linear(
        features,
        labels,
        classes=classes,
        lrs=lrs,
        weight_decays=weight_decays,
        seeds=seeds,
        holdout=holdout,
    )
    accuracies, per_class, top5 = {}, {}, {}
    for name, (rows, truth) in held.items():
        right = torch.stack([one.predict(rows) == truth for one in classifiers]).double()
        accuracies[name] = tuple(right.mean(1).tolist())
        sums = right.new_zeros(classes).index_add_(0, truth, right.mean(0))
        per_class[name] = tuple((sums / torch.bincount(truth, minlength=classes)).tolist())
        if classes > MANY_CLASSES:
            hits = torch.stack([one.in_top5(rows, truth) for one in classifiers]).double()
            top5[name] = tuple(hits.mean(1).tolist())
    return LinearResult(classifiers, accuracies, per_class, top5)


def fit_linear(
    features: FeatureMatrix,
    labels: Labels,
    *,
    classes: int | None = None,
    lrs: Sequence[float] | None = None,
    weight_decays: Sequence[float] | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    holdout: float = 0.2,
) -> tuple[LinearClassifier, ...]:
    """Fit a linear classifier per seed on features (N, D) and labels (N,).

    Needs memory for one float32 copy of the features.

    Args:
        lrs, weight_decays: the grid, in the units of the papers' SGD on these features. The
            defaults, `LRS` and `WEIGHT_DECAYS`, are relative to the total variance of the features,
            so that rescaling the features does not change the result. A learning rate of infinity
            stands for training to convergence, where only the weight decay limits the classifier.
        seeds: random seeds of the repetitions.
        holdout: share of each class on which a seed chooses its setting; not used for a single
            setting.
    """
    rows, truth = checked((features, labels), "train", classes)
    classes = int(truth.max()) + 1 if classes is None else classes
    if not seeds or len(set(seeds)) < len(seeds):
        raise UsageError(f"seeds must be different numbers, at least one, not {list(seeds)}")
    basis = Basis.of(rows)
    grid = _grid(lrs, weight_decays, float(basis.energy[:-1].sum()))
    fitter = _Fitter(basis, basis.coordinates(rows), truth, classes)
    group = max(1, MAX_WEIGHTS // (classes * len(basis.energy)))
    return tuple(
        classifier
        for first in range(0, len(seeds), group)
        for classifier in fitter.fit(grid, seeds[first : first + group], holdout)
    )


def _grid(
    lrs: Sequence[float] | None, weight_decays: Sequence[float] | None, variance: float
) -> list[Setting]:
    """The settings, from the strongest penalty to the weakest."""
    unit = variance or 1.0
    lrs = [lr / unit for lr in LRS] if lrs is None else lrs
    decays = [wd * unit for wd in WEIGHT_DECAYS] if weight_decays is None else weight_decays
    if not lrs or not all(lr > 0 for lr in lrs):
        raise UsageError(f"learning rates must be above 0, not {list(lrs)}")
    if not decays or not all(0 <= decay < math.inf for decay in decays):
        raise UsageError(f"weight decays must be 0 or more, not {list(decays)}")
    if math.inf in lrs and 0 in decays:
        raise UsageError("without a weight decay the learning rate must be finite, not inf")
    grid = {Setting(lr, decay) for lr in lrs for decay in decays}
    return sorted(grid, key=lambda setting: (-sum(setting.penalties(10_000)), setting))


@dataclass(frozen=True)
class _Fitter:
    """Fits the classifiers of several seeds together on one training set."""

    basis: Basis
    coordinates: Tensor
    labels: Tensor
    classes: int

    def fit(
        self, grid: Sequence[Setting], seeds: Sequence[int], holdout: float
    ) -> list[LinearClassifier]:
        starts = torch.stack([self._start(seed) for seed in seeds])
        everything = torch.ones(len(seeds), len(self.labels), device=self.labels.device)
        holdouts: list[dict[Setting, float]] = [{} for _ in seeds]
        chosen, guess = [grid[0]] * len(seeds), starts
        if len(grid) > 1:
            held = torch.stack([stratified_holdout(self.labels, holdout, seed) for seed in seeds])
            holdouts, chosen, guess = self._choose(grid, held, starts)
        weights = self._solve(everything, chosen, starts, guess)
        return [
            LinearClassifier(seed, setting, scores, *self.basis.to_features(weight))
            for seed, setting, scores, weight in zip(seeds, chosen, holdouts, weights, strict=True)
        ]

    def _choose(
        self, grid: Sequence[Setting], held: Tensor, starts: Tensor
    ) -> tuple[list[dict[Setting, float]], list[Setting], Tensor]:
        """Held-out accuracies of the grid, the best setting and its weights, per row of `held`.

        Among settings with equal accuracy, the one with the strongest penalty is chosen.
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
        """Weights (H, K, A) of classifiers fitted on the samples marked in `seen` (H, N)."""
        counts = seen.sum(1)
        penalties = [s.penalties(int(n)) for s, n in zip(settings, counts.tolist(), strict=True)]
        to_start, to_zero = starts.new_tensor(penalties).unbind(1)
        penalty = to_start + to_zero
        center = starts * (to_start / penalty)[:, None, None]
        problem = Problem(self.coordinates, self.labels, seen / counts[:, None], penalty, center)
        return solve(
            problem, self.basis.energy, guess, tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS
        )

    def _start(self, seed: int) -> Tensor:
        """w_0 (K, A) along the principal axes; an isotropic Gaussian is the same in any basis."""
        random = torch_generator("linear probe", "start", seed)
        start = torch.randn(self.classes, len(self.basis.energy), generator=random) * INIT_STD
        start[:, -1] = 0
        return start.to(self.labels.device)
