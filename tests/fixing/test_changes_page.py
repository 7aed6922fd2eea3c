"""The page of what a fix changed has the numbers of both heads, worst and best changes in order."""

from pathlib import Path

import numpy as np

from tests.report.parsed import parsed
from unshortcut.fixing.changes_page import write_changes
from unshortcut.fixing.outcome import Outcome
from unshortcut.fixing.samples import CellAccuracies
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.linear_head import Head

NAMES = ("cat", "dog <i>, tag", "dog <i>, without")
CELLS = np.repeat([0, 1, 2], [40, 30, 10])


def accuracies(*hits: int) -> CellAccuracies:
    """So many of the 40, 30 and 10 images of the three groups are right."""
    parts = [np.arange(count) < hit for count, hit in zip((40, 30, 10), hits, strict=True)]
    return CellAccuracies(np.concatenate(parts), CELLS, NAMES)


def test_groups_are_compared_before_and_after(tmp_path: Path) -> None:
    before, after = accuracies(30, 30, 1), accuracies(28, 27, 7)
    none = Estimate(0.6, 0.2, 0.9)
    head = Head(np.zeros((2, 2)), np.zeros(2))
    outcome = Outcome("fixed", "a refit", head, before, after, none, none, none)
    page = tmp_path / "changes.html"
    write_changes(page, outcome, before, after, command=["unshortcut", "fix", "a b"])
    html = page.read_text()
    (body,) = (one for one in parsed(html) if one.tag == "body")
    text = " ".join(body.text.split())
    assert "goes from 10.0 % to 70.0 %" in text and "from 76.2 % to 77.5 %" in text
    assert "dog <i>, without" in text and "dog <i>, without" not in html
    table = text[text.index("All groups") :]
    assert table.index("dog <i>, without") < table.index("cat") < table.index("dog <i>, tag")
    assert "60.0 %" in table and "unshortcut fix 'a b'" in text
