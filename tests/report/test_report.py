"""The report in Python: a file, a notebook, a terminal."""

import html
import io
import json
import re
from pathlib import Path

from rich.console import Console

from tests.report.example import COLOR_NOTE, GOOD, HOSTILE, findings
from tests.report.parsed import parsed
from unshortcut.report.report import Report

SMALL = Report(findings(only=("shape_bias", "saliency")))


def test_the_page_is_written_whole(tmp_path: Path) -> None:
    SMALL.write(tmp_path / "report.html")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == SMALL.html()


def test_metrics_are_plain_values() -> None:
    metrics = json.loads(json.dumps(SMALL.to_dict(), allow_nan=False))
    assert metrics["models"][GOOD]["metrics"]["shape_bias"]["value"] == 0.24


def test_a_notebook_shows_the_page_in_a_frame_of_its_own() -> None:
    (frame,) = parsed(SMALL._repr_html_())
    assert frame.tag == "iframe"
    assert "allow-same-origin" not in frame.attributes["sandbox"]
    assert html.unescape(frame.attributes["srcdoc"]) == html.unescape(SMALL.html())


def test_a_terminal_shows_verdicts_numbers_and_what_is_missing() -> None:
    text = str(Report(findings(models=(GOOD, "b"))))
    assert text.startswith(f"{GOOD} decides by texture in 76 % of conflicts, and loses 41 points")
    assert re.search(r"Shape bias +24.0\s% \[1\] +61.0\s%", text)
    assert re.search(r"21.0 to 27.0 +58.0 to 64.0", text)
    assert f"[2] {COLOR_NOTE}" in text
    assert f"saliency ({GOOD}): not applicable: an ONNX file has no gradients" in text


def test_names_are_no_markup_and_no_commands_in_a_terminal() -> None:
    names = ("[bold red]a[/]", "b\x1b[2J\x07", *HOSTILE[:1])
    console = Console(file=io.StringIO(), width=300, force_terminal=True)
    with console.capture() as capture:
        console.print(Report(findings(models=names)))
    text = capture.get()
    assert "[bold red]a[/]" in text
    assert "\x1b[2J" not in text
    assert "\x07" not in text
    assert "b�[2J�" in text
    assert HOSTILE[0] in text
