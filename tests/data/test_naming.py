"""Names of data that stand side by side."""

import numpy as np

from unshortcut.data.naming import by_short_name
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import Subset
from unshortcut.result import unique_names


def test_data_are_called_by_their_split_or_the_last_part_of_their_path() -> None:
    data = ["shapes@sketch", "/secret/cartoon", "art/v1.2", "/secret/paint.tar"]
    assert list(by_short_name(data)) == ["sketch", "cartoon", "v1.2", "paint"]


def test_short_names_that_repeat_become_full_ones_without_the_owners_folders() -> None:
    data = ["shapes@test", "pacs@test", "/secret/test"]
    found = by_short_name(data)
    assert found == dict(zip(["shapes@test", "pacs@test", "test"], data, strict=True))


def test_shapes_are_called_by_their_split() -> None:
    one, other = Shapes("test", count=8), Shapes("sketch", count=8)
    assert by_short_name([one, other]) == {"test": one, "sketch": other}


def test_a_number_tells_apart_what_nothing_else_does() -> None:
    parts = [Subset(Shapes("test", count=8), np.arange(start, 8)) for start in (0, 4)]
    assert by_short_name(parts) == {"Subset": parts[0], "Subset (2)": parts[1]}
    assert unique_names(["a (2)", "a", "a", "a"]) == ["a (2)", "a", "a (3)", "a (4)"]
