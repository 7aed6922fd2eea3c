"""`--task detect`: object detection by Faster R-CNN (Ren et al. 2015)."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.transform import resize_boxes

from unshortcut.arrays import FloatArray
from unshortcut.data.regions import Regions
from unshortcut.data.source import ImageSource
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.card import DETECTOR_FILE
from unshortcut.models.encoder import Encoder
from unshortcut.parts import settings
from unshortcut.transfer.exported import NetworkCard, save_network
from unshortcut.transfer.metrics.average_precision import (
    Detections,
    coco_precision,
    voc_precision,
)
from unshortcut.transfer.networks.aliases import name_once
from unshortcut.transfer.networks.detector import DetectorSettings, build_detector, from_scratch
from unshortcut.transfer.task import About, Example, Score, Task, TaskSettings, required_classes
from unshortcut.views.region_drawing import ClassNames

_REGIONS = 2000
"""Most regions whose features are in memory at a time in evaluation."""
_DRAWN = 0.5
"""Detections with a lower score are not drawn."""


@settings
class DetectSettings(DetectorSettings, TaskSettings):
    """A detector of all classes of boxes in the data."""

    name: ClassVar[str] = "detect"
    metric: ClassVar[str] = "ap50"
    dense: ClassVar[bool] = True
    weights: ClassVar[str] = DETECTOR_FILE

    def classes(self, source: ImageSource) -> tuple[str, ...]:
        return required_classes(source.box_classes, self.name, "annotated boxes")

    def build(
        self, encoder: Encoder, classes: Sequence[str], training: TrainingContext
    ) -> "Detect":
        return Detect(encoder, classes, self, training)


class Detect(Task):
    """Faster R-CNN, trained on its four losses: of proposals and of regions, for classes and boxes.

    Images are used at the size at which they arrive. torchvision samples anchors and regions with
    torch's global generator, which a method seeds before each batch.
    """

    def __init__(
        self,
        encoder: Encoder,
        classes: Sequence[str],
        chosen: DetectSettings,
        training: TrainingContext,
    ) -> None:
        super().__init__(encoder, training)
        self.chosen = chosen
        self.classes = tuple(classes)
        self.detector: FasterRCNN = build_detector(
            encoder, len(classes), chosen, training.size, training.mean, training.std
        )
        name_once(self)

    @property
    def head(self) -> nn.Module:
        return from_scratch(self.detector)

    @property
    def network(self) -> FasterRCNN:
        return self.detector

    def class_names(self, classes: Sequence[str]) -> ClassNames:
        return ClassNames(boxes=tuple(classes))

    def loss(self, batch: Batch) -> StepOutput:
        if batch.regions is None:
            raise ValueError("a batch without regions cannot train a detector")
        images = self._padded(batch.views["image"], batch.sizes)
        targets = [_target(one, images.tensors.device) for one in batch.regions]
        features = self.detector.backbone(images.tensors)
        proposals, losses = self.detector.rpn(images, features, targets)
        _, of_regions = self.detector.roi_heads(features, proposals, images.image_sizes, targets)
        losses = {**losses, **of_regions}
        metrics = {name: value.detach() for name, value in losses.items()}
        return StepOutput(torch.stack(list(losses.values())).sum(), None, metrics)

    @torch.no_grad()
    def predict(
        self, images: Tensor, sizes: Tensor, examples: Sequence[Example]
    ) -> list[Detections]:
        step = max(1, _REGIONS // self.chosen.proposals)
        found: list[Detections] = []
        for at in range(0, len(images), step):
            padded = self._padded(images[at : at + step], sizes[at : at + step])
            features = self.detector.backbone(padded.tensors)
            proposals, _ = self.detector.rpn(padded, features)
            boxes, _ = self.detector.roi_heads(features, proposals, padded.image_sizes)
            full = [(one.height, one.width) for one in examples[at : at + step]]
            found += map(_detections, boxes, padded.image_sizes, full)
        return found

    def score(self) -> "DetectionScore":
        return DetectionScore(len(self.classes))

    def drawn(self, prediction: Detections) -> tuple[Regions, FloatArray]:
        shown = prediction.scores >= _DRAWN
        boxes = Regions.of_boxes(prediction.boxes[shown], prediction.labels[shown])
        return boxes, prediction.scores[shown]

    def save(self, weights: Path, about: About) -> None:
        card = NetworkCard(
            task=self.chosen,
            encoder=self.encoder.settings,
            classes=list(about.classes),
            preprocessing=about.preprocessing,
            **about.origin,
        )
        save_network(self.detector, card, weights)

    def _padded(self, images: Tensor, sizes: Tensor | None) -> ImageList:
        """Images (N, 3, H, W) with zeros up to a size that the strides of the network divide.

        As in torchvision, the padding is zero in normalized images, that is of the mean color.
        """
        if sizes is None:
            each = [(images.shape[2], images.shape[3])] * len(images)
        else:
            each = [(int(height), int(width)) for height, width in sizes.tolist()]
        multiple = self.detector.transform.size_divisible
        full = tuple(-(-max(sides) // multiple) * multiple for sides in zip(*each, strict=True))
        if images.shape[2:] == full and all(size == full for size in each):
            return ImageList(images, each)
        padded = images.new_zeros(*images.shape[:2], *full)
        padded = padded.contiguous(memory_format=self.encoder.memory_format)
        for row, (height, width) in enumerate(each):
            padded[row, :, :height, :width] = images[row, :, :height, :width]
        return ImageList(padded, each)


class DetectionScore(Score):
    """Average precision in percent, as COCO and as VOC define it; the mean over classes."""

    def __init__(self, num_classes: int) -> None:
        self.num_classes = num_classes
        self.detections: list[Detections] = []
        self.annotations: list[Regions] = []

    def add(self, predictions: Sequence[Detections], examples: Sequence[Example]) -> None:
        self.detections.extend(predictions)
        self.annotations.extend(example.regions for example in examples)

    def result(self) -> dict[str, float]:
        """COCO's `ap`, `ap50` and `ap75`; VOC's at an IoU of .5, by area and by 11 points.

        All are NaN if no image has an annotated object.
        """
        coco = coco_precision(self.detections, self.annotations)
        voc = voc_precision(self.detections, self.annotations, self.num_classes)
        counted = ~np.isnan(voc.area)
        if not counted.any():
            return dict.fromkeys((*coco, "voc_ap50", "voc_ap50_11pt"), math.nan)
        means = {
            "voc_ap50": float(voc.area[counted].mean()),
            "voc_ap50_11pt": float(voc.eleven_points[counted].mean()),
        }
        return {key: 100 * value for key, value in {**coco, **means}.items()}


def _target(regions: Regions, device: torch.device) -> dict[str, Tensor]:
    """Boxes and labels of one image as torchvision takes them; label 0 is the background."""
    kept = regions.trained_on()
    if kept.boxes is None or kept.box_labels is None:
        raise ValueError("an image without annotated boxes cannot train a detector")
    # The logarithm of a box without area, which a crop may leave, is infinite.
    solid = (kept.boxes[:, 2:] > kept.boxes[:, :2]).all(axis=1)
    return {
        "boxes": torch.from_numpy(kept.boxes[solid]).to(device),
        "labels": torch.from_numpy(kept.box_labels[solid] + 1).to(device),
    }


def _detections(
    found: Mapping[str, Tensor], size: tuple[int, int], full: tuple[int, int]
) -> Detections:
    boxes = resize_boxes(found["boxes"].float(), size, full)
    labels, scores = found["labels"] - 1, found["scores"].float()
    return Detections(boxes.cpu().numpy(), labels.cpu().numpy(), scores.cpu().numpy())
