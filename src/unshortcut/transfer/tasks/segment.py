"""`segment`: a class for each pixel, by a fully convolutional head on a dilated encoder (FCN)."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F
from torchvision.models.segmentation import FCN

from unshortcut.arrays import FloatArray
from unshortcut.data.regions import IGNORED, MaskArray, Regions
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.card import SEGMENTER_FILE
from unshortcut.models.encoder import Encoder
from unshortcut.parts import settings
from unshortcut.transfer.exported import NetworkCard, save_network
from unshortcut.transfer.metrics.segmentation import ConfusionMatrix
from unshortcut.transfer.networks.fcn import SegmentationHeads
from unshortcut.transfer.networks.map_backbone import prepare_backbone
from unshortcut.transfer.networks.segmenter import SegmenterSettings
from unshortcut.transfer.task import About, Example, Score, Task, TaskSettings, required_classes
from unshortcut.views.region_drawing import ClassNames


@settings
class SegmentSettings(SegmenterSettings, TaskSettings):
    """A segmenter of all classes of masks in the data."""

    name: ClassVar[str] = "segment"
    metric: ClassVar[str] = "miou"
    dense: ClassVar[bool] = True
    weights: ClassVar[str] = SEGMENTER_FILE

    def classes(self, source: ImageSource) -> tuple[str, ...]:
        classes = required_classes(source.mask_classes, self.name, "masks")
        if len(classes) > IGNORED:
            raise UsageError(
                f"task 'segment' has at most {IGNORED} classes, and the data have {len(classes)}"
            )
        return classes

    def build(
        self, encoder: Encoder, classes: Sequence[str], training: TrainingContext
    ) -> "Segment":
        return Segment(encoder, self, classes, training)


class Segment(Task):
    """Cross-entropy over the pixels of a view, whose logits are upsampled from the encoder's maps.

    Pixels of the class `IGNORED` and those that only pad a batch do not count. The encoder is
    changed in place (`prepare_backbone`); its weights keep their names and shapes.
    """

    def __init__(
        self,
        encoder: Encoder,
        settings: SegmentSettings,
        classes: Sequence[str],
        training: TrainingContext,
    ) -> None:
        super().__init__(encoder, training)
        self.settings = settings
        self.classes = tuple(classes)
        shape = prepare_backbone(encoder, settings.output_stride)
        self.stride = shape.stride
        self.heads = settings.heads(shape, len(self.classes))
        self.heads.to(memory_format=encoder.memory_format)

    @property
    def head(self) -> SegmentationHeads:
        return self.heads

    @property
    def network(self) -> FCN:
        """torchvision's FCN, made of the modules that are trained; it is what is exported."""
        return self.heads.on(self.encoder)

    def loss(self, batch: Batch) -> StepOutput:
        images = batch.views["image"]
        masks = _stack_masks(batch.regions, images)
        logits = self._logits(images)
        loss = _cross_entropy(logits["out"], masks)
        metrics = {"pixel_accuracy": _pixel_accuracy(logits["out"].detach(), masks)}
        if "aux" in logits:
            aux_loss = _cross_entropy(logits["aux"], masks)
            metrics["aux_loss"] = aux_loss.detach()
            loss = loss + self.settings.aux_weight * aux_loss
        return StepOutput(loss, None, metrics)

    @torch.no_grad()
    def predict(
        self, images: Tensor, sizes: Tensor, examples: Sequence[Example]
    ) -> list[MaskArray]:
        """Masks of classes, uint8 (height, width) of the full images.

        Images of one size go through the network together, without padding: to a segmenter it would
        be part of the image, so that a mask would depend on the other images.
        """
        found: dict[int, MaskArray] = {}
        for height, width in sorted({(int(height), int(width)) for height, width in sizes}):
            rows = (sizes == sizes.new_tensor([height, width])).all(dim=1).nonzero()[:, 0]
            logits = self._logits(images[rows, :, :height, :width])["out"]
            for row, own in zip(rows.tolist(), logits, strict=True):
                found[row] = _largest(own, examples[row].height, examples[row].width)
        return [found[row] for row in range(len(images))]

    def score(self) -> "SegmentationScore":
        return SegmentationScore(self.classes)

    def class_names(self, classes: Sequence[str]) -> ClassNames:
        return ClassNames(masks=tuple(classes))

    def drawn(self, prediction: MaskArray) -> tuple[Regions, FloatArray | None]:
        return Regions(mask=prediction), None

    def save(self, weights: Path, about: About) -> None:
        card = NetworkCard(
            task=self.settings,
            encoder=self.encoder.settings,
            classes=list(about.classes),
            preprocessing=about.preprocessing,
            **about.origin,
        )
        save_network(self.network, card, weights)

    def _logits(self, images: Tensor) -> dict[str, Tensor]:
        """(N, classes, H, W) each."""
        images = images.contiguous(memory_format=self.encoder.memory_format)
        logits: dict[str, Tensor] = self.network(images)
        return logits


