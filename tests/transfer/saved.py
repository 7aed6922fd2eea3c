"""Small detectors and segmenters as a run of fine-tuning saves them."""

from pathlib import Path
from typing import Any

import torch

from tests.small import TINY
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.methods.method import TrainingContext
from unshortcut.models.card import DETECTOR_FILE, SEGMENTER_FILE
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.transfer.task import About
from unshortcut.transfer.tasks.detect import Detect, DetectSettings
from unshortcut.transfer.tasks.segment import Segment, SegmentSettings

DETECTED, SEGMENTED = ("disk", "square"), ("background", "pet")
SIZE = 32
READY = Preprocessing(size=SIZE, mean=(0.4, 0.5, 0.6), std=(0.2, 0.3, 0.2))


def save_detector(
    folder: Path, encoder: EncoderSettings = TINY, file: str = DETECTOR_FILE, **changes: Any
) -> Detect:
    """A detector that finds a hundred things, and its files in a folder."""
    values = {"channels": 8, "hidden": 16, "proposals": 50, "score_threshold": 0.1, **changes}
    context = TrainingContext(size=SIZE, mean=READY.mean, std=READY.std)
    torch.manual_seed(0)
    task = DetectSettings(**values).build(create_encoder(encoder, 0), DETECTED, context)
    task.eval().save(folder / file, About(DETECTED, READY))
    return task


def save_segmenter(
    folder: Path, encoder: EncoderSettings = TINY, file: str = SEGMENTER_FILE, **values: Any
) -> Segment:
    """A segmenter, and its files in a folder."""
    torch.manual_seed(0)
    made = create_encoder(encoder, 0)
    task = SegmentSettings(**values).build(made, SEGMENTED, TrainingContext())
    task.eval().save(folder / file, About(SEGMENTED, READY))
    return task
