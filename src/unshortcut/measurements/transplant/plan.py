"""Which images give a patch, which take it, and with what it is compared."""

from dataclasses import dataclass
from itertools import islice, zip_longest

import numpy as np
from numpy.typing import NDArray

from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.settings import Settings
from unshortcut.randomness import generator

DONORS, FEWEST, MOST = 100, 3, 10
"""Donors in all, about, and of one class; where there are many classes, some of them give none."""
HOSTS = 12
"""Images of other classes that take the patches of a class, at most."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """Rows of images. A donor has several hosts, each a paste; all donors of a class the same."""

    donors: Rows
    """(D,)."""
    donor: Rows
    """(P,) places in `donors`."""
    host: Rows
    """(P,)."""
    own: Rows
    """(P,) another image of the host's class; the host itself where there is no other."""
    mate: Rows
    """(P,) another image of the donor's class; the donor itself where there is no other."""
    known: int
    """Classes that could give donors."""


def plan_transplants(labels: Rows, right: NDArray[np.bool_], settings: Settings) -> Plan:
    """Draw donors and hosts among images (N,) that are decided rightly.

    Where two models are right about the same images, the same ones are drawn for both.
    """
    order = generator(settings.seed, "transplant").permutation(len(labels))
    members: dict[int, list[int]] = {}
    for row in order[right[order]].tolist():
        members.setdefault(int(labels[row]), []).append(row)
    if len(members) < 2:
        raise NotApplicable(
            f"it is right about images of {len(members)} of {len(np.unique(labels))} classes; a "
            "patch of one class is pasted into images of another, so it takes two"
        )
    each, classes = len(order), len(members)
    if not settings.full:
        each, classes = min(MOST, max(FEWEST, DONORS // len(members))), DONORS // FEWEST
    pastes: list[tuple[int, int, int, int]] = []
    donors: list[int] = []
    for label in sorted(islice(members, classes)):
        others = [rows for other, rows in members.items() if other != label]
        rounds = (row for turn in zip_longest(*others) for row in turn if row is not None)
        hosts = list(islice(rounds, HOSTS))
        for donor in members[label][:each]:
            pastes += [
                (
                    len(donors),
                    host,
                    _after(host, members[int(labels[host])], 1),
                    _after(donor, members[label], 1 + number),
                )
                for number, host in enumerate(hosts)
            ]
            donors.append(donor)
    at, host, own, mate = np.array(pastes, dtype=np.int64).T
    return Plan(np.array(donors, dtype=np.int64), at, host, own, mate, len(members))


def _after(row: int, rows: list[int], steps: int) -> int:
    """The row so many steps after a row, in a circle that leaves itself out if it has others."""
    others = len(rows) - 1
    return rows[(rows.index(row) + 1 + (steps - 1) % others) % len(rows)] if others else row
