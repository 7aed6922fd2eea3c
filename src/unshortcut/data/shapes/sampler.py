"""Random scalars from blocks of random numbers: a NumPy call per scalar would be too slow."""

import numpy as np


class Sampler:
    """Samples numbers one at a time from a generator that is asked for whole blocks."""

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
        """An integer from 0 to `end - 1`; `end` must be small."""
        return int(self.uniform() * end)
