"""The classifier of a model under audit: its own head, or one fitted on its features.

A model without a head has features but no decisions. A linear probe or nearest neighbors on its
features classify instead, and every result says so.
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
from unshortcut.inference.features import Features
from unshortcut.inference.forward import checked, run_model
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.linear_head import Head
from unshortcut.measuring.subjects.class_names import (
    IMAGENET_CLASSES,
    Aggregate,
    ClassMapping,
    ClassOutputs,
    outputs_for,
    placeholder_names,
)
from unshortcut.models.classifier import network_and_classifier
from unshortcut.models.load import LoadedModel
from unshortcut.probes.knn import choose_k, knn_votes
from unshortcut.probes.linear import fit_linear

ClassifierKind = Literal["head", "linear", "knn"]
ProbabilityFunction = Callable[[Tensor, Tensor | None], Tensor]
"""Features (N, D) and logits (N, C), if any, to probabilities (N, C)."""


@dataclass(frozen=True)
class Classifier:
    """Assigns probabilities of classes to the outputs of a model."""

    kind: ClassifierKind
    description: str
    """For the report, such as `its own head of 1000 classes`."""
    classes: tuple[str, ...]
    probabilities: ProbabilityFunction
    identity: str
    """Everything that it depends on except the model; part of the key of cached results."""
    mapping: ClassMapping | None = None
    aggregate: Aggregate = "mean"
    linear: Head | None = None
    """Its weights on the features, if it is linear."""
    prompted: bool = False
    """Whether its classes are named by prompts, so that it has those of the data."""

    def over(self, names: Sequence[str]) -> ClassOutputs:
        """Its outputs for some classes; `NotApplicable` if it knows fewer than two of them."""
        # A mapping is meant for a head: other classifiers have the class names of the data.
        own = self.kind != "head" or self.prompted
        return outputs_for(names, self.classes, self.mapping, self.aggregate, by_name_first=own)

    def count_known(self, names: Sequence[str]) -> int:
        """How many of some classes have an output; 0 if fewer than two have."""
        try:
            return len(self.over(names).names)
        except NotApplicable:
            return 0


@dataclass(frozen=True)
class Outputs:
    """Outputs of a model for N images."""

    features: NDArray[np.float32]  # (N, D)
    native: NDArray[np.float64] | None
    """(N, C): probabilities of the classifier's own classes; None without a classifier."""

    def rows(self, chosen: NDArray[np.int64]) -> "Outputs":
        """The outputs for some of the images."""
        return Outputs(self.features[chosen], None if self.native is None else self.native[chosen])


def join(parts: Sequence[Outputs]) -> Outputs:
    """Concatenate the outputs of several batches."""
    native = [part.native for part in parts if part.native is not None]
    return Outputs(
        np.concatenate([part.features for part in parts]),
        np.concatenate(native) if native else None,
    )


def run(model: LoadedModel, classifier: Classifier | None, images: NDArray[np.uint8]) -> Outputs:
    """Outputs for uint8 images (n, S, S, 3); a `RunError` if they are malformed or not finite."""

    def outputs(batch: Tensor) -> tuple[Tensor, Tensor | None]:
        logits = None
        if classifier is not None and classifier.kind == "head":
            features, logits = model.outputs(batch)
        else:
            features = model.features(batch)
        features = checked(features, len(images), model.name, "features").flatten(1)
        if logits is not None:
            logits = checked(logits, len(images), model.name, "logits")
        native = None if classifier is None else classifier.probabilities(features, logits)
        return features, native

    features, native = run_model(model, torch.from_numpy(images).permute(0, 3, 1, 2), outputs)
    values = features.float().cpu().numpy()
    return Outputs(values, None if native is None else native.cpu().double().numpy())


def head(model: LoadedModel, mapping: ClassMapping | None, aggregate: Aggregate) -> Classifier:
    """The classification head of the model."""
    assert model.logits is not None
    side = model.preprocessing.size
    blank = torch.zeros(1, 3, side, side, device=model.device)
    with torch.inference_mode():
        width = checked(model.logits(blank), 1, model.name, "logits").shape[1]
    classes = model.classes
    description = f"its own head of {width} classes"
    if model.prompts:
        description = f"the similarity of image and text: zero-shot, prompts of {width} classes"
    if classes is None:
        classes = placeholder_names(width)
        if width == IMAGENET_CLASSES:
            description += ", assumed to be those of ImageNet in the usual order"
    if len(classes) != width:
        raise RunError(
            f"'{model.name}' names {len(classes)} classes, but its logits have {width} columns"
        )

    def probabilities(features: Tensor, logits: Tensor | None) -> Tensor:
        assert logits is not None
        return logits.cpu().double().softmax(dim=1)

    key = f"head {classes} {mapping} {aggregate}"
    return Classifier(
        "head",
        description,
        classes,
        probabilities,
        key,
        mapping,
        aggregate,
        _linear_head(model),
        prompted=bool(model.prompts),
    )


def fit_classifier(
    kind: ClassifierKind,
    features: Features,
    source: ImageSource,
    name: str,
    mapping: ClassMapping | None,
    aggregate: Aggregate,
) -> Classifier:
    """Fit a linear probe or a nearest-neighbor classifier on the features of labeled images."""
    # Only classes with an image to fit on can be recognized.
    present, labels = np.unique(features.required_labels(), return_inverse=True)
    if len(present) < 2:
        raise UsageError(f"a classifier needs images of at least two classes; '{name}' has one")
    classes = tuple((features.classes or ())[label] for label in present)
    rows = torch.from_numpy(features.values)
    truth = torch.from_numpy(labels)
    fitted_on = f"{len(labels)} labeled images of {name}"
    key = f"{kind} {source.cache_key()} {mapping} {aggregate}"
    if kind == "linear":
        (probe,) = fit_linear(rows, truth, classes=len(classes), seeds=(0,))
        description = f"a linear probe on its features, fitted on {fitted_on}"
    else:
        k, _ = choose_k(rows, truth)
        neighbors = f"the {k} nearest neighbors" if k > 1 else "the nearest neighbor"
        description = f"{neighbors} among {fitted_on}"

    weights = None
    if kind == "linear":
        weights = Head(probe.weight.cpu().double().numpy(), probe.bias.cpu().double().numpy())

    def probabilities(values: Tensor, logits: Tensor | None) -> Tensor:
        if kind == "linear":
            return probe.logits(values.cpu()).double().softmax(dim=1)
        return knn_votes(rows, truth, values.cpu(), k=k, classes=len(classes)).double()

    return Classifier(kind, description, classes, probabilities, key, mapping, aggregate, weights)


def _linear_head(model: LoadedModel) -> Head | None:
    """The last layer of a model; None if it is not linear, or if that cannot be seen."""
    if model.module is None or model.prompts:  # cosine similarities are not linear in the features
        return None
    _, layer = network_and_classifier(model.module)
    return None if layer is None else Head.of(layer)
