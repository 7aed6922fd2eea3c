"""Random scalars without a NumPy call for each, which would be too slow."""

from unshortcut.randomness import Rng


class Sampler:
    """Samples numbers one at a time from blocks of uniform random numbers."""

    BLOCK = 64

    def __init__(self, rng: Rng) -> None:
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
