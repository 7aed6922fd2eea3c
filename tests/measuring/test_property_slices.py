"""Weak slices by a property: the right one of many is proposed, and rarely one where none is."""

import numpy as np
import pytest
from scipy.stats import fisher_exact

from unshortcut.measuring.property_slices import find_property_slice
from unshortcut.measuring.slices import halves
from unshortcut.properties.columns import NO_JPEG, PROPERTIES, Column

COUNT = 300


def columns(rng: np.random.Generator) -> dict[str, Column]:
    """Eleven properties that say nothing."""
    names = [name for name, one in PROPERTIES.items() if one.kind == "content"]
    return {name: Column(PROPERTIES[name], rng.random(COUNT)) for name in names}


def test_the_property_and_the_bound_at_which_a_class_fails_are_found() -> None:
    rng = np.random.default_rng(0)
    given = columns(rng)
    right = (given["sharpness"].values > 0.2) | (rng.random(COUNT) < 0.1)
    given["sharpness"] = Column(PROPERTIES["sharpness"], 1000 * given["sharpness"].values)
    parts = halves(right)
    assert parts is not None
    found = find_property_slice(given, right, parts)
    assert found is not None
    condition, weak = found
    assert (condition.column.about.name, condition.relation) == ("sharpness", "at most")
    assert condition.value == pytest.approx(200, abs=25)
    assert str(condition) == f"Sharpness at most {condition.value:.0f}"
    assert weak.p < 1e-10 and set(weak.members) <= set(parts.deciding)
    values = given["sharpness"].values
    assert list(values[weak.members]) == sorted(values[weak.members])
    # by hand, on the deciding half alone
    inside = parts.deciding[values[parts.deciding] <= condition.value]
    outside = parts.deciding[values[parts.deciding] > condition.value]
    assert weak.inside == (right[inside].sum(), len(inside))
    table = [
        [(~right[inside]).sum(), right[inside].sum()],
        [(~right[outside]).sum(), right[outside].sum()],
    ]
    assert weak.p == pytest.approx(fisher_exact(table, alternative="greater").pvalue)


def test_many_properties_raise_no_more_false_alarms_than_one() -> None:
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        right = rng.random(COUNT) < 0.75
        parts = halves(right, seed=seed)
        assert parts is not None
        found = find_property_slice(columns(rng), right, parts)
        alarms += found is not None and found[1].p < 0.05
    assert alarms <= 10  # 5 are expected at most; the best of eleven would give about 40


def test_a_category_and_a_value_with_a_name_are_slices_of_their_own() -> None:
    rng = np.random.default_rng(1)
    format_names = {0.0: "GIF", 1.0: "JPEG", 2.0: "PNG"}
    formats = Column(PROPERTIES["format"], rng.integers(0, 3, COUNT).astype(float), format_names)
    right = (formats.values != 1) | (rng.random(COUNT) < 0.1)
    parts = halves(right)
    assert parts is not None
    found = find_property_slice({"format": formats}, right, parts)
    assert found is not None and str(found[0]) == "File format: JPEG" and found[1].p < 1e-10
    # files that are no JPEG fail: they have no quality, and are not those of the lowest quality
    quality = rng.integers(30, 95, COUNT).astype(float)
    quality[::4] = NO_JPEG
    right = (quality != NO_JPEG) | (rng.random(COUNT) < 0.1)
    given = Column(PROPERTIES["jpeg_quality"], quality, {NO_JPEG: "no JPEG"})
    parts = halves(right)
    assert parts is not None
    found = find_property_slice({"jpeg_quality": given}, right, parts)
    assert found is not None and str(found[0]) == "JPEG quality: no JPEG"
    assert (quality[found[1].members] == NO_JPEG).all()


def test_values_that_are_not_known_are_in_no_slice() -> None:
    rng = np.random.default_rng(2)
    values = rng.random(COUNT)
    right = values > 0.3
    values[::10] = np.nan
    parts = halves(right)
    assert parts is not None
    found = find_property_slice({"red": Column(PROPERTIES["red"], values)}, right, parts)
    assert found is not None
    assert not np.isnan(values[found[1].members]).any()
    assert found[1].inside[1] + found[1].outside[1] == len(parts.deciding)


def test_properties_that_do_not_vary_propose_nothing() -> None:
    right = np.arange(COUNT) % 3 > 0
    parts = halves(right)
    assert parts is not None
    same = {"width": Column(PROPERTIES["width"], np.full(COUNT, 64.0))}
    assert find_property_slice(same, right, parts) is None
    assert find_property_slice({}, right, parts) is None
