"""What tasks with a linear head on the pooled features share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor, nn

from unshortcut.methods.method import TrainingContext
from unshortcut.models.encoder import Encoder
from unshortcut.transfer.saving import save_with_head
from unshortcut.transfer.task import About, Example, Task


class LinearTask(Task):
    """An encoder and a linear classifier, which are exported together.

    Args:
        count: number of classes.
        head_std: standard deviation of the initial weights; the bias starts at 0.
    """

    multilabel: ClassVar[bool] = False
    """Whether an image may show several classes."""

    def __init__(
        self, encoder: Encoder, count: int, head_std: float, training: TrainingContext
    ) -> None:
        super().__init__(encoder, training)
        self.classifier = nn.Linear(encoder.dim, count)
        nn.init.normal_(self.classifier.weight, std=head_std)
        nn.init.zeros_(self.classifier.bias)

    @property
    def head(self) -> nn.Linear:
        return self.classifier

    @property
    def linear_classifier(self) -> nn.Linear:
        return self.classifier

    def predict(self, images: Tensor, sizes: Tensor, examples: Sequence[Example]) -> list[Any]:
        """Logits (C,) of each image."""
        return list(self.classifier(self.encoder(images)).float().cpu().numpy())

    def save(self, weights: Path, about: About) -> None:
        save_with_head(self.encoder, self.classifier, weights, about, multilabel=self.multilabel)
