"""The plot of a reproduction: numbers are joined by lines, names are not."""

import pytest
from matplotlib.figure import Figure

from unshortcut.reproduction.plot import _draw, _Point, _positions


@pytest.mark.parametrize(
    ("names", "style"), [(("0", "2", "3"), "-"), (("simclr", "mae", "can"), "None")]
)
def test_only_numbers_are_joined_by_a_line(names: tuple[str, ...], style: str) -> None:
    axis = Figure().add_subplot()
    points = [_Point(name, 50.0 + place, 1.0) for place, name in enumerate(names)]
    _draw(axis, "linear", {"": points}, "x", True)
    line = axis.containers[0].lines[0]
    assert line.get_linestyle() == style and line.get_marker() == "o"
    assert line.get_ydata().tolist() == [50, 51, 52]
    assert [label.get_text() for label in axis.get_xticklabels()] == list(names)


def test_numbers_keep_their_distances_and_names_are_spread_evenly() -> None:
    assert _positions(["0", "3", "2"]) == {"0": 0, "3": 3, "2": 2}
    assert _positions(["256", "1024"]) == {"256": 8, "1024": 10}
    assert _positions(["b", "a", "b"]) == {"b": 0, "a": 1}
