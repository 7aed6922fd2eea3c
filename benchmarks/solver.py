"""The solver of the linear probe compared with scikit-learn and `torch.optim.LBFGS`.

All three minimize the same objectives: for each of three seeds, the L2-penalized cross-entropy on
the part of the training set that is not held out, for every penalty of the default grid. They start
each penalty at the solution of the previous one. scikit-learn and PyTorch stop by other criteria
than our solver, so each uses the loosest of `TOLERANCES` with which the largest excess of an
objective over its minimum is no larger than ours. They get centered features, which spares them the
large common mean. The features are 10,000 × 512 for 10 classes, of which 8,000 are trained on;
they are correlated and nonnegative, like those of a network after its last ReLU. One thread.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from torch.nn import functional as F

from benchmarks.common import json_target, report
from unshortcut.probes.holdout import stratified_holdout
from unshortcut.probes.linear import LRS, MAX_ITERATIONS, TOLERANCE, WEIGHT_DECAYS, Setting
from unshortcut.probes.solver import Basis, Problem, solve

SAMPLES, DIMENSIONS, CLASSES = 10_000, 512, 10
SEEDS = (0, 1, 2)
ROUNDS = 3
TOLERANCES = tuple(scale * 10.0**power for power in range(-1, -9, -1) for scale in (1.0, 0.3))
PEER_ITERATIONS = 10_000


@dataclass(frozen=True)
class Task:
    """The training parts of the seeds, and the penalties from the strongest to the weakest."""

    features: Tensor
    labels: Tensor
    seen: Tensor
    """The samples that each seed trains on, (S, N) bool."""
    penalties: tuple[float, ...]

    def parts(self) -> list[tuple[Tensor, Tensor]]:
        """Centered features and labels of the training part of each seed."""
        centered = self.features - self.features.mean(0)
        return [(centered[seen], self.labels[seen]) for seen in self.seen]


Weights = dict[tuple[int, float], tuple[Tensor, Tensor]]
"""Weight (K, D) and bias (K,) on centered features, by seed and penalty."""


def main() -> None:
    target = json_target("solver")
    torch.set_num_threads(1)
    report("solver", compare(make_task()), ["torch", "scikit-learn", "numpy"], target)


def compare(task: Task, rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds and excess objectives of the three, and how many times as fast ours is."""
    minima = objectives(task, ours(task, dtype=torch.float64, tolerance=1e-9))

    def excess(weights: Weights) -> float:
        return max(value - minima[key] for key, value in objectives(task, weights).items())

    limit = excess(ours(task))
    chosen = {
        name: next(t for t in TOLERANCES if excess(solver(task, t)) <= limit)
        for name, solver in PEERS.items()
    }
    figures: dict[str, float] = {"solver_excess_ours": limit}
    seconds: dict[str, list[float]] = {"ours": [], **{name: [] for name in PEERS}}
    for _ in range(rounds):
        seconds["ours"].append(timed(lambda: ours(task)))
        for name, solver in PEERS.items():
            seconds[name].append(timed(lambda solver=solver, name=name: solver(task, chosen[name])))
    figures["solver_seconds_ours"] = float(np.median(seconds["ours"]))
    for name, solver in PEERS.items():
        figures[f"solver_seconds_{name}"] = float(np.median(seconds[name]))
        figures[f"solver_tolerance_{name}"] = chosen[name]
        figures[f"solver_excess_{name}"] = excess(solver(task, chosen[name]))
        ratios = np.divide(seconds[name], seconds["ours"])
        figures[f"solver_vs_{name}"] = float(np.median(ratios))
    return figures


def make_task(samples: int = SAMPLES, dimensions: int = DIMENSIONS, classes: int = CLASSES) -> Task:
    """Nonnegative, correlated features whose variance decays along their principal axes."""
    rng = np.random.default_rng(0)
    labels = rng.integers(classes, size=samples)
    scales = np.arange(1, dimensions + 1) ** -0.7
    centers = rng.normal(size=(classes, dimensions))
    hidden = (0.7 * centers[labels] + rng.normal(size=(samples, dimensions))) * scales
    rotation = np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0]
    features = torch.tensor(np.maximum(hidden @ rotation + 0.05, 0), dtype=torch.float32)
    truth = torch.tensor(labels)
    seen = torch.stack([~stratified_holdout(truth, 0.2, seed) for seed in SEEDS])
    unit = float(features.double().var(0, correction=0).sum())
    grid = [Setting(lr / unit, decay * unit) for lr in LRS for decay in WEIGHT_DECAYS]
    penalties = sorted({sum(setting.penalties(int(seen[0].sum()))) for setting in grid})
    return Task(features, truth, seen, tuple(reversed(penalties)))


