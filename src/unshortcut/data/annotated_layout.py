"""What the layouts of annotated data sets share: paths from the root, and splits with masks."""

from abc import abstractmethod

from unshortcut.data.annotated import AnnotatedSource
from unshortcut.data.layout import Layout
from unshortcut.data.mask_folder import MaskFolder, with_masks
from unshortcut.errors import UsageError

SEGMENTATION = "-segmentation"
"""What the name of a split ends with that contains only the images with a mask."""


class AnnotatedLayout(Layout):
    """A data set with boxes, masks or several labels per image.

    The paths of its images start at its folder, so that a copy of that folder has the same paths.
    """

    @abstractmethod
    def images(self, split: str) -> AnnotatedSource: ...

    def broken(self, reason: str) -> UsageError:
        return UsageError(f"{self.root} does not have the layout '{self.name}': {reason}")

    def with_masks(
        self, source: AnnotatedSource, split: str, masks: MaskFolder | None, image_root: str
    ) -> AnnotatedSource:
        """The images of a split with their masks, where only a part of them may have masks.

        `train` keeps all images and has masks only if all of them have; `train-segmentation` keeps
        the images that have one. `image_root` is where the paths begin that masks have too.
        """
        if masks is None:
            return source
        masked = with_masks(source, masks, image_root)
        if not split.endswith(SEGMENTATION):
            return masked if len(masked) == len(source) else source
        if not len(masked):
            raise self.broken(f"no image has a mask of its name in {masks.root}")
        return masked
