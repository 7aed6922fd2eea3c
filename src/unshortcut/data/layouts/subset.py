"""A subset of another data set, as `unshortcut subset` writes it: lists of images and classes."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from unshortcut.data.chosen_classes import OfClasses
from unshortcut.data.failures import Failure
from unshortcut.data.layout import Layout
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource, Subset
from unshortcut.data.subsets import CLASSES, DESCRIPTION
from unshortcut.errors import UsageError


class SubsetLayout(Layout):
    """`subset.json`, `classes.txt`, and `train.txt`, `test.txt`, … with an image in each line.

    An image is named by its path in the data set, or by its file name without the ending. Lists may
    be replaced, for example by a published one; images that are not in the data are left out.
    """

    name: ClassVar[str] = "subset"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        return (root / DESCRIPTION).is_file()

    def splits(self) -> tuple[str, ...]:
        return tuple(self._about()["splits"])

    def images(self, split: str) -> ImageSource:
        where = self._about()["data"]
        try:
            source = open_data(where, split=None if split == "all" else split)
        except UsageError as error:
            raise UsageError(f"{self.root} is a subset of '{where}': {error}") from None
        rows = {Path(source.identity(row)).stem: row for row in range(len(source))}
        rows |= {source.identity(row): row for row in range(len(source))}
        listed = self._lines(f"{split}.txt")
        found = [rows[one] for one in listed if one in rows]
        if not found:
            raise self.broken(
                f"none of the {len(listed)} images of {split}.txt is in '{where}', whose images "
                f"are called {source.identity(0)}"
            )
        missing = [
            Failure(one, f"listed in {split}.txt, and not in the data")
            for one in listed
            if one not in rows
        ]
        chosen = Subset(source, np.array(found, dtype=np.int64))
        chosen.left_out = (*chosen.left_out, *missing)
        return OfClasses(chosen, self._lines(CLASSES))

    def broken(self, reason: str) -> UsageError:
        return UsageError(f"{self.root} is not a subset as `unshortcut subset` makes it: {reason}")

    def _about(self) -> dict[str, Any]:
        about = self.read_json(DESCRIPTION)
        if not isinstance(about, dict) or not {"data", "splits"} <= about.keys():
            raise self.broken(f"{DESCRIPTION} must state 'data' and 'splits'")
        return about

    def _lines(self, name: str) -> list[str]:
        return [line for line in self.read_text(name).splitlines() if line]
