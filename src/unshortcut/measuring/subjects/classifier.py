"""What a model decides: by its own head, or by a readout that is fitted on labeled images.

A model without a head has features and no decisions; a linear or nearest-neighbor readout of them
decides in its place, and whatever is measured says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.data.source import ImageSource
from unshortcut.errors import RunError, UsageError
from unshortcut.measuring.subjects.class_names import (
    IMAGENET_CLASSES,
    Aggregate,
    ClassOutputs,
    Mapped,
    select,
    unnamed,
)
from unshortcut.models.load import LoadedModel
from unshortcut.probes.features import Features, normalize
from unshortcut.probes.knn import choose_k, knn_votes
from unshortcut.probes.linear import fit_linear

Kind = Literal["head", "linear", "knn"]
Judge = Callable[[Tensor, Tensor | None], Tensor]
"""Features (N, D) and logits (N, C), if any, to probabilities (N, C)."""


@dataclass(frozen=True)
class Classifier:
    """A model's decisions."""

    kind: Kind
    description: str
    """What decides, for people: `its own head of 1000 classes`."""
    classes: tuple[str, ...]
    judge: Judge
    identity: str
    """What it depends on beside the model; keys the caches."""
    mapping: Mapped | None = None
    aggregate: Aggregate = "mean"

    def over(self, names: Sequence[str]) -> ClassOutputs:
        """What it says of some classes; `NotApplicable` where it can name fewer than two."""
        # A mapping is made for a head: a readout has the names of the images themselves.
        own = self.kind != "head"
        return select(names, self.classes, self.mapping, self.aggregate, by_name_first=own)


@dataclass(frozen=True)
class Outputs:
    """What a model says of images."""

    features: NDArray[np.float32]
    """(N, D)."""
    native: NDArray[np.float64] | None
    """(N, C): probabilities of the classifier's own classes; None without a classifier."""

    def rows(self, chosen: NDArray[np.int64]) -> "Outputs":
        """Those of some images."""
        return Outputs(self.features[chosen], None if self.native is None else self.native[chosen])


def join(parts: Sequence[Outputs]) -> Outputs:
    """Those of several batches, one after the other."""
    native = [part.native for part in parts if part.native is not None]
    return Outputs(
        np.concatenate([part.features for part in parts]),
        np.concatenate(native) if native else None,
    )


def run(model: LoadedModel, classifier: Classifier | None, images: NDArray[np.uint8]) -> Outputs:
    """One pass over uint8 images (n, S, S, 3); numbers that cannot be are a `RunError`."""
    tensor = torch.from_numpy(images).permute(0, 3, 1, 2).to(model.device)
    normal = normalize(tensor, model.preprocessing)
    with torch.no_grad():
        if classifier is not None and classifier.kind == "head":
            features, logits = model.outputs(normal)
        else:
            features, logits = model.features(normal), None
        features = checked(features, len(images), model.name, "features").flatten(1)
        if logits is not None:
            logits = checked(logits, len(images), model.name, "logits")
        native = None if classifier is None else classifier.judge(features, logits)
    values = features.float().cpu().numpy()
    return Outputs(values, None if native is None else native.cpu().double().numpy())


def checked(values: Tensor, count: int, name: str, what: str) -> Tensor:
    """A model's answer, or a `RunError` that says what is wrong with it."""
    if not isinstance(values, Tensor):
        raise RunError(
            f"the {what} of '{name}' are of the type {type(values).__name__}, not a tensor"
        )
    wanted = f"({count}, C)" if what == "logits" else f"({count}, D)"
    if values.ndim < 2 or len(values) != count or (what == "logits" and values.ndim != 2):
        raise RunError(
            f"the {what} of '{name}' have the shape {tuple(values.shape)} for {count} images, "
            f"where {wanted} is wanted"
        )
    if not torch.isfinite(values).all():
        raise RunError(f"the {what} of '{name}' are not finite: they have NaN or infinity in them")
    return values


def head(model: LoadedModel, mapping: Mapped | None, aggregate: Aggregate) -> Classifier:
    """The model's own head."""
    assert model.logits is not None
    side = model.preprocessing.size
    blank = torch.zeros(1, 3, side, side, device=model.device)
    with torch.no_grad():
        width = checked(model.logits(blank), 1, model.name, "logits").shape[1]
    classes = model.classes
    said = f"its own head of {width} classes"
    if classes is None:
        classes = unnamed(width)
        if width == IMAGENET_CLASSES:
            said += ", taken for those of ImageNet in their usual order"
    if len(classes) != width:
        raise RunError(
            f"'{model.name}' names {len(classes)} classes, and its logits have {width} columns"
        )

    def judge(features: Tensor, logits: Tensor | None) -> Tensor:
        assert logits is not None
        return logits.cpu().double().softmax(dim=1)

    key = f"head {classes} {mapping} {aggregate}"
    return Classifier("head", said, classes, judge, key, mapping, aggregate)


def readout(
    kind: Kind,
    features: Features,
    source: ImageSource,
    name: str,
    mapping: Mapped | None,
    aggregate: Aggregate,
) -> Classifier:
    """A readout of features, fitted on those of labeled images."""
    # A class without an image to be fitted on cannot be named.
    present, labels = np.unique(features.required_labels(), return_inverse=True)
    if len(present) < 2:
        raise UsageError(f"a readout needs images of at least two classes; '{name}' has one")
    classes = tuple((features.classes or ())[label] for label in present)
    rows = torch.from_numpy(features.values)
    truth = torch.from_numpy(labels)
    said = f"{len(labels)} labeled images of {name}"
    key = f"{kind} {source.fingerprint()} {mapping} {aggregate}"
    if kind == "linear":
        (probe,) = fit_linear(rows, truth, classes=len(classes), seeds=(0,))
        return Classifier(
            "linear",
            f"a linear probe on its features, fitted on {said}",
            classes,
            lambda seen, _: probe.logits(seen.cpu()).double().softmax(dim=1),
            key,
            mapping,
            aggregate,
        )
    k, _ = choose_k(rows, truth)
    return Classifier(
        "knn",
        f"the {k} nearest neighbors among {said}" if k > 1 else f"the nearest neighbor in {said}",
        classes,
        lambda seen, _: knn_votes(rows, truth, seen.cpu(), k=k, classes=len(classes)).double(),
        key,
        mapping,
        aggregate,
    )
