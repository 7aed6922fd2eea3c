"""Random numbers one at a time at the price of a list: NumPy's calls for a scalar cost too much."""

import numpy as np


class Dice:
    """Throws from a generator, which is asked for whole blocks of uniform numbers."""

    BLOCK = 64

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._numbers: list[float] = []

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """A number in [low, high)."""
        if not self._numbers:
            self._numbers = self._rng.random(self.BLOCK).tolist()
        return low + (high - low) * self._numbers.pop()

    def integer(self, end: int) -> int:
        """A whole number from 0 to `end - 1`; `end` is small."""
        return int(self.uniform() * end)
