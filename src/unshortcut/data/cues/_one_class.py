"""What the cues of a single class have in common."""

from unshortcut.arrays import IndexArray
from unshortcut.data.planted import Carriers, Cue
from unshortcut.data.source import ImageSource
from unshortcut.errors import unknown
from unshortcut.parts import settings


@settings
class CueOfOneClass(Cue):
    """A cue that only images of one class carry.

    Args:
        of: name of the class; by default the first one.
    """

    of: str | None = None

    def candidates(self, source: ImageSource, labels: IndexArray) -> Carriers:
        classes = source.classes or ()
        if self.of is not None and self.of not in classes:
            raise unknown(f"class, in the cue '{self.name}',", self.of, classes)
        return labels == (0 if self.of is None else classes.index(self.of))
