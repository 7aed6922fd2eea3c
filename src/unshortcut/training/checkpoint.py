"""Checkpoint files: written completely or not at all, and loaded without executing anything."""

import pickle
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins import CheckpointIO

from unshortcut.errors import RunError, UsageError
from unshortcut.files import atomic_open


class WholeFileIO(CheckpointIO):
    """Writes a temporary file in the same folder, syncs and renames it; reads `weights_only`.

    Lightning's own version writes to the system's temporary folder, which may be another disk.
    """

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None
    ) -> None:
        try:
            with atomic_open(path) as file:
                torch.save(checkpoint, file)
        except (OSError, RuntimeError) as error:  # torch turns a full disk into a RuntimeError
            raise RunError(
                f"the checkpoint '{Path(path).name}' could not be written ({error}); "
                "the previous one is untouched"
            ) from error

    def load_checkpoint(
        self, path: Any, map_location: Any | None = None, weights_only: bool | None = None
    ) -> dict[str, Any]:
        return load_checkpoint(Path(path))

    def remove_checkpoint(self, path: Any) -> None:
        Path(path).unlink(missing_ok=True)


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Load a checkpoint's values and tensors; a file that would execute code is refused."""
    try:
        checkpoint: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"'{path.name}' is not a checkpoint that is safe to load: {reason}"
        ) from None
    return checkpoint
