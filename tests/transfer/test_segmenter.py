"""Segmenters as files: they load as they were saved, and wrong files are refused."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torchvision.models.segmentation import FCN

from tests.small import TINY
from tests.transfer.made import tiny_model
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.methods.method import TrainingContext
from unshortcut.models.card import SEGMENTER_FILE
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.transfer.exported import read_network_card
from unshortcut.transfer.loading import load_segmenter
from unshortcut.transfer.task import About
from unshortcut.transfer.tasks.segment import Segment, SegmentSettings

CLASSES = ("background", "pet")
ABOUT = About(CLASSES, Preprocessing(size=32), {"versions": {"torch": "2"}})
IMAGES = torch.randn(2, 3, 24, 40, generator=torch.Generator().manual_seed(0))


def segment(encoder: EncoderSettings = TINY, **values: Any) -> Segment:
    made = create_encoder(encoder, seed=0)
    return SegmentSettings(**values).build(made, CLASSES, TrainingContext())


def test_a_saved_segmenter_is_loaded_as_torchvisions_fcn(tmp_path: Path) -> None:
    task = segment(channels=8, output_stride=16)
    task.network(IMAGES)  # moves the statistics of batch norm
    task.eval().save(tmp_path / SEGMENTER_FILE, ABOUT)
    for where in (tmp_path, str(tmp_path / SEGMENTER_FILE)):
        segmenter = load_segmenter(where)
        assert type(segmenter) is FCN and not segmenter.training
        assert segmenter.classes == CLASSES and segmenter.preprocessing == ABOUT.preprocessing
        found, expected = segmenter(IMAGES), task.network(IMAGES)
        assert found.keys() == {"out", "aux"}
        assert all(torch.equal(found[name], expected[name]) for name in found)
    card = read_network_card(tmp_path / SEGMENTER_FILE)
    assert card.task == task.settings and card.versions == {"torch": "2"}


def test_wrong_files_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no detector and no segmenter: it is not finished"):
        load_segmenter(tmp_path)
    with pytest.raises(UsageError, match="it does not exist"):
        load_segmenter(tmp_path / "other")
    weights = tmp_path / SEGMENTER_FILE
    segment(channels=8).save(weights, ABOUT)
    card = json.loads(weights.with_suffix(".json").read_text())

    def write(**changes: Any) -> None:
        weights.with_suffix(".json").write_text(json.dumps({**card, **changes}))

    write(task={**card["task"], "channels": 4})
    with pytest.raises(UsageError, match="does not fit its card: size mismatch"):
        load_segmenter(weights)
    write(task={"name": "classify"})
    with pytest.raises(UsageError, match="no segmenter, its task is 'classify'"):
        load_segmenter(weights)
    encoder = tiny_model(tmp_path)
    with pytest.raises(UsageError, match=r"is an encoder; load it with `unshortcut.load_model`"):
        load_segmenter(encoder)
    write(colors=3)
    with pytest.raises(UsageError, match="unknown key 'colors'"):
        load_segmenter(weights)
    weights.with_suffix(".json").unlink()
    with pytest.raises(UsageError, match="has no card"):
        load_segmenter(weights)
