"""Sizes of well-known training sets as published, for plans made where the data are not."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StatedSize:
    """Number of images and classes of a data set, and the size of a typical image in pixels."""

    num_images: int
    num_classes: int | None
    width: int
    height: int
    origin: str
    """What the number of images is that of."""


_PHOTO = (500, 375)

_SIZES = {
    "imagenet": StatedSize(1_281_167, 1000, *_PHOTO, "the training set of ILSVRC 2012"),
    "imagenet-stylized": StatedSize(1_281_167, 1000, *_PHOTO, "the training set of ILSVRC 2012"),
    "imagenet100": StatedSize(
        126_689, 100, *_PHOTO, "the ILSVRC 2012 training images of the classes in HobbitLong/CMC"
    ),
    "coco": StatedSize(118_287, None, 640, 480, "COCO train2017"),
    "imagenette": StatedSize(9_469, 10, *_PHOTO, "the training set of Imagenette v2"),
    "cifar10": StatedSize(50_000, 10, 32, 32, "the training set of CIFAR-10"),
    "cifar100": StatedSize(50_000, 100, 32, 32, "the training set of CIFAR-100"),
    "stl10@train+unlabeled": StatedSize(105_000, None, 96, 96, "STL-10, train and unlabeled"),
}


def stated_size(name: str) -> StatedSize | None:
    """The size of a data set by its name, with or without `@train`, if it is known."""
    return _SIZES.get(name.removesuffix("@train"))
