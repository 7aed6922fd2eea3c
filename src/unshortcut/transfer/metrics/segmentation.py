"""Mean IoU, pixel accuracy and mean accuracy of masks, from one confusion matrix of all pixels."""

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.regions import IGNORED, MaskArray


class ConfusionMatrix:
    """Counts of pixels over all images: rows are true classes, columns predicted ones.

    All metrics are computed from the pixels of all images together, not per image, as VOC and
    mmsegmentation do. Pixels whose true class is `IGNORED` are not counted.
    """

    def __init__(self, classes: int) -> None:
        self.counts: NDArray[np.int64] = np.zeros((classes, classes), dtype=np.int64)

    def add(self, predicted: MaskArray, truth: MaskArray) -> None:
        """Add an image: two masks (h, w) of the same size."""
        if predicted.shape != truth.shape:
            raise ValueError(f"a mask of {predicted.shape} for an image of {truth.shape}")
        known = truth != IGNORED
        classes = len(self.counts)
        cells = classes * truth[known].astype(np.int64) + predicted[known]
        self.counts += np.bincount(cells, minlength=classes**2).reshape(classes, classes)

    def iou(self) -> NDArray[np.float64]:
        """(C,): |truth ∩ prediction| / |truth ∪ prediction|.

        NaN for a class that is in neither: its union is empty.
        """
        union = self.counts.sum(axis=0) + self.counts.sum(axis=1) - self._right()
        return _ratio(self._right(), union)

    def class_accuracy(self) -> NDArray[np.float64]:
        """(C,): the share of a class's pixels that are recognized; NaN for a class without any."""
        return _ratio(self._right(), self.counts.sum(axis=1))

    def mean_iou(self) -> float:
        """The mean over the classes that are in the truth or in the prediction.

        A class that is predicted but does not exist in the images counts as 0.
        """
        return _mean(self.iou())

    def mean_accuracy(self) -> float:
        """The mean accuracy over the classes in the truth."""
        return _mean(self.class_accuracy())

    def pixel_accuracy(self) -> float:
        """The share of all pixels that are recognized."""
        return float(_ratio(self._right().sum(), self.counts.sum()))

    def _right(self) -> NDArray[np.int64]:
        return np.diagonal(self.counts)


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """part / whole, NaN where the whole is 0."""
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def _mean(values: NDArray[np.float64]) -> float:
    """The mean of the values that are not NaN; NaN if all are."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")
