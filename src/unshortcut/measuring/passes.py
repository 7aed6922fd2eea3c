"""How often a measurement runs a model, from which its time is estimated before it starts."""

from dataclasses import dataclass

GRADIENT_COST = 3
"""Time of a forward and backward pass, relative to a forward pass."""


@dataclass(frozen=True)
class Passes:
    """Forward passes of single images, as an upper bound."""

    changed: int = 0
    """Passes of changed images, or of images that are not part of the data."""
    plain: int = 0
    """Number of plain images of the data. Each passes through the model once for all measurements,
    and a smaller number of them is contained in a larger one."""
    with_gradient: int = 0
    """Passes that are followed by a backward pass."""

    def count(self, known: int = 0) -> int:
        """All passes, if the outputs of `known` plain images are known already."""
        return self.changed + max(0, self.plain - known) + self.with_gradient

    def cost(self, known: int = 0) -> int:
        """The same in units of a forward pass."""
        return self.count(known) + (GRADIENT_COST - 1) * self.with_gradient
