"""The page of a map as text: complete, safe, small enough, and the same every time."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.report.maps import CLASSES, COUNT, example_map
from tests.report.parsed import parsed
from unshortcut.report.thumbnails import BUDGET, Thumbnails


def test_the_page_has_the_points_the_neighbors_and_the_names() -> None:
    drawn = example_map()
    elements = parsed(drawn.html())
    (content,) = (one for one in elements if one.attributes.get("id") == "content")
    found = json.loads(content.text)
    assert found["names"] == list(drawn.identities)
    assert found["classes"] == list(CLASSES)
    assert found["neighbors"][0] == drawn.neighbors[0].tolist()
    np.testing.assert_allclose(found["cosines"], drawn.cosines, atol=5.1e-4)
    np.testing.assert_allclose(
        np.array(found["positions"]) / found["steps"], drawn.positions, atol=1e-4
    )
    sheets = [one for one in elements if "sheet" in one.classes]
    assert tuple(one.attributes["src"] for one in sheets) == drawn.thumbnails.sheets


def test_only_its_own_scripts_run_and_nothing_is_fetched() -> None:
    elements = parsed(example_map().html())
    (policy,) = (
        one.attributes["content"]
        for one in elements
        if one.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'") and "'unsafe-inline'; script-src 'sha" in policy
    scripts = [one for one in elements if one.tag == "script" and "type" not in one.attributes]
    assert len(scripts) == 3
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    sources = [
        one.attributes[key] for one in elements for key in ("src", "href") if key in one.attributes
    ]
    assert all(one.startswith(("data:", "#")) for one in sources)
    assert not any(key.startswith("on") for one in elements for key in one.attributes)


def test_a_subset_is_told_and_all_images_are_not() -> None:
    assert "Images that the model finds similar" in example_map().html()
    assert example_map().chosen is None
    some = example_map(total=1234)
    how = "chosen at random, in proportion to the classes (seed 0)."
    assert some.chosen == f"The map shows 120 of 1,234 images, {how}"
    assert some.chosen in some.html()
    unlabeled = example_map(labeled=False, total=1234)
    assert "chosen at random (seed 0)" in unlabeled.html()
    assert 'class="classes"' not in unlabeled.html()


def test_5000_images_are_less_than_10_mb() -> None:
    """Thumbnails take at most their budget; the rest is names, places and neighbors."""
    drawn = example_map(count=5000, total=5000)
    names = tuple(f"train/n02102040/{number:0>60}.jpg" for number in range(5000))
    neighbors = np.full((5000, 8), 4999)
    sheets = Thumbnails(("A" * BUDGET,), 64)
    large = replace(
        drawn, identities=names, neighbors=neighbors, cosines=neighbors / 5001, thumbnails=sheets
    )
    assert BUDGET < len(large.html().encode()) < 10_000_000


def test_the_same_map_is_the_same_file_without_private_folders(tmp_path: Path) -> None:
    drawn = replace(example_map(), model="/home/me/runs/a", data="/home/me/photos")
    for name in ("a", "b"):
        drawn.write(tmp_path / "deep" / f"{name}.html")
    first, second = (path.read_bytes() for path in sorted((tmp_path / "deep").iterdir()))
    assert first == second
    assert b"/home/me" not in first and b"photos" in first
    assert re.search("<iframe srcdoc=", drawn._repr_html_())


def test_names_that_are_not_unicode_are_shown() -> None:
    drawn = replace(example_map(), identities=("a\udcff.jpg",) * COUNT)
    assert r"a\\udcff.jpg" in drawn.html()
