"""Any PyTorch module in the place of an encoder, such as a user's own or one of torchvision."""

import torch
from torch import Tensor, nn

from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.models.loaded import Function


class ModuleEncoder(Encoder):
    """Maps images (N, 3, H, W) to features (N, dim) by a function of a module.

    It cannot be built again from settings, so its trained weights are of use with the module alone.

    Args:
        module: what is trained and saved.
        features: the function, which may use more or less than the module's forward pass.
        size: side of the images that the module takes, to find the width of the features.
    """

    def __init__(self, module: nn.Module, features: Function, size: int) -> None:
        nn.Module.__init__(self)
        self.settings = EncoderSettings()
        # Its parameters get names that no head can have.
        self.model = nn.ModuleDict({"module": module})
        self._features = features
        module.eval()
        with torch.no_grad():
            self.dim = self(torch.zeros(1, 3, size, size)).shape[1]

    def forward(self, images: Tensor) -> Tensor:
        return self._features(images).flatten(1)
