"""Results come back from JSON as they were, and pictures stay out of what programs read."""

import math
from dataclasses import dataclass

import pytest

from unshortcut.auditing.result_cache import from_json, plain_values, recall, remember, to_json
from unshortcut.measuring.exhibits import Picture


@dataclass(frozen=True)
class Inner:
    values: tuple[float, ...]
    shown: Picture


@dataclass(frozen=True)
class Outer:
    name: str
    parts: dict[str, Inner]
    pictures: tuple[Picture, ...]
    nothing: float


RESULT = Outer("<b>", {"a": Inner((1.0, 0.25), Picture("data:x"))}, (Picture("data:y"),), math.nan)


def test_a_result_comes_back_with_its_types() -> None:
    again = from_json(Outer, to_json(RESULT))
    assert again.parts == RESULT.parts
    assert isinstance(again.parts["a"].shown, Picture)
    assert math.isnan(again.nothing)


def test_programs_get_null_for_nan_and_no_pictures() -> None:
    assert plain_values(RESULT) == {
        "name": "<b>",
        "parts": {"a": {"values": [1.0, 0.25]}},
        "pictures": [],
        "nothing": None,
    }


def test_a_kept_result_is_recalled_and_a_damaged_or_foreign_one_is_not(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path))
    assert recall(Outer, "key") is None
    remember("key", RESULT, 1.5)
    found = recall(Outer, "key")
    assert found is not None
    assert found[1] == 1.5
    assert recall(Inner, "key") is None
    (path,) = (tmp_path / "audit").glob("*.json")
    path.write_bytes(path.read_bytes()[:-5])
    assert recall(Outer, "key") is None
