"""Few-shot accuracy on cached features: a linear classifier on n images per class.

As in LooC, section 4, each trial samples its images (shots) anew and classifies all classes. There
are two solvers:

- `exact` minimizes the L2-penalized cross-entropy. The penalty is proportional to the variance of
  the shots, so rescaling the features does not change the result. Choosing the penalty on held-out
  shots gave lower accuracy, because there are so few.
- `adam` follows the paper (LooC, appendix D): 250 iterations of Adam on all shots, lr 0.03.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.probes.linear import linear_accuracy
from unshortcut.probes.matrices import Labeled, checked
from unshortcut.probes.protocols import Protocol, run_protocol
from unshortcut.randomness import generator, torch_seed

Solver = Literal["exact", "adam"]

WEIGHT_DECAY = 0.01
"""To be multiplied by the total variance of the shots over the number of classes; chosen on
held-out training images of `shapes` with another seed."""
ADAM = Protocol(
    "looc few-shot", lr=0.03, batch_size=2**31, epochs=250, drops=(250,), optimizer="adam"
)
"""All shots are one batch, so an epoch is an iteration; the learning rate is constant."""


def few_shot_accuracy(
    train: Labeled,
    tests: Mapping[str, Labeled],
    shots: Sequence[int],
    *,
    classes: Sequence[str] | None = None,
    solver: Solver = "exact",
    trials: int = 10,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> dict[int, dict[str, tuple[float, ...]]]:
    """Accuracies (0 to 1) by number of shots and test set, with one value per trial.

    `classes` are the names of labels 0 to K - 1, by default the labels themselves.
    `on_progress(done, total)` is called after each trial.
    """
    features, labels = checked(train, "train", len(classes) if classes else None)
    classes = classes or [str(number) for number in range(int(labels.max()) + 1)]
    _require_shots(labels, max(shots), classes)
    results = {}
    for number, count in enumerate(shots):
        outcomes = []
        for trial in range(trials):
            chosen = sample_shots(labels, count, seed, trial)
            few = features[chosen], labels[chosen]
            init_seed = torch_seed("few-shot", seed, trial)
            outcomes.append(_SOLVERS[solver](few, tests, len(classes), init_seed))
            if on_progress is not None:
                on_progress(number * trials + trial + 1, len(shots) * trials)
        results[count] = {name: tuple(found[name] for found in outcomes) for name in tests}
    return results


def sample_shots(labels: Tensor, shots: int, seed: int, trial: int) -> Tensor:
    """Sample indices (K * shots,) into labels (N,), class by class; the first 5 of 10 are 5 shots.

    Every class from 0 to the highest label must have at least `shots` images. scikit-learn's
    `StratifiedShuffleSplit` takes images in proportion to the sizes of the classes instead, not
    the same number of each.
    """
    order = torch.from_numpy(generator("few-shot", seed, trial).permutation(len(labels)))
    by_class = order[labels.cpu()[order].argsort(stable=True)]
    members = by_class.split(torch.bincount(labels.cpu()).tolist())
    return torch.cat([indices[:shots] for indices in members]).to(labels.device)


def _exact(
    few: tuple[Tensor, Tensor], tests: Mapping[str, Labeled], classes: int, seed: int
) -> dict[str, float]:
    features, _ = few
    unit = float(features.double().var(0, correction=0).sum()) / classes or 1.0
    decays = [WEIGHT_DECAY * unit]
    result = linear_accuracy(
        few, tests, classes=classes, lrs=[math.inf], weight_decays=decays, seeds=[seed]
    )
    return {name: result.mean(name) for name in tests}


def _adam(
    few: tuple[Tensor, Tensor], tests: Mapping[str, Labeled], classes: int, seed: int
) -> dict[str, float]:
    return run_protocol(ADAM, few, tests, seed=seed, classes=classes)


_SOLVERS = {"exact": _exact, "adam": _adam}


def _require_shots(labels: Tensor, shots: int, classes: Sequence[str]) -> None:
    counts = torch.bincount(labels, minlength=len(classes)).tolist()
    for name, count in zip(classes, counts, strict=True):
        if count < shots:
            raise UsageError(
                f"the class '{name}' has {count} training images, fewer than the {shots} shots"
            )
