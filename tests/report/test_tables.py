"""Tables of the page: intervals stand below their values and need no columns."""

from unshortcut.measuring.exhibits import Column, Table
from unshortcut.report.tables import columns_of, rows_of


def test_an_estimate_is_one_cell_with_its_interval() -> None:
    columns = (Column("Class"), *Column.estimate("Bias", percent=True), Column("Images"))
    table = Table("", columns, [("cat", 0.25, 0.2, 0.3, 7), ("dog", None, None, None, 0)])
    assert [column.title for column in columns_of(table)] == ["Class", "Bias", "Images"]
    (name, bias, count), (_, nothing, _) = rows_of(table)
    assert (name.text, name.number, name.key) == ("cat", False, "")
    assert (bias.text, bias.interval, bias.key) == (
        "25.0\N{NO-BREAK SPACE}%", "20.0 to 30.0", "0.25",
    )  # fmt: skip
    assert (count.text, count.interval) == ("7", "")
    assert (nothing.text, nothing.interval, nothing.key) == ("–", "", "")
