"""Hierarchies and lists of class names, good and bad."""

from pathlib import Path

import pytest

from unshortcut.data.class_files import read_class_names, read_hierarchy
from unshortcut.errors import UsageError


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_line_gives_a_fine_class_its_coarse_one(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "kinds.csv"
    lines = ["# fine and coarse", "beagle,dog", "pug,dog", "", "tabby,cat"]
    path.write_text("\n".join(lines).replace(",", separator), encoding="utf-8")
    assert read_hierarchy(path) == {"beagle": "dog", "pug": "dog", "tabby": "cat"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("beagle,dog\nbeagle,cat", "'beagle' twice, under 'dog' and under 'cat'"),
        ("beagle", "line 1: expected two columns"),
        ("", "no line with two columns"),
        (b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_a_bad_file_is_told(tmp_path: Path, content: str | bytes, said: str) -> None:
    path = tmp_path / "kinds.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError, match=said):
        read_hierarchy(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_hierarchy(tmp_path / "none.csv")


def test_a_list_of_classes_has_one_name_per_line(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_text("cat\n\n  wild dog \n", encoding="utf-8")
    assert read_class_names(path) == ("cat", "wild dog")


def test_wordnet_is_a_hierarchy_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_hierarchy("wordnet:dog, bird")["n02088364"] == "dog"
    assert len(read_hierarchy("wordnet")) == 1000
    (tmp_path / "wordnet").write_text("beagle,dog\n")
    assert read_hierarchy("wordnet") == {"beagle": "dog"}  # a file of that name is a file
