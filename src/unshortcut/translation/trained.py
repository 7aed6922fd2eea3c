"""Trained generators: a safetensors file with a JSON card beside it, used as a filter."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from unshortcut.arrays import ImageArray
from unshortcut.errors import UsageError
from unshortcut.files import write_bytes, write_json
from unshortcut.parts import part_to_mapping, usage_error
from unshortcut.translation.generator import AnyGenerator, Generator, GeneratorSettings

GENERATOR_FILE = "generator.safetensors"
"""The trained generator in a run folder."""


class GeneratorCard(BaseModel):
    """What is needed to use the weights of a generator."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    generator: AnyGenerator
    size: int | None = None
    """Side of the images that it was trained on, in pixels."""
    target: dict[str, Any] | None = None
    """The filter that it has learned, as an augmentation."""
    recipe: dict[str, Any] | None = None
    versions: dict[str, str] = {}
    commit: str | None = None


class TrainedGenerator:
    """A generator in eval mode, as a filter of uint8 images: a function of the image alone.

    Batch norm uses its running statistics and nothing is dropped, unlike in the authors' code,
    which uses the statistics of the image and drops at random in use as in training.
    """

    def __init__(self, network: Generator, card: GeneratorCard, digest: str = "") -> None:
        self.network = network.eval().requires_grad_(False)
        self.card = card
        self.digest = digest
        """A hex digest of the weights file, by which caches tell generators apart."""

    @torch.inference_mode()
    def __call__(self, image: ImageArray) -> ImageArray:
        """The filtered image, uint8 (h, w, 3), of an image of any size."""
        pixels = torch.from_numpy(np.ascontiguousarray(image)).permute(2, 0, 1)[None]
        signed = pixels.to(torch.float32).div(127.5).sub(1)
        return np.ascontiguousarray(to_pixels(self.network(signed))[0].permute(1, 2, 0).numpy())


def to_pixels(images: Tensor) -> Tensor:
    """Images on the scale of −1 to 1 as uint8 of the same shape."""
    return images.detach().add(1).mul(127.5).round().clamp(0, 255).to(torch.uint8)


def save_generator(network: Generator, card: GeneratorCard, weights: Path) -> None:
    """Write the weights of a generator and its card."""
    state = network.state_dict()
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    write_bytes(weights, save(tensors))
    write_json(weights.with_suffix(".json"), card.model_dump(mode="json"))


def load_generator(where: str | Path) -> TrainedGenerator:
    """Load a trained generator: a run folder of Pix2Pix, or its file `generator.safetensors`.

    It is read once per process, unless the file changes. Nothing in the file is executed.
    """
    weights = _weights_file(where)
    return _load(weights, weights.stat().st_mtime_ns)


def refuse_generator(folder: Path) -> None:
    """Raise `UsageError` for a run folder that holds a generator where an encoder is needed."""
    if (folder / GENERATOR_FILE).is_file():
        raise UsageError(
            f"'{folder}' is a run of Pix2Pix, which trains a filter and no encoder; apply it with "
            f"`unshortcut filter SRC DST --method pix2pix --weights {folder}`"
        )


def load_weights_into(network: Generator, settings: GeneratorSettings, where: str | Path) -> None:
    """Load trained weights into a generator of the same architecture, or raise `UsageError`."""
    trained = load_generator(where)
    given, wanted = part_to_mapping(trained.card.generator), part_to_mapping(settings)
    if given != wanted:
        raise UsageError(
            f"the generator of '{where}' is {_spelled(given)}, but the recipe's is "
            f"{_spelled(wanted)}; set method.generator to that of the weights"
        )
    if not next(network.parameters()).is_meta:  # a forecast has shapes and no values
        network.load_state_dict(trained.network.state_dict())


def _weights_file(where: str | Path) -> Path:
    path = Path(where).expanduser()
    weights = path / GENERATOR_FILE if path.is_dir() else path
    if not weights.is_file():
        reason = f"has no '{GENERATOR_FILE}'" if path.is_dir() else "does not exist"
        raise UsageError(
            f"'{where}' {reason}: give the folder of a finished Pix2Pix run, such as one of "
            "`unshortcut pretrain pix2pix-photos`"
        )
    return weights


@lru_cache(maxsize=2)
def _load(weights: Path, modified: int) -> TrainedGenerator:
    card = _read_card(weights)
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        network = card.generator.build()
    try:
        tensors = load_file(weights)
    except (SafetensorError, OSError) as error:
        raise UsageError(f"'{weights.name}' is not a safetensors file: {error}") from None
    try:
        network.load_state_dict(tensors)
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise UsageError(f"'{weights.name}' does not fit its card: {reason}") from None
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    return TrainedGenerator(network, card, digest)


def _read_card(weights: Path) -> GeneratorCard:
    path = weights.with_suffix(".json")
    if not path.is_file():
        raise UsageError(f"'{weights}' has no card: '{path.name}' must be in the same folder")
    try:
        return GeneratorCard.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise usage_error(error, GeneratorCard, f"'{weights}' is no generator: its card") from None
    except ValueError as error:
        raise UsageError(f"card '{path.name}' is not JSON: {error}") from None


def _spelled(mapping: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in mapping.items()) + "}"
