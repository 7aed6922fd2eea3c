"""A protocol on images: trained on new random crops in every epoch or on cached copies of some.

Crops are keyed by epoch and image, so cached copy k is what epoch k sees with new crops, and as
many copies as epochs give exactly the same classifier. New crops need memory for the features of
one epoch, cached copies for those of all copies, in float32.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from unshortcut.data.source import ImageSource
from unshortcut.fields import Allowed
from unshortcut.inference.features import Features
from unshortcut.probes.base import Crops, Extract
from unshortcut.probes.class_subset import Among
from unshortcut.probes.matrices import Labeled
from unshortcut.probes.protocol_training import Columns, FeaturesByEpoch, Found, run_on_columns
from unshortcut.probes.protocols import Protocol
from unshortcut.progress import OnProgress, bar, part_of

FRESH: Literal["fresh"] = "fresh"
Views = Annotated[
    Literal["fresh"] | int,
    Allowed("'fresh' or a number of copies, 0 or more", lambda views: views == FRESH or views >= 0),
]
"""`fresh` for new crops in every epoch, the number of cached copies, or 0 for the center crop."""
COPIES = 10
"""Default number of cached copies: half a point below new crops in every epoch, in a sixth of the
time (`benchmarks/results/protocols.json`)."""
FRESH_NOTE = "trained on random resized crops and flips that are new in every epoch"
CENTER_NOTE = (
    "trained on features that are the same in every epoch, without random crops; the paper trains "
    "on random resized crops and flips (views: fresh)"
)

SourceOfEpoch = Callable[[int], ImageSource]
"""The training images as a probe shows them in an epoch."""
_Arrays = tuple[NDArray[np.float32], NDArray[np.int64]]


def train_on_views(
    protocol: Protocol,
    extract: Extract,
    train: SourceOfEpoch,
    tests: Mapping[str, Labeled],
    views: Views,
    *,
    among: Mapping[str, Among] | None = None,
    columns: Sequence[Columns | None] = (None,),
    seeds: Sequence[int],
    classes: int | None = None,
) -> tuple[list[Found], str]:
    """Accuracies for every choice of columns, and a sentence that says what was trained on.

    `views` must not be 0. The tests are features of center crops; `among` is as in `run_protocol`.
    All seeds and all choices of columns train on the same crops.
    """
    console = Console(stderr=True)

    def run(features: FeaturesByEpoch, on_epoch: OnProgress | None = None) -> list[Found]:
        return run_on_columns(
            protocol, features, tests, columns, among=among, seeds=seeds, classes=classes,
            on_progress=on_epoch,
        )  # fmt: skip

    if views == FRESH:
        with bar(console, "features of random crops", unit="images") as on_images:
            found = run(_fresh(extract, train, protocol.epochs, on_images))
        return found, FRESH_NOTE
    with bar(console, "features of random crops", unit="images") as on_images:
        copies = _copies(extract, train, min(views, protocol.epochs), on_images)
    with bar(console, "epochs") as on_epoch:
        found = run(lambda epoch: copies[epoch % len(copies)], on_epoch)
    return found, _copies_note(copies, protocol.epochs)


def _fresh(
    extract: Extract, train: SourceOfEpoch, epochs: int, on_images: OnProgress
) -> FeaturesByEpoch:
    def features(epoch: int) -> _Arrays:
        crops, progress = Crops(epoch, keep=False), part_of(on_images, epoch, epochs)
        return _labeled(extract(train(epoch), "train", crops, progress))

    return features


def _copies(
    extract: Extract, train: SourceOfEpoch, count: int, on_images: OnProgress
) -> list[_Arrays]:
    return [
        _labeled(extract(train(n), "train", Crops(n), part_of(on_images, n, count)))
        for n in range(count)
    ]


def _labeled(features: Features) -> _Arrays:
    return features.values, features.required_labels()


def _copies_note(copies: Sequence[_Arrays], epochs: int) -> str:
    count, megabytes = len(copies), sum(values.nbytes for values, _ in copies) / 1e6
    size = f"{megabytes:.1f} MB" if megabytes < 1000 else f"{megabytes / 1000:.1f} GB"
    copy = "copy" if count == 1 else "copies"
    return (
        f"trained for {epochs} epochs on {count} cached {copy} of each image with random resized "
        f"crops and flips ({size}); the paper makes new ones in every epoch (views: "
        "fresh)"
    )
