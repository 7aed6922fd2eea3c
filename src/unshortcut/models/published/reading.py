"""Read the tensors of a file from a stranger; nothing in it is executed."""

import pickle
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.models.card import read_weights
from unshortcut.models.programs import refuse_program

_TRAINING_STATE = ("optimizer", "lr_scheduler", "scaler", "callbacks", "loops")
"""Beginnings of the keys of a checkpoint under which there are no weights."""
_USUAL = ("argparse.Namespace",)
"""Classes that checkpoints in the format before PyTorch 1.6 contain, which cannot be listed."""


@dataclass(frozen=True)
class WeightsFile:
    """The content of a file."""

    path: Path
    tensors: dict[str, Tensor]
    """By the keys that lead to each of them, e.g. `state_dict.module.encoder_q.conv1.weight`."""
    architecture: str | None
    """The value of `arch`, which the checkpoints of MoCo and timm have."""


def read_file(path: Path) -> WeightsFile:
    """Read a `.safetensors` file or one that `torch.save` has written."""
    if not path.is_file():
        raise UsageError(f"there is no file '{path}'")
    refuse_program(path)
    content = read_weights(path) if path.suffix == ".safetensors" else _load(path)
    tensors = dict(_tensors(content, ""))
    if not tensors:
        raise UsageError(f"'{path.name}' contains no tensors with names")
    stated = content.get("arch") if isinstance(content, Mapping) else None
    return WeightsFile(path, tensors, stated if isinstance(stated, str) else None)


class Inert:
    """Takes the place of any class or function that a checkpoint refers to, and does nothing.

    Hyperparameters of a run are often objects (`argparse.Namespace`, `DictConfig` of omegaconf)
    whose classes need not be installed to read the weights beside them.
    """

    def __new__(cls, *values: Any) -> "Inert":
        return object.__new__(cls)

    def __init__(self, *values: Any) -> None:
        return

    def __setstate__(self, state: Any) -> None:
        return


def _load(path: Path) -> Any:
    try:
        with warnings.catch_warnings(action="ignore"):
            try:
                return torch.load(path, map_location="cpu", weights_only=True)
            except pickle.UnpicklingError:
                # PyTorch refuses to import what the file names; with `Inert`, nothing is imported.
                with torch.serialization.safe_globals([(Inert, name) for name in _foreign(path)]):
                    return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # the readers can raise almost anything for a damaged file
        raise UsageError(
            f"'{path.name}' is not a file of weights that is safe to load: {_reason(error)}"
        ) from None


def _foreign(path: Path) -> list[str]:
    """Full names of the classes and functions in a checkpoint that PyTorch does not know."""
    try:
        return torch.serialization.get_unsafe_globals_in_checkpoint(path)
    except ValueError:  # the format before PyTorch 1.6
        return list(_USUAL)


def _reason(error: Exception) -> str:
    """The sentence of PyTorch's message that says what is wrong, without its advice."""
    paragraphs = [part.strip() for part in str(error).split("\n\n") if part.strip()]
    advised = len(paragraphs) > 1 and paragraphs[0].startswith("Weights only load failed")
    chosen = paragraphs[1] if advised else paragraphs[0] if paragraphs else type(error).__name__
    return chosen.partition(". Please")[0].splitlines()[0].strip(" .")


def _tensors(value: Any, name: str) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield name, value.detach()
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(key, str) and not (not name and key.startswith(_TRAINING_STATE)):
                yield from _tensors(inner, f"{name}.{key}" if name else key)
