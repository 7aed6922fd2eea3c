"""Linear support vector machines on frozen features, one per class, as in DenseCL's benchmark.

The benchmark is that of Goyal et al. (2019) for VOC07: features of unit length, the squared hinge
loss, images that show the class weighted by 2, and the cost of each class chosen by average
precision in 3-fold cross-validation (DenseCL, benchmarks/svm_tools). It differs in two points.
Images for which a class is unknown are left out of its training, where the published code takes
them as not showing it. And the primal problem is solved, not the dual, which has the same solution:
its solver converges for every cost if there are more images than features, and uses no random
numbers, which threads would share.

Shapes: N images, C classes, D features.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.inference.reading import available_workers
from unshortcut.probes.matrices import FeatureMatrix, checked_features
from unshortcut.probes.one_vs_rest import OneVsRest
from unshortcut.progress import OnProgress

COSTS = (1.0, 10.0, 100.0)
FOLDS = 3
POSITIVE_WEIGHT = 2.0
MAX_THREADS = 8
"""Each thread has a copy of the features, with 16 bytes per number."""

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class SVMResult:
    """The classifiers, and the cost that was chosen for each class."""

    classifiers: OneVsRest
    """For features of unit length (`unit_rows`)."""
    costs: tuple[float, ...]


def unit_rows(features: FeatureMatrix) -> torch.Tensor:
    """Features (N, D) of unit length; rows of zeros stay."""
    return F.normalize(torch.as_tensor(features).float(), dim=1)


def fit_svms(
    features: FeatureMatrix,
    values: NDArray[np.int8],
    *,
    costs: Sequence[float] = COSTS,
    positive_weight: float = POSITIVE_WEIGHT,
    folds: int = FOLDS,
    on_progress: OnProgress | None = None,
) -> SVMResult:
    """Fit a support vector machine per class on features (N, D) and values (N, C).

    Args:
        values: 1 shown, 0 not shown, -1 unknown, which is left out for that class.
        costs: candidates for C, the weight of the loss; of equally good ones the first is chosen,
            and for a class with fewer images than folds too.
        positive_weight: weight of the images that show the class.
        on_progress: called with (classes done, all).
    """
    rows = unit_rows(checked_features(features, "train")).double().cpu().numpy()
    if values.ndim != 2 or len(values) != len(rows):
        raise UsageError(f"values must be ({len(rows)}, C), not {values.shape}")
    if not costs or min(costs) <= 0:
        raise UsageError(f"costs must be above 0, not {list(costs)}")

    def fit(number: int) -> tuple[Doubles, float]:
        known = values[:, number] >= 0
        shown = values[known, number] == 1
        return _fit(rows[known], shown, costs, positive_weight, folds)

    classes = values.shape[1]
    # Threads and not processes: the solver holds no lock.
    pool = ThreadPoolExecutor(min(MAX_THREADS, available_workers()), thread_name_prefix="svm")
    try:
        jobs = [pool.submit(fit, number) for number in range(classes)]
        for done, job in enumerate(as_completed(jobs), 1):
            job.result()
            if on_progress is not None:
                on_progress(done, classes)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    weights = torch.from_numpy(np.stack([job.result()[0] for job in jobs])).float()
    chosen = tuple(job.result()[1] for job in jobs)
    return SVMResult(OneVsRest(weights[:, :-1], weights[:, -1]), chosen)


def _fit(
    rows: Doubles, shown: NDArray[np.bool_], costs: Sequence[float], weight: float, folds: int
) -> tuple[Doubles, float]:
    """The weights and the bias (D + 1,) of one class, and its cost."""
    smaller = min(int(shown.sum()), int((~shown).sum()))
    if not smaller:  # nothing to separate
        return np.zeros(rows.shape[1] + 1), costs[0]

    def machine(cost: float) -> LinearSVC:
        return LinearSVC(
            C=cost, class_weight={True: weight, False: 1.0}, dual=False, tol=1e-4, max_iter=2000
        )

    chosen = costs[0]
    if len(costs) > 1 and smaller >= folds:
        precisions = [
            cross_val_score(machine(cost), rows, shown, cv=folds, scoring="average_precision")
            for cost in costs
        ]
        chosen = costs[int(np.argmax(np.mean(precisions, axis=1)))]
    fitted = machine(chosen).fit(rows, shown)
    return np.concatenate([fitted.coef_[0], fitted.intercept_]), chosen
