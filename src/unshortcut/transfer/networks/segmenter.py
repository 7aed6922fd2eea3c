"""The settings of a segmenter, and the heads that they describe."""

from typing import Annotated, Literal

from pydantic import Field

from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber, Number, PositiveInt
from unshortcut.parts import settings
from unshortcut.transfer.networks.fcn import (
    ConcatenatingHead,
    SegmentationHeads,
    torchvision_head,
)
from unshortcut.transfer.networks.map_backbone import MapShape


@settings
class SegmenterSettings:
    """The FCN of DenseCL's benchmark (mmsegmentation's `fcn_r50-d8`) unless stated otherwise."""

    head: Literal["fcn", "torchvision"] = "fcn"
    """mmsegmentation's head of three convolutions, or torchvision's of one."""
    channels: PositiveInt | None = None
    """Of the head `fcn`, 512 unless stated; torchvision's has a quarter of the encoder's."""
    dropout: Annotated[Number, Field(ge=0, lt=1)] = 0.1
    aux_weight: NonNegativeNumber = 0.4
    """Weight of the loss of a second head on earlier maps (`layer3` of a ResNet); 0 omits it."""
    output_stride: Literal[4, 8, 16, 32] | None = None
    """Pixels per cell of the encoder's last map: of a ResNet, which is dilated, 8 unless stated; of
    another encoder its own, so that no other can be stated."""

    def __post_init__(self) -> None:
        if self.head != "fcn" and self.channels is not None:
            raise UsageError(
                f"segment: 'channels' is for the head 'fcn'; the head '{self.head}' has a quarter "
                "of the encoder's channels"
            )

    def heads(self, shape: MapShape, classes: int) -> SegmentationHeads:
        """New heads for maps of a shape."""
        aux = torchvision_head(shape.aux, classes, self.dropout) if self.aux_weight else None
        if self.head == "torchvision":
            return SegmentationHeads(torchvision_head(shape.out, classes, self.dropout), aux)
        channels = self.channels or 512
        return SegmentationHeads(ConcatenatingHead(shape.out, channels, classes, self.dropout), aux)
