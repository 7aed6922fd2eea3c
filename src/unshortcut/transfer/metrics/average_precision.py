"""Average precision of detections: PASCAL VOC's, by 11 points and by area, and COCO's."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, IndexArray
from unshortcut.data.regions import Regions

Curve = NDArray[np.float64]
"""(n,): a value after each of n detections, the most confident first."""


@dataclass(frozen=True)
class Detections:
    """The objects that a detector finds in one image."""

    boxes: FloatArray
    """(n, 4): x0, y0, x1, y1 in pixels of the full image."""
    labels: IndexArray
    """(n,): indices of classes, without a background."""
    scores: FloatArray
    """(n,): from 0 to 1."""


@dataclass(frozen=True)
class VocPrecision:
    """Average precision of each class, (C,); NaN for classes without objects that count."""

    area: NDArray[np.float64]
    """Area under the curve, as in VOC since 2010."""
    eleven_points: NDArray[np.float64]
    """Mean over eleven recalls, as in VOC until 2009."""


def voc_precision(
    detections: Sequence[Detections],
    annotations: Sequence[Regions],
    num_classes: int,
    iou_threshold: float = 0.5,
) -> VocPrecision:
    """Average precision as PASCAL VOC defines it (Everingham et al. 2010, section 4.2)."""
    area, points = np.full((2, num_classes), np.nan)
    for label in range(num_classes):
        curves = precision_recall(detections, annotations, label, iou_threshold)
        if curves is not None:
            area[label] = area_under(*curves)
            points[label] = eleven_point_mean(*curves)
    return VocPrecision(area, points)


def precision_recall(
    detections: Sequence[Detections],
    annotations: Sequence[Regions],
    label: int,
    iou_threshold: float = 0.5,
) -> tuple[Curve, Curve] | None:
    """Precision and recall of a class after each detection; None if no object of it counts.

    A detection belongs to the object of its class in its image with the largest IoU. It is right if
    that IoU reaches the threshold and no detection before it belongs to the same object. If the
    object is ignored, the detection counts neither way.
    """
    objects = [_of_class(one, label) for one in annotations]
    count = sum(int((~ignored).sum()) for _, ignored in objects)
    if not count:
        return None
    chosen = [one.labels == label for one in detections]
    scores = np.concatenate([one.scores[own] for one, own in zip(detections, chosen, strict=True)])
    boxes = np.concatenate([one.boxes[own] for one, own in zip(detections, chosen, strict=True)])
    images = np.repeat(np.arange(len(chosen)), [int(own.sum()) for own in chosen])
    taken = [np.zeros(len(ignored), dtype=np.bool_) for _, ignored in objects]
    right = []
    for at in np.argsort(-scores, kind="stable"):
        own_boxes, ignored = objects[images[at]]
        overlaps = iou(boxes[at], own_boxes)
        best = int(overlaps.argmax()) if len(overlaps) else -1
        if best < 0 or overlaps[best] < iou_threshold:
            right.append(False)
        elif not ignored[best]:
            right.append(not taken[images[at]][best])
            taken[images[at]][best] = True
    hits = np.cumsum(np.asarray(right, dtype=np.float64))
    return hits / np.arange(1, len(hits) + 1), hits / count


def area_under(precision: Curve, recall: Curve) -> float:
    """Area under the curve of the best precision at the same or a higher recall."""
    best = np.maximum.accumulate(precision[::-1])[::-1]
    return float((np.diff(recall, prepend=0.0) * best).sum())


def eleven_point_mean(precision: Curve, recall: Curve) -> float:
    """Mean over the recalls 0, 0.1, …, 1 of the best precision at the same or a higher recall."""
    reached = recall[None] >= np.arange(11)[:, None] / 10 - 1e-9  # 0.3 is not 3 / 10 in floats
    return float(np.where(reached, precision[None], 0.0).max(axis=1, initial=0.0).mean())


def iou(box: FloatArray, boxes: FloatArray) -> NDArray[np.float64]:
    """Intersection over union of a box (4,) and boxes (n, 4): (n,).

    Coordinates are edges, so a box from 0 to 10 is 10 pixels wide; VOC's own program takes them for
    indices of pixels and adds one.
    """
    box, boxes = box.astype(np.float64), boxes.astype(np.float64)
    overlap = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    intersection = overlap.clip(min=0).prod(axis=1)
    union = (box[2:] - box[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - intersection
    return np.divide(intersection, union, out=np.zeros_like(union), where=union > 0)


def coco_precision(
    detections: Sequence[Detections], annotations: Sequence[Regions]
) -> dict[str, float]:
    """COCO's `ap` (mean over IoU thresholds of .50 to .95), `ap50` and `ap75`, from 0 to 1.

    Mean over the classes with objects; NaN if there are none. Ignored objects are crowds: several
    detections may belong to one, which then count neither way.
    """
    from torchmetrics.detection import MeanAveragePrecision

    # One rank evaluates alone: to synchronize would be to wait for the others forever.
    metric = MeanAveragePrecision(backend="faster_coco_eval", sync_on_compute=False)
    metric.warn_on_many_detections = False  # COCO uses the 100 best of an image
    metric.update(
        [
            {
                "boxes": torch.from_numpy(np.asarray(one.boxes, np.float32)),
                "labels": torch.from_numpy(np.asarray(one.labels, np.int64)),
                "scores": torch.from_numpy(np.asarray(one.scores, np.float32)),
            }
            for one in detections
        ],
        [
            {
                "boxes": torch.from_numpy(boxes),
                "labels": torch.from_numpy(labels),
                "iscrowd": torch.from_numpy(ignored.astype(np.int64)),
            }
            for boxes, labels, ignored in map(_annotated, annotations)
        ],
    )
    found = metric.compute()
    keys = {"ap": "map", "ap50": "map_50", "ap75": "map_75"}
    values = {key: float(found[name]) for key, name in keys.items()}
    return {key: value if value >= 0 else float("nan") for key, value in values.items()}


def _annotated(regions: Regions) -> tuple[FloatArray, IndexArray, NDArray[np.bool_]]:
    """Boxes (n, 4), labels (n,) and which of them are ignored (n,)."""
    if regions.boxes is None or regions.box_labels is None or regions.ignored is None:
        raise ValueError("an image without annotated boxes cannot be evaluated")
    return regions.boxes, regions.box_labels, regions.ignored


def _of_class(regions: Regions, label: int) -> tuple[FloatArray, NDArray[np.bool_]]:
    boxes, labels, ignored = _annotated(regions)
    return boxes[labels == label], ignored[labels == label]
