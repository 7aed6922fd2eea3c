"""Test sets with some of the classes of the training data, such as ImageNet-R for ImageNet-100.

Such a set has two accuracies. The classifier decides among all training classes, as it would in
use; and it decides among the classes of the test set alone, as in the published evaluations of
ImageNet-R and ImageNet-A (Hendrycks et al. 2021), which mask all other logits. The papers do not
say which one they print for the 19 classes of ImageNet-R (non-semantic negatives, table 1) and the
13 of ObjectNet (LooC, table 3), so probes report both, each under its own name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.data.class_lists import wordnet_ids
from unshortcut.data.relabeled import Relabeled
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features
from unshortcut.probes.matrices import Accuracy, top_accuracy

Among = NDArray[np.int64]
"""The classes of a test set, as sorted indices into those of the training data."""
SHOWN = 5
"""Number of class names in an error message."""


def with_training_labels(source: ImageSource, classes: Sequence[str], name: str) -> ImageSource:
    """A test set whose labels are indices into the classes of the training data.

    Classes are matched by name, or by the WordNet ids in their names. Raises a `UsageError` that
    names the classes that the training data lack.
    """
    assert source.classes is not None
    if tuple(source.classes) == tuple(classes):
        return source
    exact = {one: number for number, one in enumerate(classes)}
    by_id: dict[str, list[int]] = {}
    for number, one in enumerate(classes):
        for synset in wordnet_ids(one):
            by_id.setdefault(synset, []).append(number)
    numbers, lacking = [], []
    for one in source.classes:
        same = {number for synset in wordnet_ids(one) for number in by_id.get(synset, ())}
        found = {exact[one]} if one in exact else same
        if len(found) > 1:
            several = ", ".join(classes[number] for number in sorted(found)[:SHOWN])
            raise UsageError(
                f"the class '{one}' of '{name}' is several classes of the training data "
                f"({several}); the domain shift of an audit (--shift) can measure it"
            )
        numbers.append(found.pop() if found else -1)
        if numbers[-1] < 0:
            lacking.append(one)
    if lacking:
        more = f" and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
        ids = bool(wordnet_ids(lacking[0]))
        hint = ", so take only those of ImageNet-100 with imagenet100:DATA" if ids else ""
        raise UsageError(
            f"'{name}' has other classes than the training data: {', '.join(lacking[:SHOWN])}"
            f"{more}; a test set may have fewer classes than the training data, but no others{hint}"
        )
    return Relabeled(source, classes, numbers)


def matched_tests(
    data: str, train: ImageSource, tests: Mapping[str, ImageSource]
) -> tuple[dict[str, ImageSource], str | None]:
    """The test sets with the labels of the training data, or else why there are none."""
    found: dict[str, ImageSource] = {}
    for name, source in [(data, train), *tests.items()]:
        if source.labels is None:
            return dict(tests), f"'{name}' has no labels: a classifier needs class folders"
    for name, source in tests.items():
        try:
            found[name] = with_training_labels(source, train.classes or (), name)
        except UsageError as error:
            return dict(tests), str(error)
    return found, None


def marked(features: Features, source: ImageSource, train: ImageSource) -> Features:
    """Features that know their classes, if their source has fewer than the training data."""
    if not isinstance(source, Relabeled) or source.source.classes is None:
        return features
    if len(source.source.classes) >= len(train.classes or ()):
        return features
    return replace(features, among=np.unique(features.required_labels()))


def accuracy_among(logits: Tensor, labels: Tensor, among: Among) -> Accuracy:
    """The accuracy of logits (N, K) for labels (N,) if all classes but `among` are excluded."""
    left = torch.as_tensor(among, device=logits.device)
    return top_accuracy(logits[:, left], torch.searchsorted(left, labels))


def position_in(among: Among, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The indices of labels (N,) in the sorted classes `among`, all of which they are."""
    return np.searchsorted(among, labels)


def among_name(name: str, among: Among) -> str:
    """What the second accuracy of a test set is called."""
    return f"{name}, among its {len(among)} classes"
