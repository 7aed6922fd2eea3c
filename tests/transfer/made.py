"""What the tests of transfer share: a tiny exported encoder, and quick settings."""

from pathlib import Path

from tests.small import TINY
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.card import Card, save_encoder
from unshortcut.models.encoder import create_encoder

QUICK = [
    "data.workers=0",
    "data.batch_size=8",
    "training.checkpoint_steps=1",
    "training.log_steps=1",
]
"""Changes to a protocol, for a training of a few steps."""


def tiny_model(folder: Path, size: int = 24, seed: int = 0) -> Path:
    """The file of a tiny encoder with initial weights, as a run exports it."""
    encoder = create_encoder(TINY, seed)
    preprocessing = Preprocessing(size=size, crop_share=1.0)
    path = folder / f"tiny-{seed}.safetensors"
    save_encoder(encoder, Card(encoder=TINY, preprocessing=preprocessing, dim=encoder.dim), path)
    return path
