"""Encoders of the package by name."""

import pytest
import torch

from unshortcut.errors import UsageError
from unshortcut.models import embedded
from unshortcut.models.load import load_model
from unshortcut.models.origin import origins


def test_an_encoder_of_the_package_loads_by_its_name_and_all_of_them_are_small() -> None:
    model = load_model("embedded:moco-v2-shapes")
    assert model.name == "embedded:moco-v2-shapes"
    assert model.features(torch.zeros(1, 3, 64, 64)).shape == (1, 128)
    assert sum(path.stat().st_size for path in embedded.FOLDER.iterdir()) < 5_000_000


def test_it_takes_another_size_than_that_of_its_card() -> None:
    assert load_model("embedded:moco-v2-shapes").preprocessing.size == 64
    assert load_model("embedded:moco-v2-shapes", size=96).preprocessing.size == 96


def test_a_wrong_name_gets_the_nearest_and_a_wrong_spec_all_origins() -> None:
    with pytest.raises(UsageError, match="did you mean 'moco-v2-shapes'"):
        load_model("embedded:moco-shapes")
    assert "embedded" in origins()
    with pytest.raises(UsageError, match="embedded:NAME"):
        load_model("nothing")
