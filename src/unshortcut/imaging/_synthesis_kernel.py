"""The inner loop of texture synthesis: a pixel looks for the source that suits its neighbors best.

Sums and random numbers are integers, so a seed gives the same bytes on any machine.
"""

import numpy as np
from numba import njit

REACH = 40
"""How far a neighbor may lie, in pixels; every map has a margin this wide, and needs no checks."""
NEIGHBORS = 24
WEIGHT_SUM = 4096

_U = np.uint64
_compiled = njit(cache=True, nogil=True, error_model="numpy")


@_compiled
def shuffled(count, state):  # type: ignore[no-untyped-def]
    """The numbers below `count` in random order (Fisher and Yates)."""
    order = np.arange(count)
    for last in range(count - 1, 0, -1):
        other = _below(last + 1, state)
        order[last], order[other] = order[other], order[last]
    return order


@_compiled
def resolve(  # type: ignore[no-untyped-def]
    pixels, sources, atlas, cells, places, steps, source_steps, weights,
    randoms, uses, fair, owners, shares, pressure, seen, state,
):  # fmt: skip
    """Find anew the source of each of `pixels`, in order; changes `sources` and `uses`.

    pixels: places in the map of sources.
    sources: for every pixel of the result the place of its source in the atlas, -1 for none yet.
    atlas, cells: color (8 bits a channel), and number of the cell (-1 outside the examples).
    places: all places of the atlas that lie in an example.
    steps, source_steps: from a pixel to those around it, nearest first, in the map and the atlas.
    weights: of the neighbors, nearest first; they add up to WEIGHT_SUM.
    randoms: number of random candidates.
    uses, fair, owners: of each cell, how many pixels have their source there, the part of them
        that would be fair, and the number of its example.
    shares: part of the pixels that is fair for each example.
    pressure: cost of a source whose cell is used twice as much as is fair.
    seen: of the atlas' size, zeros at first; seen[0] counts the calls.
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
        # Place 0 lies in the margin and is no candidate, so its mark is free to count.
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
            # Coherence: what lies beside the neighbor's source as this pixel beside the neighbor.
            place = source - source_steps[step]
            if cells[place] >= 0 and seen[place] != mark:
                seen[place] = mark
                candidates[count] = place
                count += 1
            if neighbors == NEIGHBORS:
                break
        for _ in range(randoms):
            place = places[_below(places.size, state)]
            if seen[place] != mark:
                seen[place] = mark
                candidates[count] = place
                count += 1
        for example in range(shares.size):
            # Unbounded both ways, so that an example that is unlike the rest can neither take
            # over nor get lost, which cells alone would not prevent.
            ratio = (example_uses[example] + 1) / (total * shares[example] + 1)
            excess[example] = ratio - 1 / ratio - 1
        best = np.int64(2**62)
        chosen = candidates[0]
        for number in range(count):
            place = candidates[number]
            cell = cells[place]
            used = uses[cell] / ((total + 1) * fair[cell])
            cost = np.int64(pressure * (used + excess[owners[cell]]))
            for neighbor in range(neighbors):
                r, g, b = _channels(atlas[place + offsets[neighbor]])
                r -= red[neighbor]
                g -= green[neighbor]
                b -= blue[neighbor]
                cost += weights[neighbor] * (r * r + g * g + b * b)
                if cost >= best:
                    break
            if cost < best:
                best = cost
                chosen = place
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
    """A random number from 0 to bound - 1, bound < 2^31: SplitMix64 (Steele et al. 2014)."""
    state[0] += _U(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> _U(27))) * _U(0x94D049BB133111EB)
    bits ^= bits >> _U(31)
    return np.int64(((bits >> _U(32)) * _U(bound)) >> _U(32))
