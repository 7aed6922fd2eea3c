"""Measure which spaces a linear classifier relies on (LooC, figure 4).

For a correctly classified image, the contribution of a space to the logit of its class is the sum
of activation × weight over the space's block of the features. Adding one vector to the weights of
all classes shifts all logits equally and changes no prediction, but would change the contributions.
The weights are therefore centered over the classes first, so that only the difference from the
average class counts. The share of a space is the positive part of its contribution divided by the
sum of all positive parts. If no contribution is positive (the bias decides), all shares are equal.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from scipy import stats

from unshortcut.arrays import ImageArray
from unshortcut.data.naming import Data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.files import write_text
from unshortcut.inference.features import Features
from unshortcut.models.load import LoadedModel, ModelLike
from unshortcut.probes.linear import LinearClassifier, fit_linear
from unshortcut.probes.prepare import prepare_probe
from unshortcut.spaces.loading import load_with_spaces
from unshortcut.spaces.subsets import columns, required_spaces

_CHUNK = 1024
"""Number of images whose contributions are computed at once."""


@dataclass(frozen=True)
class SpaceExample:
    """The image that relies most on a space."""

    space: str
    identity: str
    label: str
    shares: tuple[float, ...]
    """The share of each space."""
    pixels: ImageArray
    """The image as the model sees it."""


@dataclass(frozen=True)
class Reliance:
    """The shares of spaces in the correct predictions on one test set."""

    spaces: tuple[str, ...]
    classes: tuple[str, ...]
    num_images: int
    """Number of images in the test set, including incorrectly predicted ones."""
    identities: tuple[str, ...]
    """The M images that the classifier of at least one seed predicts correctly."""
    labels: NDArray[np.int64]
    """(M,)"""
    shares: NDArray[np.float64]
    """Mean over the seeds that are correct, (M, S); rows sum to 1."""
    examples: tuple[SpaceExample, ...]
    """One example per space."""

    @property
    def overall(self) -> NDArray[np.float64]:
        """Mean over the images, (S,)."""
        return np.asarray(self.shares.mean(axis=0))

    @property
    def per_class(self) -> NDArray[np.float64]:
        """Mean over the images of each class, (K, S); NaN if no prediction is correct."""
        sums = np.zeros((len(self.classes), len(self.spaces)))
        np.add.at(sums, self.labels, self.shares)
        counts = np.bincount(self.labels, minlength=len(self.classes))[:, None]
        return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)

    @property
    def entropy(self) -> float:
        """Entropy of the mean shares in bits, as in the paper; at most log2(S)."""
        return float(entropy_bits(self.overall))

    @property
    def class_entropies(self) -> NDArray[np.float64]:
        """Entropy of the mean shares of each class in bits, (K,); NaN where there are none."""
        return entropy_bits(self.per_class)

    @property
    def image_entropies(self) -> NDArray[np.float64]:
        """Entropy of the shares of each image in bits, (M,).

        Their mean is below `entropy` if images rely on different spaces.
        """
        return entropy_bits(self.shares)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; classes without a correct prediction are left out."""
        rows = {
            name: {
                "correct": int((self.labels == label).sum()),
                **_summary(self.spaces, self.shares[self.labels == label]),
            }
            for label, name in enumerate(self.classes)
            if (self.labels == label).any()
        }
        return {
            "num_images": self.num_images,
            "correct": len(self.labels),
            **_summary(self.spaces, self.shares),
            "classes": rows,
            "examples": {
                one.space: {
                    "image": one.identity,
                    "class": one.label,
                    "shares": dict(zip(self.spaces, one.shares, strict=True)),
                }
                for one in self.examples
            },
        }


