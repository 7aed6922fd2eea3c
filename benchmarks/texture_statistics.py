"""How similar a synthesized texture is to its examples, and how large the copied pieces are.

Three measures of uint8 (h, w, 3) images that need no network weights: the sliced Wasserstein
distance of small patches (Rabin et al. 2011), Gram statistics of a bank of oriented filters (after
Portilla and Simoncelli 2000, and Gatys et al. 2015), and exact pixel matching.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, ImageArray

SCALES = 3
PATCH = 7
_PROJECTIONS, _QUANTILES = 64, 1024
_BORDER, _ORIENTATIONS = 3, 4
_MOST_ALIKE = 16


def wasserstein_distance(images: Sequence[ImageArray], references: Sequence[ImageArray]) -> float:
    """Sliced Wasserstein distance between the 7×7 color patches of two sets of images.

    At each of three scales, halved from one to the next, all patches of a set are projected on 64
    fixed random directions of unit length; W1 between the two distributions of projections is the
    mean distance of their quantiles. The result is the mean over directions and scales, in gray
    levels; it is 0 for equal sets. Scales at which a set has no whole patch are left out.
    """
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((PATCH * PATCH * 3, _PROJECTIONS)).astype(np.float32)
    directions /= np.linalg.norm(directions, axis=0)
    distances = []
    for ours, theirs in _scales(images, references, PATCH):
        first, second = (_quantiles(_patches(one) @ directions) for one in (ours, theirs))
        distances.append(float(np.abs(first - second).mean()))
    return float(np.mean(distances))


def gram_distance(images: Sequence[ImageArray], references: Sequence[ImageArray]) -> float:
    """Distance between the Gram matrices of filter responses of two sets of images.

    The features of a pixel are, for each color channel, its smoothed value and the magnitudes of
    the first and second Gaussian derivatives (sigma 1) at 0, 45, 90 and 135 degrees, and a constant
    1, so that the matrix also contains the means. Each feature is divided by its root mean square
    over the references. A Gram matrix is the mean of the features' outer products; the distance is
    the root mean square of the differences of its entries, averaged over three scales, halved from
    one to the next. It is 0 for equal sets.
    """
    distances = []
    for ours, theirs in _scales(images, references, 2 * _BORDER + 1):
        found, wanted = _features(ours), _features(theirs)
        scale = np.sqrt(np.mean(wanted**2, axis=0)) + 1e-3
        first, second = (one.T @ one / len(one) for one in (found / scale, wanted / scale))
        distances.append(float(np.sqrt(np.mean((first - second) ** 2))))
    return float(np.mean(distances))


@dataclass(frozen=True)
class CopiedPieces:
    """The pieces of at least 3×3 pixels of a result that were found in its examples."""

    shares: tuple[float, ...]
    """Fraction of the result's pixels that were found in each example; the sum is at most 1."""
    areas: NDArray[np.int64]
    """Number of pixels of each region that was copied in one piece, in no particular order."""

    @property
    def median_area(self) -> float:
        """Median over copied pixels of the area of their region; 0 if nothing was found.

        Regions are weighted by their pixels, so that many small ones do not hide a large one.
        """
        return float(np.median(np.repeat(self.areas, self.areas))) if self.areas.size else 0.0

    @property
    def median_region(self) -> float:
        """Median area of the regions; 0 if nothing was found."""
        return float(np.median(self.areas)) if self.areas.size else 0.0


