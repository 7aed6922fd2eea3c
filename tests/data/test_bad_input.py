"""A folder of awkward files: what can be shown is shown, the rest is listed with its reason."""

from pathlib import Path

import numpy as np
import pytest

from tests.data.bad_folder import BadFolder, make_bad_folder
from unshortcut.data.loader import ViewLoader
from unshortcut.data.open import open_data
from unshortcut.data.scan import readable, scan
from unshortcut.data.source import Image
from unshortcut.errors import UsageError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> BadFolder:
    return make_bad_folder(tmp_path_factory.mktemp("bad") / "images")


def test_the_scan_lists_exactly_the_bad_files_with_a_reason(folder: BadFolder) -> None:
    source = open_data(folder.root)
    identities = {source.identity(i) for i in range(len(source))}
    assert identities == folder.bad | set(folder.sizes)
    report = scan(source, seed=0)
    assert {failure.identity for failure in report.bad} == folder.bad
    for failure in report.bad:
        assert 0 < len(failure.reason) < 120, failure
        assert "\n" not in failure.reason
        assert str(folder.root) not in failure.reason
    report.check()


def test_the_rest_loads_as_upright_rgb(folder: BadFolder) -> None:
    source = open_data(folder.root)
    rest = readable(source, scan(source, seed=0))
    assert len(rest) == len(folder.sizes)
    for i in range(len(rest)):
        image = rest.image(i)
        pixels = image.pixels()
        assert pixels.dtype == np.uint8
        assert pixels.shape == (image.height, image.width, 3)
        assert pixels.shape[:2] == folder.sizes[rest.identity(i)], rest.identity(i)


def test_sixteen_bit_files_keep_their_range(folder: BadFolder) -> None:
    source = open_data(folder.root)
    for i in range(len(source)):
        if "16-bit" in source.identity(i):
            pixels = source.image(i).pixels()
            assert pixels.min() < 5
            assert pixels.max() > 250
            assert abs(float(pixels.mean()) - 127.5) < 2


def test_too_few_good_ones_stop_before_training(tmp_path: Path) -> None:
    bad = make_bad_folder(tmp_path, good=0)
    with pytest.raises(UsageError, match="cannot be read"):
        scan(open_data(bad.root), seed=0).check()


def _center(image: Image, seed: int, epoch: int, index: int) -> dict[str, np.ndarray]:
    return {"view": np.ascontiguousarray(np.resize(image.pixels(), (8, 8, 3)))}


def test_bad_files_that_no_scan_removed_are_replaced_and_reported(folder: BadFolder) -> None:
    loader = ViewLoader(open_data(folder.root), _center, batch_size=10, seed=3)
    reported = {identity for batch in loader for identity, _ in batch["failures"]}
    assert reported
    assert reported <= folder.bad
