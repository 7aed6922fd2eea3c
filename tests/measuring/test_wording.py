"""Shares and names within a sentence."""

from unshortcut.measuring.wording import percent, some


def test_a_share_in_words() -> None:
    assert percent(0.314) == "31 %"
    assert percent(0.314, 1) == "31.4 %"


def test_only_some_of_many_names_are_said() -> None:
    assert some(["a", "b", "c"]) == "a, b, c"
    assert some(["a", "b", "c", "d"]) == "a, b, c, …"
    assert some(["a", "b"], 1) == "a, …"
