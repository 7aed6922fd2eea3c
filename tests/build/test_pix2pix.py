"""`filter --method pix2pix`: copies by a trained generator, from the command line too."""

from pathlib import Path

import numpy as np
import pytest

from tests.data.images import write_tree
from tests.translation.test_trained import write_generator
from unshortcut.build.api import filter_data
from unshortcut.cli import main as cli
from unshortcut.data.open import open_data
from unshortcut.errors import UsageError
from unshortcut.translation.trained import load_generator
from unshortcut.translation.unet import UNetSettings

NAMES = [f"{name}.png" for name in "abcd"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_generator(tmp_path / "run", UNetSettings(4, 3))


def test_copies_are_what_the_generator_makes_with_any_number_of_processes(
    run: Path, tmp_path: Path
) -> None:
    write_tree(tmp_path / "photos", NAMES)
    for workers in (1, 2):
        filter_data(
            tmp_path / "photos", tmp_path / f"by-{workers}", "pix2pix", weights=str(run),
            workers=workers,
        )  # fmt: skip
    photos, first, second = (open_data(tmp_path / name) for name in ("photos", "by-1", "by-2"))
    for index in range(len(NAMES)):
        pixels = photos.image(index).pixels()
        copy = first.image(index).pixels()
        assert not np.array_equal(copy, pixels)
        assert np.array_equal(copy, second.image(index).pixels())
        assert np.abs(copy.astype(int) - load_generator(run)(pixels)).max() <= 1, "threads differ"


def test_the_command_line_takes_a_run_and_relative_paths(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tree(tmp_path / "photos", NAMES)
    words = ["filter", "photos", "copy", "--method", "pix2pix", "--weights", "run"]
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--workers", "1"])
    assert ended.value.code == 0
    assert len(open_data("copy")) == len(NAMES)
    with pytest.raises(SystemExit) as ended:
        cli.main(["filter", "photos", "other", "--method", "cartoon", "--weights", "run"])
    assert ended.value.code == 2
    assert "unknown key 'weights'" in capsys.readouterr().err
    assert not Path("other").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "'weights' is missing: give the folder of a Pix2Pix run"),
        ({"weights": "nowhere"}, "nowhere' does not exist"),
    ],
)
def test_without_weights_nothing_is_written(
    settings: dict[str, str], message: str, tmp_path: Path
) -> None:
    write_tree(tmp_path / "photos", NAMES)
    with pytest.raises(UsageError, match=message):
        filter_data(tmp_path / "photos", tmp_path / "copy", "pix2pix", **settings)  # type: ignore[arg-type]
    assert not (tmp_path / "copy").exists()
