"""Corrupted images on disk in the layout of ImageNet-C: `CORRUPTION/SEVERITY/CLASS/IMAGE`."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unshortcut.data.folder import FolderSource
from unshortcut.errors import UsageError
from unshortcut.imaging.corruptions import CORRUPTIONS
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.subjects.images import Prepared
from unshortcut.views.evaluation import WholeView

LEVELS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class CorruptedImages:
    """The corrupted versions of images; each has the class folder and file name of its original."""

    root: Path
    folders: dict[str, Path]
    """By corruption: the folder of its severities."""

    def of(self, images: Prepared, corruption: str, level: int) -> Prepared:
        """The corrupted versions of images, shown whole: they are cropped already.

        Raises `NotApplicable` if there are none for some images.
        """
        folder = self.folders[corruption] / str(level)
        rows = range(len(images))
        names = ["/".join(images.identity(row).split("/")[-2:]) for row in rows]
        missing = [name for name in names if not (folder / name).is_file()]
        if missing:
            raise NotApplicable(
                f"{len(missing)} of {len(names)} images of the data have no corrupted version, "
                f"such as {folder.relative_to(self.root)}/{missing[0]}; images are matched by "
                "class folder and file name"
            )
        source = FolderSource(folder, names, images.classes, images.labels)
        indices = np.arange(len(names), dtype=np.int64)
        view = WholeView(images.view.size)
        return Prepared(source, view, indices, images.labels, images.classes, len(names))

    def fingerprint(self) -> str:
        """Over the class folders and their modification times: no image is opened."""
        digest = hashlib.sha256(b"corrupted")
        for name, folder in self.folders.items():
            for level in LEVELS:
                for one in sorted((folder / str(level)).iterdir()):
                    digest.update(f"{name} {level} {one.name} {one.stat().st_mtime_ns}\0".encode())
        return digest.hexdigest()


def open_corrupted(path: str | Path) -> CorruptedImages:
    """Find the folders of the 15 corruptions, at the top or within group folders (`noise/`, …)."""
    root = Path(path).expanduser()
    if not root.is_dir():
        raise UsageError(f"no such folder of corrupted images: {path}")
    groups = [root, *sorted(one for one in root.iterdir() if one.is_dir())]
    folders: dict[str, Path] = {}
    lacking: list[str] = []
    for name in CORRUPTIONS:
        found = [group / name for group in groups if (group / name).is_dir()]
        if not found:
            lacking.append(name)
            continue
        folders[name] = found[0]
        levels = [str(level) for level in LEVELS if not (found[0] / str(level)).is_dir()]
        if levels:
            lacking.append(f"severity {', '.join(levels)} of {name}")
    if lacking:
        raise UsageError(
            f"'{path}' lacks {'; '.join(lacking)}; the mCE needs the folders "
            "CORRUPTION/SEVERITY/CLASS of all 15 corruptions and severities 1 to 5"
        )
    return CorruptedImages(root, folders)
