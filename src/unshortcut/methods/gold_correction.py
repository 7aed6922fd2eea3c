"""Gold loss correction: training on labels of which only a few are trusted (Hendrycks et al. 2018).

A classifier that has been trained on the untrusted ("silver") labels predicts them for images of a
known class, which estimates how labels were corrupted. A second network then learns the true
classes: its predictions are corrupted in the same way before they are compared with silver labels.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.data.noisy_labels import gold_images
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.files import write_text
from unshortcut.methods.classification import build_classifier, classifier_and_labels
from unshortcut.methods.method import Method, MethodSettings, TrainingContext
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.encoder import Encoder
from unshortcut.models.loaded import LoadedModel
from unshortcut.models.logits import compute_logits
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented

CORRUPTION_FILE = "corruption.csv"
"""The estimated corruption matrix in the run folder, to look at: one line per true class."""


@settings
class GoldCorrectionSettings(MethodSettings):
    """Nothing to set: the corruption is estimated."""

    name = "gold_correction"
    has_classifier = True
    corrects_labels = True

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "GoldCorrection":
        return GoldCorrection(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"query": Augmented()}


class GoldCorrection(Method):
    """One encoder and a classifier with the corrected loss; both are exported.

    Gold and silver images pass through the network together; in the published code they do so one
    after the other, each with batch statistics of their own.
    """

    corruption: Tensor
    """(K, K): row i has the probabilities of the label that an image of class i was given. It is
    the identity, which corrects nothing, until `prepare` estimates it."""

    def __init__(
        self,
        encoder: Encoder,
        settings: GoldCorrectionSettings,
        training: TrainingContext | None = None,
    ) -> None:
        super().__init__(encoder, training)
        self.settings = settings
        self.classifier = build_classifier(encoder, self.training_context, settings.name)
        if self.classifier is not None:
            self.register_buffer("corruption", torch.eye(self.classifier.out_features))

    def prepare(self, before: LoadedModel, source: ImageSource) -> None:
        estimate = estimate_corruption(before, source)
        self.corruption.copy_(torch.from_numpy(estimate))

    def loss(self, batch: Batch) -> StepOutput:
        classifier, label = classifier_and_labels(self.classifier, batch, self.settings.name)
        if batch.trusted is None:
            raise UsageError(f"method '{self.settings.name}' needs 'trusted' in a batch")
        features = self.encoder(batch.views["query"])  # (N, C)
        logits = classifier(features)  # (N, K)
        losses = corrected_cross_entropy(logits, label, batch.trusted, self.corruption)
        metrics = {"accuracy": (logits.argmax(dim=1) == label).float().mean()}
        return StepOutput(losses.mean(), F.normalize(features.detach(), dim=1), metrics)

    @property
    def linear_classifier(self) -> nn.Linear | None:
        return self.classifier

    def embed(self, images: Tensor) -> Tensor:
        """Unit features, the space in which the classifier is linear."""
        return F.normalize(self.encoder(images), dim=1)

    def export(self, folder: Path, about: Mapping[str, Any]) -> None:
        rows = (",".join(f"{value:.6f}" for value in row) for row in self.corruption.tolist())
        write_text(folder / CORRUPTION_FILE, "\n".join(rows) + "\n")


def corrected_cross_entropy(
    logits: Tensor, label: Tensor, trusted: Tensor, corruption: Tensor
) -> Tensor:
    """(N,): -log p_y for trusted labels y, and -log Σ_k C[k, ỹ]·p_k for the other labels ỹ.

    Args:
        logits: (N, K); p is their softmax.
        trusted: (N,) bool.
        corruption: (K, K), the matrix C.
    """
    log_p = F.log_softmax(logits, dim=1)
    # A probability of 0 stays finite, so that no gradient is NaN.
    log_c = corruption.clamp_min(torch.finfo(corruption.dtype).tiny).log()
    silver = -torch.logsumexp(log_p + log_c.T[label], dim=1)
    return torch.where(trusted, F.nll_loss(log_p, label, reduction="none"), silver)


def estimate_corruption(model: LoadedModel, source: ImageSource) -> NDArray[np.float64]:
    """(K, K): row i is the mean softmax of a classifier over the gold images of class i.

    The images are prepared as for evaluation, without random augmentations; gold images of a
    filtered copy count as well. A class without gold images is taken to be uncorrupted.
    """
    if source.trusted is None or not source.trusted.any():
        raise UsageError(
            "gold loss correction needs images with trusted labels: set data.label_noise.gold"
        )
    found = compute_logits(model, gold_images(source))
    labels = found.required_labels()
    probabilities = torch.from_numpy(found.values).double().softmax(dim=1).numpy()
    estimate = np.eye(found.values.shape[1])
    for label in np.unique(labels):
        estimate[label] = probabilities[labels == label].mean(axis=0)
    return estimate