def ours(
    task: Task, *, dtype: torch.dtype = torch.float32, tolerance: float = TOLERANCE
) -> Weights:
    """All seeds at once, as in the linear probe, but with the penalty on the distance from zero."""
    basis = Basis.of(task.features)
    basis = replace(
        basis, mean=basis.mean.to(dtype), axes=basis.axes.to(dtype), energy=basis.energy.to(dtype)
    )
    centered = task.features.to(dtype) - basis.mean
    coordinates = torch.cat([centered @ basis.axes, centered.new_ones(len(centered), 1)], dim=1)
    shares = (task.seen / task.seen.sum(1, keepdim=True)).to(dtype)
    weights = coordinates.new_zeros(len(task.seen), _classes(task), len(basis.energy))
    center = torch.zeros_like(weights)
    found: Weights = {}
    iterations = MAX_ITERATIONS if tolerance >= TOLERANCE else PEER_ITERATIONS
    for penalty in task.penalties:
        strength = coordinates.new_full((len(task.seen),), penalty)
        problem = Problem(coordinates, task.labels, shares, strength, center)
        weights = solve(
            problem, basis.energy, weights, tolerance=tolerance, max_iterations=iterations
        )
        for seed, weight in enumerate(weights):
            found[seed, penalty] = weight[:, :-1] @ basis.axes.T, weight[:, -1]
    return found


def by_sklearn(task: Task, tolerance: float) -> Weights:
    """One `LogisticRegression` (L-BFGS) per seed with warm starts."""
    found: Weights = {}
    for seed, (features, labels) in enumerate(task.parts()):
        rows, truth = features.numpy(), labels.numpy()
        model = LogisticRegression(tol=tolerance, max_iter=PEER_ITERATIONS, warm_start=True)
        for penalty in task.penalties:
            model.C = 1 / (penalty * len(truth))
            model.fit(rows, truth)
            found[seed, penalty] = torch.tensor(model.coef_), torch.tensor(model.intercept_)
    return found


def by_torch_lbfgs(task: Task, tolerance: float) -> Weights:
    """`torch.optim.LBFGS` with the strong Wolfe line search, for each seed and penalty."""
    found: Weights = {}
    for seed, (features, labels) in enumerate(task.parts()):
        weight = torch.zeros(_classes(task), features.shape[1], requires_grad=True)
        bias = torch.zeros(_classes(task), requires_grad=True)
        for penalty in task.penalties:
            _minimize(features, labels, weight, bias, penalty, tolerance)
            found[seed, penalty] = weight.detach().clone(), bias.detach().clone()
    return found


def _minimize(
    features: Tensor, labels: Tensor, weight: Tensor, bias: Tensor, penalty: float, tolerance: float
) -> None:
    optimizer = torch.optim.LBFGS(
        [weight, bias],
        max_iter=PEER_ITERATIONS,
        tolerance_grad=tolerance,
        tolerance_change=tolerance * 1e-2,
        line_search_fn="strong_wolfe",
    )

    def closure() -> float:
        optimizer.zero_grad()
        loss = _objective(features, labels, weight, bias, penalty)
        loss.backward()
        return loss.item()

    optimizer.step(closure)


PEERS: dict[str, Callable[[Task, float], Weights]] = {
    "sklearn": by_sklearn,
    "torch_lbfgs": by_torch_lbfgs,
}


def objectives(task: Task, weights: Weights) -> dict[tuple[int, float], float]:
    """The objectives in double precision."""
    parts: Sequence[tuple[Tensor, Tensor]] = task.parts()
    return {
        (seed, penalty): float(
            _objective(parts[seed][0].double(), parts[seed][1], w.double(), b.double(), penalty)
        )
        for (seed, penalty), (w, b) in weights.items()
    }


def timed(function: Callable[[], object]) -> float:
    """The seconds that a call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def _objective(
    features: Tensor, labels: Tensor, weight: Tensor, bias: Tensor, penalty: float
) -> Tensor:
    loss = F.cross_entropy(F.linear(features, weight, bias), labels)
    return loss + 0.5 * penalty * weight.square().sum()


def _classes(task: Task) -> int:
    return int(task.labels.max()) + 1


if __name__ == "__main__":
    main()
