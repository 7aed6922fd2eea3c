"""`--task detect`: object detection by Faster R-CNN (Ren et al. 2015)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.transform import resize_boxes

from unshortcut.data.regions import Regions
from unshortcut.data.source import ImageSource
from unshortcut.methods.method import Batch, StepOutput, TrainingContext
from unshortcut.models.encoder import Encoder
from unshortcut.parts import settings
from unshortcut.transfer.exported import DETECTOR_FILE, NetworkCard, save_network
from unshortcut.transfer.metrics.average_precision import (
    Detections,
    coco_precision,
    voc_precision,
)
from unshortcut.transfer.networks.detector import DetectorSettings, build_detector, from_scratch
from unshortcut.transfer.task import Example, Score, Task, TaskSettings, required_classes


@settings
class DetectSettings(DetectorSettings, TaskSettings):
    """A detector of all classes of boxes in the data."""

    name: ClassVar[str] = "detect"
    metric: ClassVar[str] = "ap50"
    dense: ClassVar[bool] = True

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

    @property
    def head(self) -> nn.Module:
        return from_scratch(self.detector)

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
        padded = self._padded(images, sizes)
        features = self.detector.backbone(padded.tensors)
        proposals, _ = self.detector.rpn(padded, features)
        found, _ = self.detector.roi_heads(features, proposals, padded.image_sizes)
        return [
            _detections(one, size, (example.height, example.width))
            for one, size, example in zip(found, padded.image_sizes, examples, strict=True)
        ]

    def score(self) -> "DetectionScore":
        return DetectionScore(len(self.classes))

    def export(self, folder: Path, about: Mapping[str, Any]) -> None:
        training = self.training_context
        card = NetworkCard(
            task=self.chosen,
            encoder=self.encoder.settings.trained(),
            classes=list(self.classes),
            size=training.size,
            mean=training.mean,
            std=training.std,
            **about,
        )
        save_network(self.detector, card, folder / DETECTOR_FILE)

    def _padded(self, images: Tensor, sizes: Tensor | None) -> ImageList:
        """Images (N, 3, H, W) with zeros up to a size that the strides of the network divide.

        As in torchvision, the padding is zero in normalized images, that is of the mean color.
        """
        height, width = images.shape[-2:]
        each = [(height, width)] * len(images) if sizes is None else sizes.tolist()
        each = [(int(own_height), int(own_width)) for own_height, own_width in each]
        multiple = self.detector.transform.size_divisible
        full = (-(-height // multiple) * multiple, -(-width // multiple) * multiple)
        if all(size == full for size in each):
            return ImageList(images, each)
        padded = images.new_zeros(*images.shape[:2], *full)
        padded = padded.contiguous(memory_format=self.encoder.memory_format)
        for row, (own_height, own_width) in enumerate(each):
            padded[row, :, :own_height, :own_width] = images[row, :, :own_height, :own_width]
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

        NaN if no object counts.
        """
        coco = coco_precision(self.detections, self.annotations)
        voc = voc_precision(self.detections, self.annotations, self.num_classes)
        counted = ~np.isnan(voc.area)
        both = {"voc_ap50": voc.area, "voc_ap50_11pt": voc.eleven_points}
        means = {
            key: float(values[counted].mean()) if counted.any() else float("nan")
            for key, values in both.items()
        }
        return {key: 100 * value for key, value in {**coco, **means}.items()}


def _target(regions: Regions, device: torch.device) -> dict[str, Tensor]:
    """Boxes and labels of one image as torchvision takes them; label 0 is the background."""
    kept = regions.trained_on()
    if kept.boxes is None or kept.box_labels is None:
        raise ValueError("an image without annotated boxes cannot train a detector")
    # The logarithm of a box without area, which a crop may leave, is infinite.
    sides = kept.boxes[:, 2:] - kept.boxes[:, :2]
    solid = (sides > 0).all(axis=1)
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
