"""Proposing boxes for a data set: a unit is a few images, whose boxes are a file of their own.

When all units are made, their files are joined to one (`data/proposals.py` reads it) and removed.
"""

import csv
import json
import shutil
from collections.abc import Iterator
from typing import Any

from unshortcut.build.destination import Writer
from unshortcut.build.inputs import Tree
from unshortcut.build.job import Job, Outcome, attempt
from unshortcut.build.proposer import Proposer
from unshortcut.data.failures import Failure
from unshortcut.data.proposals import COLUMNS, FILE

PARTS = "parts"
_IMAGES = 8
"""Images of a unit."""

Row = list[str | float]


class ProposalJob(Job):
    """Proposes at most `most` boxes for each image of a tree."""

    def __init__(self, tree: Tree, proposer: Proposer, most: int, writer: Writer) -> None:
        super().__init__(writer)
        self.tree = tree
        self.proposer = proposer
        self.most = most

    def __len__(self) -> int:
        return -(-len(self.tree) // _IMAGES)

    def num_images(self) -> int:
        return len(self.tree)

    def size(self, unit: int) -> int | None:
        return None  # boxes take next to no space

    def check(self) -> None:
        self.proposer.check()

    def earlier(self, unit: int) -> Outcome | None:
        content = self._read(unit)
        if content is None:
            return None
        failures = tuple(Failure(*entry) for entry in content["failures"])
        return Outcome(made=len(self._images(unit)) - len(failures), failures=failures)

    def run(self, unit: int) -> Iterator[Outcome]:
        rows: list[Row] = []
        failures: list[Failure] = []
        for index in self._images(unit):
            identity = self.tree.identity(index)
            found = attempt(identity, lambda index=index: self._rows(index))  # type: ignore[misc]
            if isinstance(found, Failure):
                failures.append(found)
            else:
                rows += found
            yield Outcome(seen=1)
        content = json.dumps({"rows": rows, "failures": failures}, ensure_ascii=False)
        self.writer.put(self._name(unit), content.encode())
        made = len(self._images(unit)) - len(failures)
        yield Outcome(made=made, failures=tuple(failures))

    def finish(self) -> None:
        """Join the files of all units, in the order of the images."""
        with (
            self.writer.open(FILE) as path,
            path.open("w", encoding="utf-8", newline="") as file,
        ):
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for unit in range(len(self)):
                content = self._read(unit)
                assert content is not None
                writer.writerows(content["rows"])

    def remove_parts(self) -> None:
        shutil.rmtree(self.writer.destination / PARTS, ignore_errors=True)

    def _images(self, unit: int) -> range:
        return range(unit * _IMAGES, min((unit + 1) * _IMAGES, len(self.tree)))

    def _name(self, unit: int) -> str:
        return f"{PARTS}/{unit:07d}.json"

    def _read(self, unit: int) -> dict[str, Any] | None:
        """What a unit has written; None if it has not, or if a power failure cut it off."""
        path = self.writer.destination / self._name(unit)
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return content

    def _rows(self, index: int) -> list[Row]:
        pixels, _ = self.tree.load(index)
        height, width = pixels.shape[:2]
        about: Row = [self.tree.identity(index), width, height]
        found = self.proposer.propose(pixels, self.most)
        if not len(found.boxes):
            return [[*about, "", "", "", "", ""]]
        return [
            [*about, round(float(score), 4), *(round(float(value), 1) for value in box)]
            for box, score in zip(found.boxes, found.scores, strict=True)
        ]
