"""CUB-200-2011: 200 species of birds, 5,994 images to train on and 5,794 to test on (LooC, B)."""

from pathlib import Path
from typing import ClassVar

import numpy as np

from unshortcut.data.folder import FolderSource
from unshortcut.data.layout import Layout


class CUB(Layout):
    """`images/`, with `images.txt`, `classes.txt`, `image_class_labels.txt`,
    `train_test_split.txt`."""

    name: ClassVar[str] = "cub"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        files = ("images.txt", "image_class_labels.txt", "train_test_split.txt")
        return all((root / name).is_file() for name in files)

    def splits(self) -> tuple[str, ...]:
        return ("train", "test")

    def images(self, split: str) -> FolderSource:
        paths, labels = self._column("images.txt"), self._column("image_class_labels.txt")
        in_train, names = self._column("train_test_split.txt"), self._column("classes.txt")
        if not paths.keys() == labels.keys() == in_train.keys():
            raise self.broken("its text files do not list the same images")
        unknown = sorted(set(labels.values()) - names.keys())
        if unknown:
            raise self.broken(f"classes.txt lacks the class {unknown[0]}")
        wanted = "1" if split == "train" else "0"
        chosen = [one for one in paths if in_train[one] == wanted]
        number = {one: index for index, one in enumerate(names)}
        numbers = np.array([number[labels[one]] for one in chosen], dtype=np.int64)
        files = [paths[one] for one in chosen]
        return FolderSource(self.root / "images", files, tuple(names.values()), numbers)

    def _column(self, name: str) -> dict[str, str]:
        """The second column of a text file by the first."""
        rows = [line.split(maxsplit=1) for line in self.read_text(name).splitlines() if line]
        if not rows or any(len(row) != 2 for row in rows):
            raise self.broken(f"{name} must have two columns")
        return {row[0]: row[1].strip() for row in rows}
