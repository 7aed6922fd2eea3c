"""The page `docs/evidence.md` is the one that the stored results give."""

from tests.docs.markdown import ROOT
from unshortcut.reproduction.evidence import read_evidence, read_values
from unshortcut.reproduction.evidence_pages import markdown_page

FOLDER = "benchmarks/results/evidence"


def test_the_page_is_up_to_date_and_has_its_pictures() -> None:
    evidence, values = read_evidence(ROOT / FOLDER), read_values(ROOT / FOLDER)
    written = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    command = f"unshortcut reproduce --evidence {FOLDER} --out docs/evidence.md"
    assert written == markdown_page(evidence, "pictures/evidence", values), f"run: {command}"
    pictures = ROOT / "docs" / "pictures" / "evidence"
    stored = {path.stem for path in pictures.glob("*.png")}
    assert stored == {one.claim.name for one in evidence if one.arms}, f"run: {command}"


def test_every_claim_has_its_row_and_command() -> None:
    lines = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8").splitlines()
    for one in read_evidence(ROOT / FOLDER):
        (row,) = (line for line in lines if line.startswith("|") and f"`{one.command}`" in line)
        assert one.claim.summary in row and f"**{one.word}**" in row
