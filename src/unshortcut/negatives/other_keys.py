"""The keys of the query's own image for other spaces as negatives (LooC, equation 2)."""

from typing import Literal

from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber
from unshortcut.negatives.alpha import WeightedSettings
from unshortcut.negatives.source import ContrastStep, NegativeSource
from unshortcut.parts import settings


@settings
class OtherKeysSettings(WeightedSettings):
    """In the space of an augmentation: keys of the same image with other sampled parameters."""

    name = "other_keys"
    needs_spaces = True

    alpha: NonNegativeNumber = 1.0
    """The weight of these negatives; LooC uses 1."""
    equal_params: Literal["keep", "drop"] = "keep"
    """Whether a key with the query's parameters by chance remains a negative, as published."""

    def build(self, dim: int, seed: int) -> "OtherKeysNegatives":
        return OtherKeysNegatives(self)


class OtherKeysNegatives(NegativeSource):
    """Compares each query with the other keys of its image, in spaces that have other keys."""

    def __init__(self, settings: OtherKeysSettings) -> None:
        super().__init__()
        self.settings = settings

    def similarities(self, step: ContrastStep) -> Tensor:
        queries, keys = step.queries, step.other_keys
        alpha = self.settings.alpha_at(step.progress)
        if keys is None or alpha == 0:
            return queries.new_empty(len(queries), 0)
        similarities = (keys @ queries[:, :, None]).squeeze(2)  # (M, J)
        weighted = step.weigh(similarities, alpha, self.settings.placement)
        if self.settings.equal_params == "keep":
            return weighted
        if step.equal_params is None:
            raise UsageError(
                "other_keys.equal_params 'drop' needs the sampled parameters, but the batch has no "
                "'metadata'"
            )
        return weighted.masked_fill(step.equal_params, -float("inf"))  # its exponential is 0