class SegmentationScore(Score):
    """Mean IoU, pixel accuracy and mean accuracy of the classes, in percent, over all pixels."""

    def __init__(self, classes: Sequence[str]) -> None:
        self.classes = tuple(classes)
        self.confusion = ConfusionMatrix(len(self.classes))

    def add(self, predictions: Sequence[MaskArray], examples: Sequence[Example]) -> None:
        """Add predicted masks; an image without a true mask is not counted."""
        for predicted, example in zip(predictions, examples, strict=True):
            if example.regions.mask is not None:
                self.confusion.add(predicted, example.regions.mask)

    def result(self) -> dict[str, float]:
        return {
            "miou": 100 * self.confusion.mean_iou(),
            "pixel_accuracy": 100 * self.confusion.pixel_accuracy(),
            "mean_accuracy": 100 * self.confusion.mean_accuracy(),
        }

    def class_iou(self) -> dict[str, float]:
        """IoU of each class in percent; NaN for a class that is in no image and no prediction."""
        return dict(zip(self.classes, (100 * self.confusion.iou()).tolist(), strict=True))


def _stack_masks(regions: Sequence[Regions] | None, images: Tensor) -> Tensor:
    """(N, H, W): the classes of the pixels, `IGNORED` where an image has no mask or is padded."""
    if regions is None:
        raise UsageError("task 'segment' needs masks: 'regions' in a batch")
    masks = torch.full((len(images), *images.shape[2:]), IGNORED, dtype=torch.uint8)
    for row, one in zip(masks, regions, strict=True):
        if one.mask is not None:
            height, width = one.mask.shape
            row[:height, :width] = torch.from_numpy(one.mask)
    return masks.to(images.device).long()


def _cross_entropy(logits: Tensor, masks: Tensor) -> Tensor:
    """The mean over the pixels that count, 0 if there are none, which torch's mean makes NaN."""
    total = F.cross_entropy(logits, masks, ignore_index=IGNORED, reduction="sum")
    return total / (masks != IGNORED).sum().clamp(min=1)


def _pixel_accuracy(logits: Tensor, masks: Tensor) -> Tensor:
    known = masks != IGNORED
    return (logits.argmax(dim=1) == masks)[known].sum() / known.sum().clamp(min=1)


def _largest(logits: Tensor, height: int, width: int) -> MaskArray:
    """The class of the largest logit of (C, h, w), at each pixel of the full image.

    One class at a time: the logits of all classes at the size of a large photograph would take
    gigabytes.
    """
    best = torch.full((height, width), -torch.inf, dtype=logits.dtype, device=logits.device)
    winner = torch.zeros(height, width, dtype=torch.uint8, device=logits.device)
    for number, one in enumerate(logits):
        full = F.interpolate(one[None, None], (height, width), mode="bilinear")[0, 0]
        winner[full > best] = number
        best = torch.maximum(best, full)
    mask: MaskArray = winner.cpu().numpy()
    return mask
