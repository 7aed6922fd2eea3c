"""The keys of the query's own image for other spaces as negatives (LooC, equation 2)."""

from typing import Literal

from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber
from unshortcut.negatives.alpha import WeightedNegatives, WeightedSettings
from unshortcut.negatives.source import ContrastStep
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


class OtherKeysNegatives(WeightedNegatives):
    """Compares each query with the other keys of its image, in spaces that have other keys."""

    settings: OtherKeysSettings

    def unweighted(self, step: ContrastStep) -> Tensor | None:
        if step.other_keys is None:
            return None
        similarities = (step.other_keys @ step.queries[:, :, None]).squeeze(2)  # (M, J)
        if self.settings.equal_params == "keep":
            return similarities
        if step.equal_params is None:
            raise UsageError(
                "other_keys.equal_params 'drop' needs the sampled parameters, but the batch has no "
                "'metadata'"
            )
        return similarities.masked_fill(step.equal_params, -float("inf"))  # its exponential is 0
