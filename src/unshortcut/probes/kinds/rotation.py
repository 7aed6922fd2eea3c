"""`--kind rotation`: predict by how many quarter turns an image was rotated; needs no labels.

This shows how much of the orientation an encoder has kept (LooC, table 1). Chance is 25 %.
"""

from dataclasses import dataclass
from typing import ClassVar

from unshortcut.data.rotated import Rotated
from unshortcut.data.source import ImageSource
from unshortcut.probes.kinds.linear import LinearProbe


@dataclass(frozen=True)
class RotationProbe(LinearProbe):
    """The linear probe on images that are each rotated by one random angle.

    A protocol rotates them by other angles in every epoch that has crops of its own.
    """

    name: ClassVar[str] = "rotation"
    needs_labels: ClassVar[bool] = False

    def shown(self, source: ImageSource, epoch: int = 0) -> ImageSource:
        return Rotated(source, seed=epoch)
