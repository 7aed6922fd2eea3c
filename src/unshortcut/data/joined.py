"""Several sources joined into one."""

import hashlib

import numpy as np

from unshortcut.data.source import Image, ImageSource


class Joined(ImageSource):
    """Sources of the same classes, one after another; unlabeled if any of them is unlabeled."""

    def __init__(self, *sources: ImageSource) -> None:
        self.sources = sources
        self.ends = np.cumsum([len(source) for source in sources])
        self.classes = sources[0].classes
        self.has_headers = any(source.has_headers for source in sources)
        labels = [source.labels for source in sources if source.labels is not None]
        self.labels = np.concatenate(labels) if len(labels) == len(sources) else None

    def __len__(self) -> int:
        return int(self.ends[-1])

    def image(self, index: int) -> Image:
        source, index = self.locate(index)
        return source.image(index)

    def identity(self, index: int) -> str:
        source, index = self.locate(index)
        return source.identity(index)

    def check_header(self, index: int) -> None:
        source, index = self.locate(index)
        source.check_header(index)

    def fingerprint(self) -> str:
        prints = " ".join(source.fingerprint() for source in self.sources)
        return hashlib.sha256(prints.encode()).hexdigest()

    def locate(self, index: int) -> tuple[ImageSource, int]:
        """The source that holds an image, and the image's index in it."""
        number = int(np.searchsorted(self.ends, index, side="right"))
        if index < 0 or number == len(self.sources):
            raise IndexError(index)
        start = int(self.ends[number - 1]) if number else 0
        return self.sources[number], index - start
