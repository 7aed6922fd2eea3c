"""Models side by side."""

from tests.report.example import COLOR_NOTE, GOOD, MODELS, findings
from unshortcut.measurements.measurement import Metric
from unshortcut.report.comparison import Row, headlines, notes_of, rows_of

NAN = float("nan")


def row(better: str | None, **values: float) -> Row:
    metrics = {name: Metric("a", value, better=better) for name, value in values.items()}  # type: ignore[arg-type]
    return Row("a", "b", metrics)


def test_the_best_is_the_highest_or_the_lowest_as_the_metric_says() -> None:
    assert row("higher", a=1, b=3, c=3).best == {"b", "c"}
    assert row("lower", a=1, b=3, c=NAN).best == {"a"}


def test_nothing_is_best_without_a_direction_or_a_difference() -> None:
    assert not row(None, a=1, b=3).best
    assert not row("higher", a=1).best
    assert not row("higher", a=1, b=NAN).best
    assert not row("higher", a=2, b=2).best


def test_only_headlines_are_compared_and_all_numbers_are_shown() -> None:
    assert [one.name for one in rows_of(findings(), "shape_bias")] == [
        "shape_bias", "shape_accuracy", "coverage",
    ]  # fmt: skip
    names = [one.name for one in headlines(findings())]
    assert names == ["shape_bias", "coverage", "mce", "broken"]


def test_notes_are_told_once_and_stand_at_the_row_where_all_share_them() -> None:
    rows = headlines(findings())
    assert notes_of(rows) == {"Of 812 decisions only.": 1, COLOR_NOTE: 2}
    shared = {one.name: one.shared_note for one in rows}
    assert shared["mce"] == COLOR_NOTE
    assert shared["shape_bias"] == ""
    assert rows[0].metrics[GOOD].note


def test_a_model_that_could_not_be_measured_has_no_number() -> None:
    assert list(headlines(findings())[0].metrics) == list(MODELS)
