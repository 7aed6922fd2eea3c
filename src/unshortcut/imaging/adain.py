"""Style transfer by adaptive instance normalization (Huang and Belongie 2017), from a weights file.

Image and style are encoded by VGG-19 up to relu4_1, each channel of the image's features gets the
mean and the standard deviation of the style's features (Eq. 8), and a decoder turns the result into
pixels. The package contains no weights; they are read from a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor

from unshortcut.arrays import ImageArray
from unshortcut.errors import UsageError

Convolution = tuple[int, int, int, int]
"""Index in the sequence of layers, input channels, output channels, kernel size."""

ENCODER: tuple[Convolution | str, ...] = (
    (0, 3, 3, 1), (2, 3, 64, 3), "relu", (5, 64, 64, 3), "relu", "pool",
    (9, 64, 128, 3), "relu", (12, 128, 128, 3), "relu", "pool",
    (16, 128, 256, 3), "relu", (19, 256, 256, 3), "relu", (22, 256, 256, 3), "relu",
    (25, 256, 256, 3), "relu", "pool", (29, 256, 512, 3), "relu",
)  # fmt: skip
"""VGG-19 up to relu4_1 with reflection padding; a 1 × 1 convolution first normalizes the colors."""
DECODER: tuple[Convolution | str, ...] = (
    (1, 512, 256, 3), "relu", "upsample", (5, 256, 256, 3), "relu", (8, 256, 256, 3), "relu",
    (11, 256, 256, 3), "relu", (14, 256, 128, 3), "relu", "upsample",
    (18, 128, 128, 3), "relu", (21, 128, 64, 3), "relu", "upsample",
    (25, 64, 64, 3), "relu", (28, 64, 3, 3),
)  # fmt: skip
_EPSILON = 1e-5


@dataclass(frozen=True)
class AdaIN:
    """Encoder and decoder; `weights` has their tensors by name, such as `encoder.0.weight`."""

    weights: Mapping[str, Tensor]

    @torch.no_grad()
    def stylize(self, image: ImageArray, style: ImageArray, alpha: float = 1.0) -> ImageArray:
        """Render an image in the style of another; both are uint8 (h, w, 3) of any size.

        `alpha` interpolates between the image's own features (0) and those with the statistics of
        the style (1).
        """
        content = self.encode(_tensor(image))
        features = adaptive_instance_norm(content, self.encode(_tensor(style)))
        out = self.decode(torch.lerp(content, features, alpha))[
            0, :, : len(image), : image.shape[1]
        ]
        pixels = out.permute(1, 2, 0).mul(255).add(0.5).clamp(0, 255).to(torch.uint8)
        return np.ascontiguousarray(pixels.cpu().numpy())

    def encode(self, images: Tensor) -> Tensor:
        """Images (n, 3, h, w) in 0..1 to features (n, 512, h / 8, w / 8)."""
        return self._run("encoder", ENCODER, images)

    def decode(self, features: Tensor) -> Tensor:
        return self._run("decoder", DECODER, features)

    def _run(self, part: str, layers: tuple[Convolution | str, ...], x: Tensor) -> Tensor:
        for layer in layers:
            if layer == "relu":
                x = F.relu(x)
            elif layer == "pool":
                x = F.max_pool2d(x, 2, ceil_mode=True)
            elif layer == "upsample":
                x = F.interpolate(x, scale_factor=2, mode="nearest")
            else:
                name = f"{part}.{layer[0]}"
                weight = self.weights[f"{name}.weight"]
                x = _reflected(x) if weight.shape[-1] == 3 else x
                x = F.conv2d(x, weight, self.weights[f"{name}.bias"])
        return x


def adaptive_instance_norm(content: Tensor, style: Tensor) -> Tensor:
    """Give each channel of `content` (n, c, h, w) the style's mean and standard deviation."""
    deviation, mean = torch.std_mean(content.flatten(2), dim=2, correction=0)
    style_deviation, style_mean = torch.std_mean(style.flatten(2), dim=2, correction=0)
    scale = style_deviation / (deviation + _EPSILON)
    return content * scale[..., None, None] + (style_mean - mean * scale)[..., None, None]


def load_adain(path: str | Path) -> AdaIN:
    """Load the networks from a `.safetensors`, `.pt` or `.pth` file that contains only tensors.

    The file has the tensors `encoder.N.weight`, `encoder.N.bias`, `decoder.N.weight` and
    `decoder.N.bias`, where N is the layer's index in the usual sequential model; see `ENCODER` and
    `DECODER`.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise UsageError(f"the AdaIN weights file '{path}' does not exist")
    found = _read(path)
    weights: dict[str, Tensor] = {}
    for name, shape in _shapes().items():
        tensor = found.get(name)
        if not isinstance(tensor, Tensor):
            raise UsageError(f"'{path}' is not an AdaIN weights file: it has no tensor '{name}'")
        if tuple(tensor.shape) != shape:
            raise UsageError(
                f"'{path}': '{name}' must have the shape {shape}, not {tuple(tensor.shape)}"
            )
        weights[name] = tensor.to(torch.float32)
    return AdaIN(weights)


def _read(path: Path) -> Mapping[str, object]:
    try:
        if path.suffix == ".safetensors":
            return dict(load_file(path))
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # the readers can raise almost anything for a damaged file
        raise UsageError(f"'{path}' cannot be read as weights: {error}") from None
    if not isinstance(found, Mapping):
        raise UsageError(f"'{path}' contains a {type(found).__name__}, not tensors by name")
    return found


def _shapes() -> dict[str, tuple[int, ...]]:
    """The shapes of all tensors in a weights file, by name."""
    shapes: dict[str, tuple[int, ...]] = {}
    for part, layers in (("encoder", ENCODER), ("decoder", DECODER)):
        for layer in layers:
            if not isinstance(layer, str):
                number, channels, out, side = layer
                shapes[f"{part}.{number}.weight"] = (out, channels, side, side)
                shapes[f"{part}.{number}.bias"] = (out,)
    return shapes


def _tensor(image: ImageArray) -> Tensor:
    """(1, 3, h, w) in 0..1, padded by reflection at the right and bottom to multiples of 8."""
    height, width = image.shape[:2]
    padded = np.pad(image, ((0, -height % 8), (0, -width % 8), (0, 0)), mode="reflect")
    return torch.from_numpy(padded).permute(2, 0, 1)[None].to(torch.float32) / 255


def _reflected(x: Tensor) -> Tensor:
    """Pad each side by one pixel: by reflection, or by replication if there is only one pixel."""
    for sides, length in (((1, 1, 0, 0), x.shape[3]), ((0, 0, 1, 1), x.shape[2])):
        x = F.pad(x, sides, mode="reflect" if length > 1 else "replicate")
    return x