def find_copied_pieces(result: ImageArray, examples: Sequence[ImageArray]) -> CopiedPieces:
    """Find the parts of a result that are copied from its examples, by exact pixel matching.

    A block of 3×3 pixels comes from (example, offset) if all nine colors equal the example's at
    that offset; single colors would match by chance. A piece is a 4-connected set of pixels of
    blocks with the same (example, offset). A pixel in several pieces is assigned to the largest,
    and a region consists of the pixels assigned to a piece.

    Pieces without a whole block are not found, nor are flat areas: a block that occurs more than 16
    times in the examples says nothing about its origin. So shares may add up to less than 1.
    Blocks are compared by 64-bit hashes.
    """
    sources = [_block_hashes(example) for example in examples]
    hashes = np.concatenate([one.ravel() for one in sources])
    positions = np.concatenate([_positions(n, *one.shape).ravel() for n, one in enumerate(sources)])
    order = np.argsort(hashes, kind="stable")
    hashes, positions = hashes[order], positions[order]
    wanted = _block_hashes(result)
    first = np.searchsorted(hashes, wanted, "left")
    count = np.searchsorted(hashes, wanted, "right") - first
    count[count > _MOST_ALIKE] = 0
    labels, starts = _labels(first, count, positions, *result.shape[:2])
    region, example = _regions(labels, starts, *result.shape[:2])
    found = region >= 0
    shares = np.bincount(example[found], minlength=len(examples)) / region.size
    areas = np.bincount(region[found])
    return CopiedPieces(tuple(shares.tolist()), areas[areas > 0].astype(np.int64))


def _scales(
    images: Sequence[ImageArray], references: Sequence[ImageArray], least: int
) -> Iterator[tuple[list[FloatArray], list[FloatArray]]]:
    """Both sets as float32 at each scale, without images smaller than `least` on a side."""
    ours, theirs = ([image.astype(np.float32) for image in one] for one in (images, references))
    for scale in range(SCALES):
        if scale:
            ours, theirs = ([_halved(image) for image in one] for one in (ours, theirs))
        ours, theirs = (
            [image for image in one if min(image.shape[:2]) >= least] for one in (ours, theirs)
        )
        if not ours or not theirs:
            if scale:
                return
            raise ValueError(f"both sets need an image of at least {least}×{least} pixels")
        yield ours, theirs


def _halved(image: FloatArray) -> FloatArray:
    height, width = max(image.shape[0] // 2, 1), max(image.shape[1] // 2, 1)
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.float32)


def _patches(images: Sequence[FloatArray]) -> FloatArray:
    """(n, 147): all patches of all images."""
    windows = [
        np.lib.stride_tricks.sliding_window_view(image, (PATCH, PATCH), (0, 1)) for image in images
    ]
    return np.concatenate([one.reshape(-1, PATCH * PATCH * 3) for one in windows])


def _quantiles(values: FloatArray) -> FloatArray:
    """(1024, k): quantiles of each column of (n, k), at the centers of equal intervals."""
    middles = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    return np.sort(values, axis=0)[(middles * len(values)).astype(np.int64)]


def _features(images: Sequence[FloatArray]) -> NDArray[np.float64]:
    """(n, 28): filter responses of all pixels that are not near a border."""
    return np.concatenate([_responses(image) for image in images])


def _responses(image: FloatArray) -> NDArray[np.float64]:
    position = np.arange(-_BORDER, _BORDER + 1, dtype=np.float64)
    smooth = np.exp(-(position**2) / 2)
    smooth /= smooth.sum()
    kernels = (smooth, -position * smooth, (position**2 - 1) * smooth)

    def filtered(down: int, across: int) -> FloatArray:
        return np.asarray(cv2.sepFilter2D(image, cv2.CV_32F, kernels[across], kernels[down]))

    responses = [filtered(0, 0)]
    for turn in range(_ORIENTATIONS):
        cosine, sine = np.cos(np.pi * turn / _ORIENTATIONS), np.sin(np.pi * turn / _ORIENTATIONS)
        first = cosine * filtered(0, 1) + sine * filtered(1, 0)
        second = cosine**2 * filtered(0, 2) + sine**2 * filtered(2, 0)
        second = second + 2 * cosine * sine * filtered(1, 1)
        responses += [np.abs(first), np.abs(second)]
    inner = slice(_BORDER, -_BORDER)
    stack = np.concatenate([one[inner, inner].reshape(-1, 3) for one in responses], axis=1)
    return np.hstack([stack, np.ones((len(stack), 1))]).astype(np.float64)


