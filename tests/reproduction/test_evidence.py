"""The evidence page: every claim with its word, from stored results, or not decided."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.report.parsed import Element, parsed
from tests.reproduction.registered import EarlierClaim, RegisteredClaim
from tests.reproduction.small import SmallClaim
from unshortcut.errors import UsageError
from unshortcut.reproduction import evidence as module
from unshortcut.reproduction.effects import difference
from unshortcut.reproduction.evidence import read_evidence, read_values, write_evidence
from unshortcut.reproduction.evidence_pages import html_page, markdown_page

CLAIMS = [RegisteredClaim(), EarlierClaim()]
BASE, PATCHES = [70.0, 71.0, 70.0], [80.0, 81.1, 80.0]


def stored(seeds: int = 3, **changed: Any) -> dict[str, Any]:
    """A result of the registered claim as `reproduce` writes it."""
    metrics = {"alpha=0": BASE[:seeds], "alpha=2": PATCHES[:seeds]}
    by_seed = {label: [{"test": one} for one in values] for label, values in metrics.items()}
    paper = {"alpha=0": {"test": 70.0}, "alpha=2": {"test": 72.0}}
    found = difference("test", "alpha=2", "alpha=0", 1).find(by_seed, paper).to_dict()
    return {
        "command": "unshortcut reproduce registered --scale laptop",
        "claim": "registered",
        "scale": "laptop",
        "seeds": list(range(seeds)),
        "registered": seeds == 3,
        "variants": {
            label: {
                "trainings": [f"{label}{seed}" for seed in range(seeds)],
                "seconds": [1800.0] * seeds,
                "metrics": values,
            }
            for label, values in by_seed.items()
        },
        "primary": found,
        "effects": [found],
        "notes": ["A note."],
        **changed,
    }


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "registered.json").write_text(json.dumps(stored()))
    return tmp_path


def test_a_claim_has_the_word_of_its_result_and_one_without_is_not_decided(results: Path) -> None:
    without, decided = read_evidence(results, CLAIMS)
    assert (decided.claim.name, decided.word, decided.hours) == ("registered", "appears", 3.0)
    assert decided.paper == 2.0 and decided.arms == {"alpha=0": BASE, "alpha=2": PATCHES}
    assert (without.claim.name, without.word, without.seeds) == ("earlier", "not decided", 0)
    assert without.hours is None and without.paper == 2.0 and without.arms == {}


def test_fewer_seeds_than_registered_decide_nothing(results: Path) -> None:
    (results / "registered.json").unlink()
    (results / "registered-laptop").mkdir()
    path = results / "registered-laptop" / "result.json"
    path.write_text(json.dumps(stored(seeds=2)))
    _, part = read_evidence(results, CLAIMS)
    assert part.primary is not None and part.primary["verdict"] == "appears"
    assert (part.word, part.seeds) == ("not decided", 2)


def test_the_markdown_page_has_a_row_per_claim_with_numbers_and_command(results: Path) -> None:
    lines = markdown_page(read_evidence(results, CLAIMS), "pictures/evidence").splitlines()
    rows = [line for line in lines if line.startswith(("| `earlier`", "| [`registered`]"))]
    earlier, registered = ([cell.strip() for cell in row.split("|")[1:-1]] for row in rows)
    assert registered[1:8] == [
        "test, alpha=2 - alpha=0", "+2.00", "+10.03", "+9.89 to +10.18", "3 of 3", "3.0",
        "**appears**",
    ]  # fmt: skip
    assert registered[8] == "![registered](pictures/evidence/registered.png)"
    assert earlier[2:9] == ["+2.00", "–", "–", "0 of 2", "–", "**not decided**", ""]
    assert earlier[9] == "`unshortcut reproduce earlier --scale laptop --jobs 2`"
    assert "A note." in lines and any("1 of 2" in line for line in lines)


def test_the_html_page_is_self_contained_and_has_a_plot_of_the_seeds(results: Path) -> None:
    page = html_page(read_evidence(results, CLAIMS))
    elements: list[Element] = parsed(page)
    titles = [one.text for one in elements if one.tag == "h2"]
    assert titles == ["earlier: not decided", "registered: appears"]
    assert not [one for one in elements if one.attributes.get("src", "").startswith("http")]
    (figure,) = [
        json.loads(one.text)
        for one in elements
        if one.tag == "script" and one.attributes.get("type") == "application/json"
    ]
    seeds, mean = figure["data"]
    assert seeds["x"] == pytest.approx([10.0, 10.1, 10.0])
    low = mean["x"][0] - mean["error_x"]["arrayminus"][0]
    assert low == pytest.approx(stored()["primary"]["interval"][0])


def test_a_claim_without_registration_shows_its_values_and_no_word(tmp_path: Path) -> None:
    seeds = [{"test": 60.0, "corrupted": 1.0}, {"test": 63.5}]
    record = {
        "command": "unshortcut reproduce small --seeds 2", "claim": "small", "scale": "small",
        "variants": {"alpha=0": {"metrics": seeds, "seconds": [600, None]}},
        "notes": ["A remark."], "data": "shapes",
    }  # fmt: skip
    (tmp_path / "small.json").write_text(json.dumps(record))
    other = {**record, "data": "photos", "variants": {"a": {"metrics": seeds, "seconds": [None]}}}
    (tmp_path / "small-photos.json").write_text(json.dumps(other))
    found = read_values(tmp_path, [SmallClaim(), RegisteredClaim()])
    page = markdown_page([], "pictures", found).splitlines()
    assert "| variant | test | minutes |" in page
    assert "| alpha=0 | 61.8 (60.0, 63.5) | 10 |" in page
    assert "| a | 61.8 (60.0, 63.5) | – |" in page and "### small on photos" in page
    assert "A remark." in page and "`unshortcut reproduce small --seeds 2`" in page
    titles = [one.text for one in parsed(html_page([], found)) if one.tag == "h2"]
    assert titles == [f"small on {data}: values without a verdict" for data in ("shapes", "photos")]
    (tmp_path / "small.json").write_text(json.dumps({**record, "claim": "registered"}))
    with pytest.raises(UsageError, match="is a result of registered, not of small"):
        read_values(tmp_path, [SmallClaim()])


def test_pictures_lie_beside_the_page(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "registered_claims", lambda claims: CLAIMS)
    written = write_evidence(results, results / "docs" / "evidence.md")
    names = [str(path.relative_to(results)) for path in written]
    assert names == ["docs/evidence.md", "docs/pictures/evidence/registered.png"]
    assert written[1].read_bytes().startswith(b"\x89PNG")
    (page,) = write_evidence(results, results / "evidence.html")
    assert page.read_text().startswith("<!doctype html>")
    with pytest.raises(UsageError, match=r"must end in \.md or \.html, not 'evidence\.pdf'"):
        write_evidence(results, results / "evidence.pdf")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no JSON", "is not a result of unshortcut reproduce"),
        ("{}", "is not a result of unshortcut reproduce"),
        (json.dumps(stored(scale="small")), "at the small scale, not of registered at the laptop"),
        (json.dumps(stored(claim="earlier")), "is a result of earlier"),
    ],
)
def test_what_is_not_a_result_of_the_claim_is_refused(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "registered.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        read_evidence(tmp_path, CLAIMS)
