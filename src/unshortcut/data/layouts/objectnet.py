"""ObjectNet: household objects in unusual places and poses (Barbu et al. 2019).

113 of its 313 classes overlap with ImageNet, 13 of these with ImageNet-100, on which LooC tests.
"""

from pathlib import Path
from typing import ClassVar

from unshortcut.arrays import ImageArray
from unshortcut.data.class_lists import objectnet
from unshortcut.data.folder import open_folder
from unshortcut.data.layout import Layout
from unshortcut.data.relabeled import with_classes
from unshortcut.data.source import DerivedSource, Image, ImageSource

BORDER = 2
"""Width of the red frame around every published image, which is to be cut off before use."""
_ENOUGH = 50
"""So many class folders with names of ObjectNet's are ObjectNet."""


class ObjectNet(Layout):
    """The release (`images/` and `mappings/`), or its class folders alone.

    Splits: `imagenet`, the images of the 113 classes, which are named with the WordNet ids of
    their ImageNet classes; and `all`, those of all classes, named after their folders.
    """

    name: ClassVar[str] = "objectnet"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        folders = (root / name for name in objectnet())
        return _released(root) or sum(folder.is_dir() for folder in folders) >= _ENOUGH

    def splits(self) -> tuple[str, ...]:
        return ("imagenet", "all")

    def images(self, split: str) -> ImageSource:
        folder = self.root / "images" if (self.root / "images").is_dir() else self.root
        source = open_folder(folder)
        if source.classes is None:
            raise self.broken("it has no class folders such as alarm_clock/")
        if split == "all":
            return WithoutBorder(source, BORDER)
        chosen = with_classes(source, tuple(objectnet()), str(self.root))
        if not chosen.classes:
            raise self.broken("it has none of the 113 class folders that overlap with ImageNet")
        chosen.classes = tuple(f"{one} ({' '.join(objectnet()[one])})" for one in chosen.classes)
        return WithoutBorder(chosen, BORDER)


class WithoutBorder(DerivedSource):
    """A source without the outermost pixels of its images."""

    def __init__(self, source: ImageSource, border: int) -> None:
        super().__init__(source)
        self.border = border

    def image(self, index: int) -> Image:
        return _Inner(super().image(index), self.border)

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} without {self.border}"


class _Inner:
    """An image without its outermost pixels."""

    def __init__(self, image: Image, border: int) -> None:
        self.whole = image
        self.border = border if min(image.height, image.width) > 2 * border else 0
        self.height = image.height - 2 * self.border
        self.width = image.width - 2 * self.border

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        # At full size, because the frame has no whole width in a smaller image.
        start, pixels = self.border, self.whole.pixels()
        return pixels[start : start + self.height, start : start + self.width]


def _released(root: Path) -> bool:
    return (root / "mappings" / "objectnet_to_imagenet_1k.json").is_file()
