"""Numbers as text."""

import math

import numpy as np
import pytest

from unshortcut.measurements.measurement import Metric
from unshortcut.measuring.exhibits import Cell, Column
from unshortcut.report.formats import (
    breakable,
    cell,
    duration,
    interval_of,
    listed,
    prose,
    shortened,
    sort_key,
    value_of,
    without_folders,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("value", "column", "text"),
    [
        (0.76249, Column("a", percent=True), "76.2 %"),
        (0.76249, Column("a", percent=True, digits=0), "76 %"),
        (1, Column("a", percent=True), "100.0 %"),
        (0.76249, Column("a"), "0.762"),
        (-0.00001, Column("a"), "0.000"),
        (-0.5, Column("a", digits=1), "−0.5"),
        (12345, Column("a"), "12,345"),
        (np.int64(12345), Column("a"), "12,345"),
        (math.inf, Column("a"), "∞"),
        (None, Column("a"), "–"),
        (NAN, Column("a"), "–"),
        ("<b>", Column("a"), "<b>"),
    ],
)
def test_cells(value: Cell, column: Column, text: str) -> None:
    assert cell(value, column).replace("\N{NO-BREAK SPACE}", " ") == text


def test_numbers_sort_by_their_exact_value_and_nothing_else_does() -> None:
    assert [sort_key(one) for one in (0.123456, 3, np.float32(0.5))] == [0.123456, 3.0, 0.5]
    assert [sort_key(one) for one in ("4", None, NAN)] == [None, None, None]


def test_metrics_have_digits_for_their_size() -> None:
    assert value_of(Metric("a", 0.1234)) == "12.3\N{NO-BREAK SPACE}%"
    assert value_of(Metric("a", 0.1234, percent=False)) == "0.123"
    assert value_of(Metric("a", 76.74, percent=False)) == "76.7"
    assert value_of(Metric("a", NAN)) == "–"


def test_intervals_have_the_digits_of_their_value() -> None:
    assert interval_of(Metric("a", 0.5, 0.25, 0.75)) == "25.0 to 75.0"
    assert interval_of(Metric("a", 9.5, 8.0, 11.0, percent=False)) == "8.0 to 11.0"
    assert interval_of(Metric("a", 0.5)) == ""
    assert interval_of(Metric("a", NAN, NAN, NAN)) == ""


def test_durations() -> None:
    seconds = (0.04, 9.94, 9.96, 59.7, 200)
    assert [duration(one) for one in seconds] == [
        "0.0 s",
        "9.9 s",
        "10 s",
        "1 min 0 s",
        "3 min 20 s",
    ]


def test_lists_of_names() -> None:
    lists = [["a"], ["a", "b"], ["a", "b", "c"]]
    assert [listed(one) for one in lists] == ["a", "a and b", "a, b and c"]


def test_a_number_stays_with_its_percent_sign() -> None:
    assert prose("in 76 % of conflicts") == "in 76\N{NO-BREAK SPACE}% of conflicts"


def test_long_names_keep_both_ends() -> None:
    assert shortened("abcdefghij", 5) == "ab…ij"
    assert shortened("abcde", 5) == "abcde"


def test_lines_may_break_within_file_names_and_names_stay_text() -> None:
    assert breakable("n01/ILSVRC_val_1.JPEG") == "n01/<wbr>ILSVRC_<wbr>val_<wbr>1.JPEG"
    assert breakable("timm:vit@random 1: 2") == "timm:<wbr>vit@<wbr>random 1: 2"
    assert breakable("a / b, <b>/x") == "a / b, &lt;b&gt;/<wbr>x"


def test_image_files_lose_their_folders_and_other_words_keep_their_slashes() -> None:
    assert without_folders("val/n01/ILSVRC_1.JPEG: was 'a/b'") == "ILSVRC_1.JPEG: was 'a/b'"
    assert without_folders("either/or") == "either/or"
