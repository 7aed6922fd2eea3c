"""Oxford-IIIT Pets in class folders, with masks of the animals and boxes of their heads."""

from pathlib import Path
from typing import ClassVar

import numpy as np

from unshortcut.data.annotated import AnnotatedSource, size_if_readable
from unshortcut.data.annotated_layout import AnnotatedLayout
from unshortcut.data.boxes import BoxReader
from unshortcut.data.folder import open_folder
from unshortcut.data.masks import MaskFiles
from unshortcut.data.regions import IGNORED
from unshortcut.data.split_folders import EVERYTHING, split_folders
from unshortcut.data.tables import read_columns

SPECIES = ("cat", "dog")
"""Classes of the boxes."""
MASK_CLASSES = ("background", "animal")
_TRIMAP = {1: 1, 2: 0, 3: IGNORED}
"""Ids of the masks: animal, background and the border between them."""


class OxfordPets(AnnotatedLayout):
    """`train/BREED/NAME.jpg`, `val/BREED/NAME.jpg`, `masks/NAME.png`, and `heads.csv` with the
    columns `image`, `species`, `x0`, `y0`, `x1`, `y1`.

    The label of an image is its breed, the class of a box is the species, and masks tell animal
    from background. An image without a box in `heads.csv` is left out.
    """

    name: ClassVar[str] = "oxford-pets"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        return (root / "heads.csv").is_file() and (root / "masks").is_dir()

    def splits(self) -> tuple[str, ...]:
        found = split_folders(self.root)
        if EVERYTHING in found:
            raise self.broken("there are no folders train/ and val/")
        return tuple(found)

    def images(self, split: str) -> AnnotatedSource:
        folder = open_folder(self.root, split)
        names = [folder.names[index] for index in range(len(folder))]
        rows = {name: row for row, name in enumerate(names)}
        reader, boxed = BoxReader(SPECIES), set()
        columns = ("image", "species", "x0", "y0", "x1", "y1")
        for line, values in read_columns(self.root / "heads.csv", columns):
            if not values:
                reader.leave_out(f"heads.csv line {line}", "the row is cut off")
            elif (row := rows.get(values[0])) is not None:
                boxed.add(row)
                size = size_if_readable(self.root / values[0])
                reader.add(row, values[0], values[1], values[2:], size)
        for row in sorted(set(range(len(names))) - boxed):
            reader.leave_out(names[row], "heads.csv has no box of it")
        source = AnnotatedSource(
            self.root,
            names,
            classes=folder.classes,
            labels=folder.labels,
            boxes=reader.table(len(names), f"{self.root / 'heads.csv'}"),
            box_classes=SPECIES,
            masks=MaskFiles(self.root, [f"masks/{Path(name).stem}.png" for name in names], _TRIMAP),
            mask_classes=MASK_CLASSES,
            left_out=reader.left_out,
        )
        return source.take(np.array(sorted(boxed), dtype=np.int64))
