"""Few-shot accuracy on cached features: a linear classifier from n images of every class.

LooC, section 4: all classes at once, several trials that draw their shots anew, and Student's 95 %
interval of the mean over trials. Two solvers:

- `exact` is the minimum of the L2-penalized cross-entropy, with a penalty that grows with the
  variance of the shots, so that no rescaling of the features changes the result. It is the same in
  every trial: chosen on a held-out part of so few shots, it did worse.
- `adam` is the paper's (LooC, appendix D): 250 iterations of Adam on all shots, at a rate of 0.03.
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

DECAY = 0.01
"""The weight decay, times the shots' total variance over the number of classes; it was chosen on
held-out training images of `shapes` drawn with another seed."""
ADAM = Protocol(
    "looc few-shot",
    learning_rate=0.03,
    batch_size=2**31,
    epochs=250,
    drops=(250,),
    optimizer="adam",
)
"""All shots are one batch, so an epoch is an iteration; the rate never drops."""


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
    """By the number of shots: accuracies (0 to 1) on every test set, one a trial.

    `classes` are the names of labels 0 to K - 1; without, the numbers up to the highest label.
    `on_progress(done, all)` is called after each trial.
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
            draw = torch_seed("few-shot", seed, trial)
            outcomes.append(_SOLVERS[solver](few, tests, len(classes), draw))
            if on_progress is not None:
                on_progress(number * trials + trial + 1, len(shots) * trials)
        results[count] = {name: tuple(found[name] for found in outcomes) for name in tests}
    return results


def sample_shots(labels: Tensor, shots: int, seed: int, trial: int) -> Tensor:
    """(K * shots,) positions in labels (N,), class by class; 5 shots are the first 5 of 10.

    Every class of 0 to the highest label has at least that many images.
    """
    order = torch.from_numpy(generator("few-shot", seed, trial).permutation(len(labels)))
    by_class = order[labels.cpu()[order].argsort(stable=True)]
    members = by_class.split(torch.bincount(labels.cpu()).tolist())
    return torch.cat([positions[:shots] for positions in members]).to(labels.device)


def _exact(
    few: tuple[Tensor, Tensor], tests: Mapping[str, Labeled], classes: int, draw: int
) -> dict[str, float]:
    features, _ = few
    unit = float(features.double().var(0, correction=0).sum()) / classes or 1.0
    result = linear_accuracy(
        few,
        tests,
        classes=classes,
        learning_rates=[math.inf],
        weight_decays=[DECAY * unit],
        seeds=[draw],
    )
    return {name: result.mean(name) for name in tests}


def _adam(
    few: tuple[Tensor, Tensor], tests: Mapping[str, Labeled], classes: int, draw: int
) -> dict[str, float]:
    return run_protocol(ADAM, few, tests, seed=draw, classes=classes)


_SOLVERS = {"exact": _exact, "adam": _adam}


def _require_shots(labels: Tensor, shots: int, classes: Sequence[str]) -> None:
    counts = torch.bincount(labels, minlength=len(classes)).tolist()
    for name, count in zip(classes, counts, strict=True):
        if count < shots:
            raise UsageError(
                f"the class '{name}' has {count} training images, fewer than shots: {shots}"
            )