@dataclass(frozen=True)
class SpaceReliance:
    """Which spaces of a model a linear classifier relies on, by test set."""

    model: str
    spaces: tuple[str, ...]
    tests: dict[str, Reliance]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the single images."""
        return {
            "spaces": list(self.spaces),
            "max_entropy_bits": float(np.log2(len(self.spaces))),
            "tests": {name: test.to_dict() for name, test in self.tests.items()},
        }

    def write_images(self, path: str | Path) -> None:
        """Write a CSV file with the shares and the entropy of each correctly predicted image."""
        text = StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(["test", "image", "class", *self.spaces, "entropy_bits"])
        for name, test in self.tests.items():
            numbers = np.column_stack([test.shares, test.image_entropies]).tolist()
            for identity, label, row in zip(test.identities, test.labels, numbers, strict=True):
                lines.writerow([name, identity, test.classes[label], *(f"{n:.6f}" for n in row)])
        write_text(path, text.getvalue())

    def plot(self, path: str | Path) -> None:
        """Write a PNG with the shares overall and by class, and an example image per space."""
        from unshortcut.spaces.reliance_plot import plot_reliance

        plot_reliance(path, f"Which spaces a linear classifier relies on: {self.model}", self.tests)


def space_reliance(
    model: ModelLike,
    data: Data,
    *,
    tests: Sequence[Data] | Mapping[str, Data] = (),
    seeds: int = 3,
    console: Console | None = None,
    workers: int | None = None,
) -> SpaceReliance:
    """Fit a linear classifier on all spaces, and measure which of them it relies on.

    Args:
        model: a run with spaces, an export of spaces, or a loaded model with spaces.
        data: labeled images to fit on (the `train` split by default).
        tests: data sets to test on, optionally by name; by default the `test` split of `data`, or
            else `val`.
        seeds: number of classifiers; the shares of an image are the mean over those that classify
            it correctly.
        workers: number of workers that decode images; by default one per available core.
    """
    if seeds < 1:
        raise UsageError(f"seeds must be at least 1, not {seeds}")
    loaded = load_with_spaces(model)
    spaces = required_spaces(loaded)
    prepared = prepare_probe(loaded, data, tests=tests, console=console, workers=workers)
    train = prepared.extract(prepared.train, "train")
    classes = tuple(train.classes or ())
    columns(spaces, spaces, train.values.shape[1])  # checks the blocks before fitting
    classifiers = fit_linear(
        train.values, train.required_labels(), classes=len(classes), seeds=range(seeds)
    )
    found = {}
    for name, source in prepared.tests.items():
        test = prepared.extract(source, name)
        correct, shares = correct_shares(classifiers, test, len(spaces))
        if not correct.any():
            raise UsageError(f"no image of '{name}' is predicted correctly")
        found[name] = _reliance(loaded, spaces, classes, source, test, correct, shares)
    return SpaceReliance(loaded.name, spaces, found)


def correct_shares(
    classifiers: Sequence[LinearClassifier], test: Features, spaces: int
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which images (N,) at least one classifier predicts correctly, and the shares (N, S).

    The shares of an image are the mean over the classifiers that predict it correctly, or 0.
    """
    features, labels = torch.from_numpy(test.values), torch.from_numpy(test.required_labels())
    sums, counts = np.zeros((len(labels), spaces)), np.zeros(len(labels), dtype=np.int64)
    for classifier in classifiers:
        weight = classifier.weight.double().cpu()
        correct = (classifier.predict(features).cpu() == labels).numpy()
        counts += correct
        sums += correct[:, None] * shares_of(
            contributions(features, labels, weight - weight.mean(dim=0), spaces)
        )
    return counts > 0, sums / np.maximum(counts, 1)[:, None]


def contributions(
    features: torch.Tensor, labels: torch.Tensor, weight: torch.Tensor, spaces: int
) -> NDArray[np.float64]:
    """Contribution (N, S) of each block of features (N, S·W) to the logit of the label (N,).

    `weight` (K, S·W) is float64 and centered over the classes.
    """
    parts = [
        (rows.double() * weight[truth]).view(len(rows), spaces, -1).sum(dim=2).numpy()
        for rows, truth in zip(features.split(_CHUNK), labels.split(_CHUNK), strict=True)
    ]
    return np.concatenate(parts)


def shares_of(contributions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positive parts (N, S) divided by their sum; equal shares if no part is positive."""
    positive = np.maximum(contributions, 0)
    total = positive.sum(axis=1, keepdims=True)
    equal = np.full_like(positive, 1 / positive.shape[1])
    return np.divide(positive, total, out=equal, where=total > 0)


def entropy_bits(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropies (...) of distributions (..., S) in bits."""
    return np.asarray(stats.entropy(shares, base=2, axis=-1))


def _summary(spaces: Sequence[str], shares: NDArray[np.float64]) -> dict[str, Any]:
    """The mean of shares (m, S) and both entropies."""
    mean = shares.mean(axis=0)
    return {
        "shares": dict(zip(spaces, mean.tolist(), strict=True)),
        "entropy_bits": float(entropy_bits(mean)),
        "mean_image_entropy_bits": float(entropy_bits(shares).mean()),
    }


def _reliance(
    model: LoadedModel,
    spaces: tuple[str, ...],
    classes: tuple[str, ...],
    source: ImageSource,
    test: Features,
    correct: NDArray[np.bool_],
    shares: NDArray[np.float64],
) -> Reliance:
    indices, labels = test.indices[correct].tolist(), test.required_labels()[correct]
    shares = shares[correct]
    identities = tuple(source.identity(index) for index in indices)
    view = model.preprocessing.view
    examples = []
    for space, row in zip(spaces, shares.argmax(axis=0).tolist(), strict=True):
        index, label = indices[row], classes[labels[row]]
        pixels = view(source.image(index), 0, 0, index)["image"]
        examples.append(
            SpaceExample(space, identities[row], label, tuple(shares[row].tolist()), pixels)
        )
    return Reliance(spaces, classes, len(correct), identities, labels, shares, tuple(examples))
