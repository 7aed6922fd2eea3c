"""Sets of permutations that are far apart: the classes of a jigsaw puzzle (Noroozi and Favaro).

The Hamming distance of two permutations is the number of places in which they differ. Sets are
chosen greedily; distances to the chosen ones are updated, never computed again.
"""

from itertools import chain, permutations
from math import factorial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unshortcut.randomness import generator

Selection = Literal["mean", "minimum"]
"""Which distance to the permutations chosen so far the next one has as large as possible."""
MOST_ELEMENTS = 9
"""All permutations are candidates, and those of 10 elements would take minutes."""


def choose_permutations(
    elements: int, count: int, *, by: Selection = "mean", seed: int = 0
) -> NDArray[np.uint8]:
    """Choose `count` permutations of 0 to elements - 1, as an array (count, elements).

    The first one is random. Then, repeatedly, that of the remaining permutations is taken which has
    the largest mean distance to those chosen, as in the public code that the dissertation builds on
    (section 2.5.2); or, by "minimum", the largest minimum distance and among equals the largest
    mean. Among equals in all of this the first one in lexicographic order is taken.
    """
    if not 1 <= elements <= MOST_ELEMENTS:
        raise ValueError(f"sets are chosen for 1 to {MOST_ELEMENTS} elements, not {elements}")
    if not 1 <= count <= factorial(elements):
        raise ValueError(
            f"there are {factorial(elements)} permutations of {elements} elements, not {count}"
        )
    candidates = _all_permutations(elements)
    places = np.ascontiguousarray(candidates.T)  # (elements, n)
    total = np.zeros(len(candidates), np.int32)  # of the distances to those chosen
    lowest = np.full(len(candidates), elements, np.uint8)
    distance = np.empty(len(candidates), np.uint8)
    chosen = [int(generator(seed, "permutations").integers(len(candidates)))]
    while len(chosen) < count:
        distance[:] = 0
        for place, value in zip(places, candidates[chosen[-1]], strict=True):
            distance += place != value
        total += distance
        if by == "minimum":
            np.minimum(lowest, distance, out=lowest)  # 0 for those chosen
            score = lowest * np.int32(elements * count) + total
        else:
            score = total
            score[chosen[-1]] = -elements * count  # stays below 0 whatever is added
        chosen.append(int(score.argmax()))
    return candidates[chosen]


def _all_permutations(elements: int) -> NDArray[np.uint8]:
    """All permutations in lexicographic order, (elements!, elements)."""
    values = chain.from_iterable(permutations(range(elements)))
    size = elements * factorial(elements)
    return np.fromiter(values, np.uint8, size).reshape(-1, elements)
