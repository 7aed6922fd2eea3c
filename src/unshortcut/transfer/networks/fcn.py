"""Fully convolutional segmentation (FCN): torchvision's network on the modules of an encoder."""

import torch
from torch import Tensor, nn
from torchvision.models.segmentation.fcn import FCN, FCNHead

from unshortcut.models.encoder import Encoder
from unshortcut.transfer.networks.map_backbone import backbone


class ConcatenatingHead(nn.Module):
    """mmsegmentation's FCN head: maps (N, in_channels, h, w) to logits (N, classes, h, w).

    Two 3×3 convolutions, then a third one on their output concatenated with their input
    (`concat_input`), dropout of whole channels and a 1×1 convolution. Batch norm and ReLU follow
    each 3×3 convolution. This is the head of DenseCL's benchmark, with 512 channels. Initial
    weights are those of mmsegmentation as well.
    """

    def __init__(self, in_channels: int, channels: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.convs = nn.Sequential(
            _convolution(in_channels, channels), _convolution(channels, channels)
        )
        self.merge = _convolution(in_channels + channels, channels)
        self.dropout = nn.Dropout2d(dropout)
        self.classifier = nn.Conv2d(channels, classes, 1)
        nn.init.normal_(self.classifier.weight, std=0.01)
        nn.init.zeros_(self.classifier.bias)  # type: ignore[arg-type]

    def forward(self, maps: Tensor) -> Tensor:
        merged = self.merge(torch.cat([maps, self.convs(maps)], dim=1))
        logits: Tensor = self.classifier(self.dropout(merged))
        return logits


class SegmentationHeads(nn.Module):
    """The head on the last maps of a backbone and, for training, one on earlier maps."""

    def __init__(self, classifier: nn.Module, aux_classifier: nn.Module | None) -> None:
        super().__init__()
        self.classifier = classifier
        self.aux_classifier = aux_classifier

    def on(self, encoder: Encoder) -> FCN:
        """torchvision's FCN with the modules of these heads and of a prepared encoder.

        For normalized images (N, 3, H, W) it returns logits `out` and, with an auxiliary head,
        `aux`, each (N, classes, H, W). A module that is replaced later, such as batch norm by its
        synchronized form, is not in it, so put it together when it is needed.
        """
        return FCN(backbone(encoder.model), self.classifier, self.aux_classifier)


def torchvision_head(in_channels: int, classes: int, dropout: float) -> FCNHead:
    """The head of torchvision's `fcn_resnet50`: one 3×3 convolution to a quarter of the channels.

    mmsegmentation's auxiliary head is the same but for its dropout of whole channels.
    """
    head = FCNHead(in_channels, classes)
    for module in head:
        if isinstance(module, nn.Dropout):
            module.p = dropout
    return head


def _convolution(in_channels: int, channels: int) -> nn.Sequential:
    convolution = nn.Conv2d(in_channels, channels, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(convolution.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(convolution, nn.BatchNorm2d(channels), nn.ReLU(inplace=True))
