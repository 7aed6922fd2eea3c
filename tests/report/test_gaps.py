"""What was not measured, and why."""

from unshortcut.auditing.findings import Entry
from unshortcut.report.comparison import Gap, gaps

NONE, BROKEN = Entry("not applicable", reason="no labels"), Entry("failed", reason="no labels")


def test_models_with_the_same_reason_are_named_together() -> None:
    found = gaps({"a": NONE, "b": Entry("done", 1), "c": BROKEN, "d": NONE})
    assert found == (
        Gap("not applicable", "no labels", ("a", "d")),
        Gap("failed", "no labels", ("c",)),
    )


def test_a_reason_of_all_models_names_none() -> None:
    assert gaps({"a": NONE, "b": NONE}) == (Gap("not applicable", "no labels", ()),)
    assert gaps({}) == ()