def _block_hashes(image: ImageArray) -> NDArray[np.uint64]:
    """(h - 2, w - 2): a hash of the 3×3 block at each position."""
    height, width = max(image.shape[0] - 2, 0), max(image.shape[1] - 2, 0)
    factors = np.random.default_rng(0).integers(2**63, size=(3, 3, 3), dtype=np.uint64) * 2 + 1
    hashes = np.zeros((height, width), np.uint64)
    for down, across, channel in np.ndindex(3, 3, 3):
        samples = image[down : down + height, across : across + width, channel].astype(np.uint64)
        hashes += (samples + 1) * factors[down, across, channel]
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _positions(number: int, height: int, width: int) -> NDArray[np.int64]:
    """A number for each position in an example: 2^44 per example, 2^20 per row, 1 per column.

    The position of a source minus that of its pixel is constant within a piece, and only there.
    """
    rows, columns = np.mgrid[:height, :width]
    return np.asarray((number << 44) + (rows << 20) + columns, np.int64)


@njit(cache=True, nogil=True)
def _labels(first, count, positions, height, width):  # type: ignore[no-untyped-def]
    """The sorted unique labels (source minus pixel) of all blocks that contain each pixel.

    first, count: (h - 2, w - 2), the range of a block's sources in `positions`.
    Returns all labels in one array, and the index at which those of each pixel start.
    """
    found = np.empty(9 * _MOST_ALIKE, np.int64)
    labels = np.empty(9 * count.sum(), np.int64)
    starts = np.zeros(height * width + 1, np.int64)
    total = 0
    for y in range(height):
        for x in range(width):
            number = 0
            for top in range(max(y - 2, 0), min(y + 1, height - 2)):
                for left in range(max(x - 2, 0), min(x + 1, width - 2)):
                    for match in range(count[top, left]):
                        found[number] = positions[first[top, left] + match] - (top << 20) - left
                        number += 1
            found[:number].sort()
            for match in range(number):
                if match == 0 or found[match] != found[match - 1]:
                    labels[total] = found[match]
                    total += 1
            starts[y * width + x + 1] = total
    return labels[:total], starts


@njit(cache=True, nogil=True)
def _root(parents, node):  # type: ignore[no-untyped-def]
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@njit(cache=True, nogil=True)
def _join(parents, labels, starts, pixel, other):  # type: ignore[no-untyped-def]
    """Join the nodes of two pixels that have the same label."""
    a, b = starts[pixel], starts[other]
    while a < starts[pixel + 1] and b < starts[other + 1]:
        if labels[a] < labels[b]:
            a += 1
        elif labels[a] > labels[b]:
            b += 1
        else:
            parents[_root(parents, a)] = _root(parents, b)
            a += 1
            b += 1


@njit(cache=True, nogil=True)
def _regions(labels, starts, height, width):  # type: ignore[no-untyped-def]
    """The largest piece that contains each pixel, and its example; -1 if there is none.

    A node is a pixel with one of its labels; joined nodes form a piece, identified by its root.
    """
    parents = np.arange(labels.size)
    for pixel in range(height * width):
        if pixel % width:
            _join(parents, labels, starts, pixel - 1, pixel)
        if pixel >= width:
            _join(parents, labels, starts, pixel - width, pixel)
    sizes = np.zeros(labels.size, np.int64)
    for node in range(labels.size):
        sizes[_root(parents, node)] += 1
    region = np.full(height * width, -1)
    example = np.full(height * width, -1)
    for pixel in range(height * width):
        best = 0
        for node in range(starts[pixel], starts[pixel + 1]):
            root = _root(parents, node)
            if sizes[root] > best:
                best = sizes[root]
                region[pixel] = root
                position = labels[node] + ((pixel // width) << 20) + pixel % width
                example[pixel] = position >> 44
    return region, example
