"""Sprite sheets: each thumbnail is where the page looks for it, and all of them fit."""

import base64

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from unshortcut.report.thumbnails import PER_ROW, SIDES, thumbnails


def decoded(sheet: str) -> NDArray[np.uint8]:
    """The RGB image of a data URL."""
    assert sheet.startswith("data:image/webp;base64,")
    encoded = np.frombuffer(base64.b64decode(sheet.partition(",")[2]), np.uint8)
    return np.asarray(cv2.imdecode(encoded, cv2.IMREAD_COLOR)[:, :, ::-1])


def test_a_thumbnail_is_found_by_its_number() -> None:
    count = PER_ROW**2 + PER_ROW + 3
    random = np.random.default_rng(0)
    colors = random.integers(0, 256, (count, 1, 1, 3), dtype=np.uint8)
    found = thumbnails(np.broadcast_to(colors, (count, 32, 32, 3)))
    assert (len(found.sheets), found.side) == (2, 32)
    sheets = [decoded(sheet) for sheet in found.sheets]
    assert [sheet.shape for sheet in sheets] == [(1024, 1024, 3), (64, 1024, 3)]
    for number in (0, 1, PER_ROW, PER_ROW**2 - 1, PER_ROW**2, count - 1):
        row, column = divmod(number % PER_ROW**2, PER_ROW)
        middle = sheets[number // PER_ROW**2][32 * row + 16, 32 * column + 16]
        assert np.abs(middle.astype(int) - colors[number, 0, 0]).max() < 12


def test_what_does_not_fit_is_drawn_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = np.random.default_rng(0).integers(0, 256, (40, 96, 96, 3), dtype=np.uint8)
    large = thumbnails(tiles)
    assert large.side == SIDES[0]
    monkeypatch.setattr("unshortcut.report.thumbnails.BUDGET", large.size // 2)
    monkeypatch.setattr("unshortcut.report.thumbnails.PER_IMAGE", 0)
    small = thumbnails(tiles)
    assert small.side in SIDES[1:] and small.size <= large.size // 2


@pytest.mark.parametrize(("side", "shown"), [(24, 32), (32, 32), (50, 48), (64, 64), (96, 96)])
def test_images_are_not_enlarged_beyond_the_smallest_side(side: int, shown: int) -> None:
    assert thumbnails(np.zeros((3, side, side, 3), np.uint8)).side == shown
