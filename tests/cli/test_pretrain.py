"""`unshortcut pretrain --dry-run`: what it prints, and that it leaves nothing behind."""

from pathlib import Path

import pytest

from unshortcut.cli._forecast import sparkline
from unshortcut.cli.main import main


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["pretrain", *words])
    return int(ended.value.code or 0)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with nothing in it, and a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    return tmp_path


def test_a_dry_run_prints_what_the_run_will_be_and_writes_nothing(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["moco-v2-imagenet", "--dry-run", "--devices", "8", "--images-per-second", "1500"]
    assert call(*words, "--out", "run") == 0
    printed = capsys.readouterr().out
    lines = {line[:15].strip(): line[15:].strip() for line in printed.splitlines()}
    assert lines["paper"].startswith("non-semantic negatives, tables 2 and 8, MoCo-v2; ")
    assert "imagenet_top1 67.6" in lines["paper"]
    assert lines["data"].startswith("imagenet: 1,281,167 images, 1,000 classes (not on this")
    assert lines["batch"] == "256 images per step: 8 devices × 32 images"
    assert lines["steps"] == "1,000,800: 200 epochs of 5,004 steps"
    assert set(lines["learning rate"]) <= set("▁▂▃▄▅▆▇█")
    assert "0.03 at first, 0.03 at most" in printed
    assert lines["views"] == "2 per image: query, key"
    assert "measured on one core with made images" in lines["views made"]
    assert lines["views needed"].startswith("3,000 a second at 1,500 images a second")
    assert lines["time"].startswith("47.4 hours at 1,500 images a second, as given")
    assert lines["memory"].startswith("481.0 MB on each device")
    assert "queue of 65,536 × 128 33.6 MB" in printed
    assert lines["checkpoints"].startswith("369.6 MB each on disk; one is kept")
    assert list(empty.iterdir()) == []


def test_a_dry_run_of_phases_prints_each_of_them_and_their_sum(
    empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unshortcut.training.forecasting.views_per_second", lambda *_: 100.0)
    words = ["supervised-anisotropic-tuned-imagenet", "--dry-run", "--images-per-second", "1000"]
    assert call(*words, "--out", "run") == 0
    text = capsys.readouterr().out
    printed = [line.strip().split(maxsplit=1) for line in text.splitlines()]
    assert [rest for name, rest in printed if name == "phase"] == ["doubled", "originals"]
    data = [rest for name, rest in printed if name == "data"]
    assert "2,562,334 images" in data[0] and "1,281,167 images" in data[1]
    steps = [45 * (2_562_334 // 256), 60 * (1_281_167 // 256)]
    hours = sum(steps) * 256 / 1000 / 3600
    assert f"{sum(steps):,} steps, {hours:,.1f} hours" in text.splitlines()[-1]
    assert [rest.split()[0] for name, rest in printed if name == "steps"] == [
        f"{one:,}:" for one in steps
    ]
    assert list(empty.iterdir()) == []


def test_an_obstacle_of_this_machine_is_printed(
    empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("unshortcut.training.forecasting.views_per_second", lambda *_: 100.0)
    words = ["simclr-imagenet", "--dry-run", "--devices", "8"]
    assert call(*words) == 0
    printed = capsys.readouterr().out
    assert "over 4096 images, on all devices together" in printed
    assert "unknown; state --images-per-second" in printed
    assert "cannot execute the run: synchronized batch norm needs GPUs" in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["moco-v2-shapes", "--dry-run", "--set", "training.compiled=true"], "compiled"),
        (["moco-v2-imagenet", "--dry-run", "--devices", "7"], "must be a multiple of devices"),
        (["moco-v2-shapes", "--dry-run", "--data", "nowhere/photos"], "nowhere/photos"),
        (["moco-v2-shapes", "--images-per-second", "9"], "are for --dry-run"),
    ],
)
def test_a_wrong_request_is_status_2(
    words: list[str], message: str, empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*words) == 2
    assert message in capsys.readouterr().err
    assert list(empty.iterdir()) == []


def test_a_curve_is_drawn_from_zero_to_its_largest_value() -> None:
    assert sparkline([0.0, 0.5, 1.0, 0.51, 0.1]) == "▁▅█▅▁"
    assert sparkline([0.03] * 3) == "███"
