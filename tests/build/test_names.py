"""Names of copies: in a tree, next to their originals, and in shards."""

import pytest

from unshortcut.build.copy_settings import CopySettings
from unshortcut.build.encoding import OutputFormat, encode, format_of, is_whole
from unshortcut.build.operation import make_operation

GAUSSIAN = make_operation("gaussian", {})


@pytest.mark.parametrize(
    ("path", "wanted", "name"),
    [
        ("cat/1.jpg", "keep", "cat/1.jpg"),
        ("cat/1.JPEG", "keep", "cat/1.JPEG"),
        ("cat/1.png", "keep", "cat/1.png"),
        ("cat/1.webp", "keep", "cat/1.webp.png"),
        ("cat/1", "keep", "cat/1.png"),
        ("v1.2/1", "keep", "v1.2/1.png"),
        ("cat/1.jpg", "png", "cat/1.jpg.png"),
        ("cat/1.png", "jpeg", "cat/1.png.jpg"),
    ],
)
def test_a_copy_has_the_name_of_its_original(path: str, wanted: OutputFormat, name: str) -> None:
    assert CopySettings(GAUSSIAN, wanted).file_name(path) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("cat/1.jpg", "cat/1-gaussian.jpg"),
        ("cat/1.a.png", "cat/1.a-gaussian.png"),
        ("cat/1.webp", "cat/1-gaussian.webp.png"),
        ("v1.2/1", "v1.2/1-gaussian.png"),
    ],
)
def test_a_copy_with_its_original_kept_has_a_name_of_its_own(path: str, name: str) -> None:
    assert CopySettings(GAUSSIAN, keep_originals=True).file_name(path) == name


@pytest.mark.parametrize(
    ("ending", "wanted", "name"),
    [
        ("jpg", "keep", "jpg"),
        ("JPG", "keep", "JPG"),
        ("webp", "keep", "png"),
        ("jpg", "png", "png"),
    ],
)
def test_a_copy_in_a_shard_keeps_its_key(ending: str, wanted: OutputFormat, name: str) -> None:
    assert CopySettings(GAUSSIAN, wanted).member_name("a/7", ending) == f"a/7.{name}"
    settings = CopySettings(GAUSSIAN, wanted, keep_originals=True)
    assert settings.member_name("a/7", ending) == f"a/7-gaussian.{name}"


def test_truncated_files_are_recognized(tmp_path) -> None:  # type: ignore[no-untyped-def]
    import numpy as np

    image = np.zeros((9, 9, 3), np.uint8)
    for name in ("a.jpg", "a.png"):
        content = encode(image, format_of(name, "keep"), 90)
        (tmp_path / name).write_bytes(content)
        assert is_whole(tmp_path / name)
        for length in (0, 1, len(content) // 2, len(content) - 1):
            (tmp_path / name).write_bytes(content[:length])
            assert not is_whole(tmp_path / name), (name, length)
        (tmp_path / name).write_bytes(content[:-100] + bytes(100))
        assert not is_whole(tmp_path / name)
    assert not is_whole(tmp_path / "absent.png")
