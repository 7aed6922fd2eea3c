"""Which images provide patches, which receive them, and what they are compared with."""

from dataclasses import dataclass
from itertools import islice, zip_longest

import numpy as np
from numpy.typing import NDArray

from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.settings import Limit, Settings
from unshortcut.randomness import generator

DONORS, FEWEST, MOST = Limit(quick=30, standard=100), 3, 10
"""Approximate number of all donors, and limits per class; with many classes some have none."""
HOSTS, QUICK_HOSTS = 12, 4
"""Limit on the images of other classes that receive the patches of a class."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class TransplantPlan:
    """Rows of images. Each donor is pasted into several hosts, the same for all of its class."""

    donors: Rows
    """Rows (D,) of the donors."""
    donor: Rows
    """For each of P pastes, the index in `donors`."""
    host: Rows
    """For each paste, the row of the host."""
    own: Rows
    """For each paste, another image of the host's class; the host itself if there is no other."""
    mate: Rows
    """For each paste, another image of the donor's class; the donor itself if there is no other."""
    num_classes: int
    """Number of classes that can provide donors."""


def plan_transplants(labels: Rows, right: NDArray[np.bool_], settings: Settings) -> TransplantPlan:
    """Choose donors and hosts among the images (N,) that are classified correctly.

    Two models that are right on the same images get the same donors and hosts.
    """
    order = generator(settings.seed, "transplant").permutation(len(labels))
    members: dict[int, list[int]] = {}
    for row in order[right[order]].tolist():
        members.setdefault(int(labels[row]), []).append(row)
    if len(members) < 2:
        raise NotApplicable(
            "pasting a patch of one class into images of another needs correctly classified images "
            f"of two classes; there are some of {len(members)} of {len(np.unique(labels))} classes"
        )
    each, classes = len(order), len(members)
    most = settings.at_most(DONORS)
    if most is not None:
        each, classes = min(MOST, max(FEWEST, most // len(members))), most // FEWEST
    num_hosts = QUICK_HOSTS if settings.profile == "quick" else HOSTS
    pastes: list[tuple[int, int, int, int]] = []
    donors: list[int] = []
    for label in sorted(islice(members, classes)):
        others = [rows for other, rows in members.items() if other != label]
        rounds = (row for one in zip_longest(*others) for row in one if row is not None)
        hosts = list(islice(rounds, num_hosts))
        for donor in members[label][:each]:
            for steps, row in enumerate(hosts, start=1):
                other = _after(row, members[int(labels[row])], 1)
                pastes.append((len(donors), row, other, _after(donor, members[label], steps)))
            donors.append(donor)
    at, host, own, mate = np.array(pastes, dtype=np.int64).T
    return TransplantPlan(np.array(donors, dtype=np.int64), at, host, own, mate, len(members))


def _after(row: int, rows: list[int], steps: int) -> int:
    """The row a number of steps after a row, cyclically and skipping the row itself."""
    others = len(rows) - 1
    return rows[(rows.index(row) + 1 + (steps - 1) % others) % len(rows)] if others else row
