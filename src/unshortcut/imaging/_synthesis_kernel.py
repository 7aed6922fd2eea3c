"""The inner loop of texture synthesis: find the source pixel that fits a pixel's neighbors best.

Sums and random numbers are integers, so a seed gives the same bytes on any machine.
"""

import numpy as np
from numba import njit

REACH = 40
"""Largest distance of a neighbor in pixels; a margin of this width replaces bounds checks."""
NEIGHBORS = 24
WEIGHT_SUM = 4096

_U = np.uint64
_compiled = njit(cache=True, nogil=True, error_model="numpy")


@_compiled
def shuffled(count, state):  # type: ignore[no-untyped-def]
    """The integers below `count` in random order (Fisher and Yates)."""
    order = np.arange(count)
    for last in range(count - 1, 0, -1):
        other = _below(last + 1, state)
        order[last], order[other] = order[other], order[last]
    return order


@_compiled
def resolve(  # type: ignore[no-untyped-def]
    pixels, sources, atlas, cells, positions, steps, source_steps, weights,
    randoms, uses, fair, owners, shares, pressure, seen, state,
):  # fmt: skip
    """Choose a new source for each of `pixels`, in order; modifies `sources` and `uses`.

    pixels: flat positions in the map of sources.
    sources: for each pixel of the result, the position of its source in the atlas, or -1.
    atlas, cells: color (8 bits per channel) and cell number (-1 outside the examples).
    positions: all positions of the atlas that lie in an example.
    steps, source_steps: offsets to surrounding pixels, nearest first, in the map and in the atlas.
    weights: weights of the neighbors, nearest first; they add up to WEIGHT_SUM.
    randoms: number of random candidates.
    uses, fair, owners: for each cell, the number of pixels with a source in it, its fair share of
        the pixels, and the number of its example.
    shares: fair share of the pixels for each example.
    pressure: cost of a source whose cell is used twice as often as its fair share.
    seen: marks of the atlas' size, initially zeros; seen[0] counts the pixels.
    """
    red, green = np.empty(NEIGHBORS, np.int64), np.empty(NEIGHBORS, np.int64)
    blue, offsets = np.empty(NEIGHBORS, np.int64), np.empty(NEIGHBORS, np.int64)
    candidates = np.empty(NEIGHBORS + randoms, np.int64)
    total = uses.sum()
    example_uses = np.zeros(shares.size, np.int64)
    for cell in range(uses.size):
        example_uses[owners[cell]] += uses[cell]
    excess = np.empty(shares.size)
    for pixel in pixels:
        before = sources[pixel]
        if before >= 0:
            uses[cells[before]] -= 1
            example_uses[owners[cells[before]]] -= 1
            total -= 1
        # Position 0 lies in the margin and is never a candidate, so its mark can be a counter.
        seen[0] += 1
        mark = seen[0]
        neighbors = 0
        count = 0
        for step in range(steps.size):
            source = sources[pixel + steps[step]]
            if source < 0:
                continue
            red[neighbors], green[neighbors], blue[neighbors] = _channels(atlas[source])
            offsets[neighbors] = source_steps[step]
            neighbors += 1
            # Coherence: the pixel at the same offset from the neighbor's source.
            position = source - source_steps[step]
            if cells[position] >= 0 and seen[position] != mark:
                seen[position] = mark
                candidates[count] = position
                count += 1
            if neighbors == NEIGHBORS:
                break
        for _ in range(randoms):
            position = positions[_below(positions.size, state)]
            if seen[position] != mark:
                seen[position] = mark
                candidates[count] = position
                count += 1
        for example in range(shares.size):
            # Unbounded in both directions, so that an unusual example can neither dominate nor
            # disappear, which the cells alone would not prevent.
            ratio = (example_uses[example] + 1) / (total * shares[example] + 1)
            excess[example] = ratio - 1 / ratio - 1
        best = np.int64(2**62)
        chosen = candidates[0]
        for number in range(count):
            position = candidates[number]
            cell = cells[position]
            used = uses[cell] / ((total + 1) * fair[cell])
            cost = np.int64(pressure * (used + excess[owners[cell]]))
            for neighbor in range(neighbors):
                r, g, b = _channels(atlas[position + offsets[neighbor]])
                r -= red[neighbor]
                g -= green[neighbor]
                b -= blue[neighbor]
                cost += weights[neighbor] * (r * r + g * g + b * b)
                if cost >= best:
                    break
            if cost < best:
                best = cost
                chosen = position
        sources[pixel] = chosen
        uses[cells[chosen]] += 1
        example_uses[owners[cells[chosen]]] += 1
        total += 1


@_compiled
def _channels(color):  # type: ignore[no-untyped-def]
    value = np.int64(color)
    return value & 255, (value >> 8) & 255, (value >> 16) & 255


@_compiled
def _below(bound, state):  # type: ignore[no-untyped-def]
    """A random integer from 0 to bound - 1, bound < 2^31: SplitMix64 (Steele et al. 2014)."""
    state[0] += _U(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> _U(27))) * _U(0x94D049BB133111EB)
    bits ^= bits >> _U(31)
    return np.int64(((bits >> _U(32)) * _U(bound)) >> _U(32))
