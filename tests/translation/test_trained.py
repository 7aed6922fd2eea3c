"""A trained generator is a file with a card, and a function of an image."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from unshortcut.errors import UsageError
from unshortcut.translation.generator import GeneratorSettings
from unshortcut.translation.residual import ResidualSettings
from unshortcut.translation.trained import (
    GENERATOR_FILE,
    GeneratorCard,
    load_generator,
    load_weights_into,
    save_generator,
    to_pixels,
)
from unshortcut.translation.unet import UNetSettings

IMAGE = np.random.default_rng(0).integers(0, 256, (21, 30, 3), dtype=np.uint8)


def write_generator(folder: Path, settings: GeneratorSettings) -> Path:
    """A run folder's generator with random weights, which change the image."""
    torch.manual_seed(0)
    network = settings.build()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    folder.mkdir(exist_ok=True)
    save_generator(network, GeneratorCard(generator=settings), folder / GENERATOR_FILE)
    return folder


@pytest.mark.parametrize("settings", [UNetSettings(4, 3), ResidualSettings(4, 3)])
def test_what_is_saved_is_loaded_from_the_folder_or_the_file_and_filters_any_size(
    settings: GeneratorSettings, tmp_path: Path
) -> None:
    folder = write_generator(tmp_path / "run", settings)
    trained = load_generator(folder)
    assert load_generator(folder / GENERATOR_FILE) is trained, "it is read once"
    assert trained.card.generator == settings
    filtered = trained(IMAGE)
    assert filtered.shape == IMAGE.shape and filtered.dtype == np.uint8
    assert not np.array_equal(filtered, IMAGE)
    assert np.array_equal(filtered, trained(IMAGE)), "nothing is drawn at random"
    signed = torch.from_numpy(IMAGE).permute(2, 0, 1)[None] / 127.5 - 1
    expected = to_pixels(trained.network(signed))[0].permute(1, 2, 0).numpy()
    assert np.array_equal(filtered, expected)


def test_the_identity_returns_the_image_to_the_bit(tmp_path: Path) -> None:
    settings = ResidualSettings(4, 3)
    save_generator(settings.build(), GeneratorCard(generator=settings), tmp_path / GENERATOR_FILE)
    assert np.array_equal(load_generator(tmp_path)(IMAGE), IMAGE)


def test_weights_that_are_written_anew_are_read_anew(tmp_path: Path) -> None:
    first = load_generator(write_generator(tmp_path, ResidualSettings(4, 3)))
    again = load_generator(write_generator(tmp_path, ResidualSettings(4, 4)))
    assert (first.card.generator, again.card.generator) == (
        ResidualSettings(4, 3),
        ResidualSettings(4, 4),
    )


def test_weights_of_another_architecture_are_refused(tmp_path: Path) -> None:
    folder = write_generator(tmp_path / "run", ResidualSettings(4, 3))
    wanted = UNetSettings(4, 3)
    with pytest.raises(UsageError, match=r"is {name: residual.*recipe's is {name: unet") as caught:
        load_weights_into(wanted.build(), wanted, folder)
    assert "\n" not in str(caught.value)
    network = ResidualSettings(4, 3).build()
    load_weights_into(network, ResidualSettings(4, 3), folder)
    for name, value in load_generator(folder).network.state_dict().items():
        assert torch.equal(network.state_dict()[name], value)


def test_what_is_no_generator_is_one_sentence(tmp_path: Path) -> None:
    empty, broken, other = tmp_path / "empty", tmp_path / "broken", tmp_path / "other"
    empty.mkdir()
    for folder in (broken, other):
        write_generator(folder, ResidualSettings(4, 3))
    (broken / GENERATOR_FILE).write_bytes(b"no tensors")
    save_file({"x": torch.zeros(1)}, other / GENERATOR_FILE)
    alone = tmp_path / "alone.safetensors"
    save_file({"x": torch.zeros(1)}, alone)
    wrong = write_generator(tmp_path / "wrong", ResidualSettings(4, 3)) / "generator.json"
    wrong.write_text(json.dumps({"generator": {"name": "residua"}}))
    cases = {
        tmp_path / "nowhere": "does not exist: give the folder of a finished Pix2Pix run",
        empty: "has no 'generator.safetensors': give the folder of a finished Pix2Pix run",
        broken: "not a safetensors file",
        other: "does not fit its card",
        alone: "has no card: 'alone.json'",
        wrong.parent: "unknown generator 'residua'; did you mean 'residual'",
    }
    for where, message in cases.items():
        with pytest.raises(UsageError, match=message) as caught:
            load_generator(where)
        assert "\n" not in str(caught.value)
