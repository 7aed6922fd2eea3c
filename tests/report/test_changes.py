"""What has changed since a previous audit, on the page and in a terminal."""

from dataclasses import replace

import pytest

from tests.auditing.test_requirements import Share, findings
from tests.report.example import SCRIPT
from unshortcut.auditing.audit_files import parse_audit
from unshortcut.auditing.changes import Change
from unshortcut.auditing.findings import Entry, Findings
from unshortcut.auditing.previous import PreviousAudit
from unshortcut.measurements.measurement import Metric
from unshortcut.report.formats import change_interval, change_of, sentence
from unshortcut.report.report import Report

NAME = f"before {SCRIPT}.json"


@pytest.fixture(scope="module")
def found() -> Findings:
    """A share that has fallen from 0.9 to 0.4, with another seed."""
    now = findings(mine=Entry("done", Share(0.4)))
    then = now.to_dict()
    then["settings"]["seed"] = 7
    then["models"]["mine"]["metrics"]["half"] |= {"value": 0.9, "low": 0.85, "high": 0.95}
    return replace(now, previous=PreviousAudit(NAME, parse_audit(then)))


def test_the_page_has_both_values_the_difference_and_what_cannot_be_compared(
    found: Findings,
) -> None:
    page = Report(found).html()
    section = page[page.index('<section id="changes">') :]
    section = section[: section.index("</section>")]
    assert SCRIPT not in section and "before &lt;script&gt;" in section
    assert "not comparable" in section and "used the seed 7, and this one 0." in section
    for text in ("90.0\N{NO-BREAK SPACE}%", "40.0\N{NO-BREAK SPACE}%", "−50.0", "−61.2 to −38.8"):
        assert text in section, text
    assert '<span class="badge">lower</span>' in section
    assert 'id="changes"' not in Report(replace(found, previous=None)).html()


def test_a_terminal_has_the_same_table(found: Findings) -> None:
    text = str(Report(found))
    assert "Not comparable: the previous audit used the seed 7, and this one 0." in text
    for part in ("90.0", "40.0", "−50.0", "−61.2 to −38.8", "lower"):
        assert part in text
    assert "What has changed" not in str(Report(replace(found, previous=None)))


def test_differences_have_a_sign_and_the_digits_of_their_metric() -> None:
    rise = Change("m", Metric("M", 0.5), Metric("M", 0.625))
    assert (change_of(rise), change_interval(rise)) == ("+12.5", "")
    plain = Metric("M", 0.5, 0.4, 0.6, percent=False)
    none = Change("m", plain, plain)
    assert change_of(none) == "0.000"
    assert change_interval(none) == "−0.141 to +0.141"
    assert sentence("the data differ") == "The data differ."
