"""Negatives out of the query's own image: its keys for other spaces (LooC, equation 2)."""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.negatives.alpha import WeighedSettings
from unshortcut.negatives.source import Contrast, NegativeSource


@dataclass(frozen=True)
class OtherKeysSettings(WeighedSettings):
    """In the space of an augmentation, the keys of the same image that drew it anew."""

    name = "other_keys"
    needs_spaces = True

    alpha: float = 1.0
    """The weight of these negatives; 1 is the paper's."""
    equal_params: Literal["keep", "drop"] = "keep"
    """Whether a key that drew by accident what the query drew stays a negative, as published."""

    def build(self, dim: int, seed: int) -> "OtherKeys":
        return OtherKeys(self)


class OtherKeys(NegativeSource):
    """Every query against the other keys of its image, in spaces that have such."""

    def __init__(self, settings: OtherKeysSettings) -> None:
        super().__init__()
        self.settings = settings

    def similarities(self, contrast: Contrast) -> Tensor:
        queries, keys = contrast.queries, contrast.other_keys
        alpha = self.settings.alpha_at(contrast.progress)
        if keys is None or alpha == 0:
            return queries.new_empty(len(queries), 0)
        similarities = (keys @ queries[:, :, None]).squeeze(2)  # (M, J)
        weighed = contrast.weigh(similarities, alpha, self.settings.placement)
        if self.settings.equal_params == "keep":
            return weighed
        if contrast.equal_params is None:
            raise UsageError(
                "other_keys.equal_params 'drop' needs the sampled parameters, but the batch has no "
                "'metadata'"
            )
        return weighed.masked_fill(contrast.equal_params, -float("inf"))  # exp of it is 0
