"""Which space a linear classifier relies on (LooC, figure 4).

For an image that the classifier gets right, the contribution of a space to the logit of its class
is the sum of activation × weight over the space's block of the features. One vector added to the
weights of all classes moves all logits alike and changes no prediction, but it would change the
contributions; so the weights are centered over the classes first, and only what sets a class apart
from the average class counts. The share of a space is the positive part of its contribution over
the sum of all positive parts; where there is none (the bias alone decides) the shares are equal.
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

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.files import write_text
from unshortcut.inference.features import Features
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.measuring.subjects.models import load_with_spaces
from unshortcut.models.load import LoadedModel, ModelLike
from unshortcut.probes.bench import Data, bench
from unshortcut.probes.linear import LinearProbe, fit_linear
from unshortcut.spaces.reliance_plot import draw_reliance
from unshortcut.spaces.subsets import columns, required_spaces
from unshortcut.views.evaluation import EvaluationView

Floats = NDArray[np.float64]
_CHUNK = 1024
"""Images whose contributions are computed at once."""


@dataclass(frozen=True)
class Example:
    """The image that leans most on a space."""

    space: str
    identity: str
    label: str
    shares: tuple[float, ...]
    """In the order of the spaces."""
    pixels: NDArray[np.uint8]
    """(h, w, 3), as the model sees it."""


@dataclass(frozen=True)
class Reliance:
    """The shares of one test set's correctly predicted images."""

    spaces: tuple[str, ...]
    classes: tuple[str, ...]
    count: int
    """Images of the test set, those predicted wrongly included."""
    identities: tuple[str, ...]
    """(M,) of the images that at least one seed's classifier predicts correctly."""
    labels: NDArray[np.int64]
    """(M,)"""
    shares: Floats
    """(M, S): mean over the seeds that are right; rows sum to 1."""
    examples: tuple[Example, ...]
    """One for each space."""

    @property
    def overall(self) -> Floats:
        """(S,): mean over the images."""
        return np.asarray(self.shares.mean(axis=0))

    @property
    def per_class(self) -> Floats:
        """(K, S): mean over a class's images; NaN for a class without a correct prediction."""
        sums = np.zeros((len(self.classes), len(self.spaces)))
        np.add.at(sums, self.labels, self.shares)
        counts = np.bincount(self.labels, minlength=len(self.classes))[:, None]
        return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)

    @property
    def entropy(self) -> float:
        """Of the mean distribution, in bits: the paper's figure; at most log2 of the spaces."""
        return float(entropy_bits(self.overall))

    @property
    def class_entropies(self) -> Floats:
        """(K,): of each class's mean distribution, in bits; NaN where there is none."""
        return entropy_bits(self.per_class)

    @property
    def image_entropies(self) -> Floats:
        """(M,), in bits. Their mean is below `entropy` where images differ in what they rely on."""
        return entropy_bits(self.shares)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; classes without a correct prediction are left out."""
        rows = {
            name: {
                "correct": int((self.labels == label).sum()),
                **_summary(self.spaces, self.shares[self.labels == label]),
            }
            for label, name in enumerate(self.classes)
            if (self.labels == label).any()
        }
        return {
            "images": self.count,
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
    """What a linear classifier on all spaces of a model relies on, by test set."""

    model: str
    spaces: tuple[str, ...]
    tests: dict[str, Reliance]

    def to_dict(self) -> dict[str, Any]:
        """All but the single images as plain values, for JSON."""
        return {
            "spaces": list(self.spaces),
            "max_entropy_bits": float(np.log2(len(self.spaces))),
            "tests": {name: test.to_dict() for name, test in self.tests.items()},
        }

    def write_images(self, path: str | Path) -> None:
        """A CSV file: a line for each correctly predicted image with its shares and entropy."""
        text = StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(["test", "image", "class", *self.spaces, "entropy_bits"])
        for name, test in self.tests.items():
            numbers = np.column_stack([test.shares, test.image_entropies]).tolist()
            for identity, label, row in zip(test.identities, test.labels, numbers, strict=True):
                lines.writerow([name, identity, test.classes[label], *(f"{n:.6f}" for n in row)])
        write_text(path, text.getvalue())

    def plot(self, path: str | Path) -> None:
        """A PNG: shares overall and by class as bars, and an example image for each space."""
        draw_reliance(path, f"Which spaces a linear classifier relies on: {self.model}", self.tests)


def space_reliance(
    model: ModelLike,
    data: Data,
    *,
    tests: Sequence[Data] | Mapping[str, Data] = (),
    seeds: int = 3,
    console: Console | None = None,
    workers: int = 0,
) -> SpaceReliance:
    """Fit the linear probe on all spaces, and see which of them its correct predictions rest on.

    Args:
        model: a run with spaces, an export of spaces, or a loaded model with spaces.
        data: labeled images; the classifier is fitted on its `train` split.
        tests: where to look, by name or not; by default `data`'s `test` split, or else `val`.
        seeds: classifiers; an image's shares are the mean over those that get it right.
    """
    if seeds < 1:
        raise UsageError(f"seeds must be at least 1, not {seeds}")
    loaded = load_with_spaces(model)
    spaces = required_spaces(loaded)
    ready = bench(loaded, data, tests=tests, console=console, workers=workers)
    train = ready.extract(ready.train, "train")
    classes = tuple(train.classes or ())
    columns(spaces, spaces, train.values.shape[1])  # that the blocks are equal, before the fit
    classifiers = fit_linear(
        train.values, train.required_labels(), classes=len(classes), seeds=range(seeds)
    )
    found = {}
    for name, source in ready.tests.items():
        seen = ready.extract(source, name)
        right, shares = correct_shares(classifiers, seen, len(spaces))
        if not right.any():
            raise UsageError(
                f"no image of '{name}' is predicted correctly: there is nothing to see"
            )
        found[name] = _reliance(loaded, spaces, classes, source, seen, right, shares)
    return SpaceReliance(loaded.name, spaces, found)


def correct_shares(
    classifiers: Sequence[LinearProbe], test: Features, spaces: int
) -> tuple[NDArray[np.bool_], Floats]:
    """Which images (N,) at least one classifier gets right, and the shares (N, S) of all.

    The shares of an image are the mean over the classifiers that get it right, else 0.
    """
    features, labels = torch.from_numpy(test.values), torch.from_numpy(test.required_labels())
    sums, counts = np.zeros((len(labels), spaces)), np.zeros(len(labels), dtype=np.int64)
    for classifier in classifiers:
        weight = classifier.weight.double().cpu()
        right = (classifier.predict(features).cpu() == labels).numpy()
        counts += right
        sums += right[:, None] * shares_of(
            contributions(features, labels, weight - weight.mean(dim=0), spaces)
        )
    return counts > 0, sums / np.maximum(counts, 1)[:, None]


def contributions(
    features: torch.Tensor, labels: torch.Tensor, weight: torch.Tensor, spaces: int
) -> Floats:
    """(N, S): what each block of features (N, S·W) adds to the logit of the label (N,).

    `weight` (K, S·W) is float64, centered over the classes.
    """
    parts = [
        (rows.double() * weight[truth]).view(len(rows), spaces, -1).sum(dim=2).numpy()
        for rows, truth in zip(features.split(_CHUNK), labels.split(_CHUNK), strict=True)
    ]
    return np.concatenate(parts)


def shares_of(contributed: Floats) -> Floats:
    """Positive parts (N, S) over their sum; equal shares where nothing is positive."""
    positive = np.maximum(contributed, 0)
    total = positive.sum(axis=1, keepdims=True)
    equal = np.full_like(positive, 1 / positive.shape[1])
    return np.divide(positive, total, out=equal, where=total > 0)


def entropy_bits(shares: Floats) -> Floats:
    """(..., S) distributions to entropies (...) in bits; 0 log 0 is 0."""
    logarithm = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logarithm).sum(axis=-1)) + 0.0  # no -0


def _summary(spaces: Sequence[str], shares: Floats) -> dict[str, Any]:
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
    seen: Features,
    right: NDArray[np.bool_],
    shares: Floats,
) -> Reliance:
    places, labels, shares = seen.indices[right], seen.required_labels()[right], shares[right]
    examples = []
    for space, row in zip(spaces, shares.argmax(axis=0).tolist(), strict=True):
        place = int(places[row])
        example = Example(
            space,
            source.identity(place),
            classes[labels[row]],
            tuple(shares[row].tolist()),
            _as_seen(source, place, model.preprocessing),
        )
        examples.append(example)
    identities = tuple(source.identity(int(place)) for place in places)
    return Reliance(spaces, classes, len(right), identities, labels, shares, tuple(examples))


def _as_seen(source: ImageSource, index: int, shown: Preprocessing) -> NDArray[np.uint8]:
    view = EvaluationView(shown.size, shown.crop_share)
    return view(source.image(index), source.identity(index), 0, 0, index)["image"]
