"""Few-shot accuracy on cached features: a linear classifier on n images per class.

As in LooC, section 4, each trial samples its images (shots) anew and classifies all classes. There
are two solvers:

- `exact` minimizes the L2-penalized cross-entropy. The penalty is proportional to the variance of
  the shots, so rescaling the features does not change the result. Choosing the penalty on held-out
  shots gave lower accuracy, because there are so few.
- `adam` follows the paper (LooC, section 4 and appendix D): 250 iterations of Adam with batches of
  256 shots and a learning rate of 0.03; every pass over the shots has a new random order.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, Unpack

import torch
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.probes.linear import linear_accuracy
from unshortcut.probes.matrices import Accuracy, Labeled, checked
from unshortcut.probes.protocol_training import run_protocol
from unshortcut.probes.protocols import Protocol
from unshortcut.progress import OnProgress
from unshortcut.randomness import generator, torch_seed

Solver = Literal["exact", "adam"]

WEIGHT_DECAY = 0.01
"""To be multiplied by the total variance of the shots over the number of classes; chosen on
held-out training images of `shapes` with another seed."""
ADAM = Protocol(
    "looc few-shot", lr=0.03, batch_size=256, epochs=250, iterations=250, drops=(250,),
    optimizer="adam",
)  # fmt: skip
"""The learning rate is constant: there are 250 epochs only if all shots are one batch."""


class Settings(TypedDict, total=False):
    """The settings of `few_shot_top_accuracy`."""

    classes: Sequence[str] | None
    solver: Solver
    trials: int
    seed: int
    on_progress: OnProgress | None


def few_shot_accuracy(
    train: Labeled,
    tests: Mapping[str, Labeled],
    shots: Sequence[int],
    **settings: Unpack[Settings],
) -> dict[int, dict[str, tuple[float, ...]]]:
    """Accuracies (0 to 1) by number of shots and test set, with one value per trial.

    The settings are those of `few_shot_top_accuracy`.
    """
    found = few_shot_top_accuracy(train, tests, shots, **settings)
    return {
        count: {name: tuple(one.top1 for one in values) for name, values in by_test.items()}
        for count, by_test in found.items()
    }


def few_shot_top_accuracy(
    train: Labeled,
    tests: Mapping[str, Labeled],
    shots: Sequence[int],
    *,
    classes: Sequence[str] | None = None,
    solver: Solver = "exact",
    trials: int = 10,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> dict[int, dict[str, tuple[Accuracy, ...]]]:
    """Top-1 accuracies and, for more than ten classes, top-5 accuracies of every trial.

    `classes` are the names of labels 0 to K - 1, by default the labels themselves.
    `on_progress(done, total)` is called after each trial.
    """
    features, labels = checked(train, "train", len(classes) if classes else None)
    classes = classes or [str(number) for number in range(int(labels.max()) + 1)]
    _check_pool(labels, shots, classes, trials)
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
) -> dict[str, Accuracy]:
    features, _ = few
    unit = float(features.double().var(0, correction=0).sum()) / classes or 1.0
    decays = [WEIGHT_DECAY * unit]
    result = linear_accuracy(
        few, tests, classes=classes, lrs=[math.inf], weight_decays=decays, seeds=[seed]
    )
    return {name: result.by_seed(name)[0] for name in tests}


def _adam(
    few: tuple[Tensor, Tensor], tests: Mapping[str, Labeled], classes: int, seed: int
) -> dict[str, Accuracy]:
    found = run_protocol(ADAM, lambda epoch: few, tests, seeds=[seed], classes=classes)
    return {name: values[0] for name, values in found.items()}


_SOLVERS = {"exact": _exact, "adam": _adam}


def _check_pool(labels: Tensor, shots: Sequence[int], classes: Sequence[str], trials: int) -> None:
    """Refuse a pool with too few images, and warn of one in which every trial is the same."""
    counts = torch.bincount(labels, minlength=len(classes)).tolist()
    for name, count in zip(classes, counts, strict=True):
        if count < max(shots):
            raise UsageError(
                f"the class '{name}' has {count} training images, fewer than the {max(shots)} shots"
            )
    same = [count for count in shots if max(counts) <= count]
    if same and trials > 1:
        warnings.warn(
            f"every class has exactly {same[0]} training images, so all {trials} trials of "
            f"{same[0]} shots use the same images and the interval says nothing; give a larger "
            "pool, e.g. --data flowers102@train+val",
            stacklevel=3,
        )
