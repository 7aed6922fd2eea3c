"""The page of an audit: one HTML file that needs neither a server nor the network."""

import base64
import hashlib
from importlib.resources import files

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from unshortcut.auditing.findings import Findings, Verdict
from unshortcut.report.comparison import notes_of
from unshortcut.report.sections import ENVIRONMENT, public_command, section
from unshortcut.result import commit, package_version

_GRAVE, _NOTABLE = 0.67, 0.34
"""Weights from which a verdict is emphasized."""


def render(findings: Findings) -> str:
    """Render the page; the same findings and version give the same page."""
    sections = [section(findings, name) for name in findings.measurements]
    rows = tuple(row for one in sections for row in one.rows if row.headline)
    # The first script runs before anything is drawn.
    texts = [_file(name) for name in ("theme.js", "tables.js", "pictures.js", "page.js")]
    if any(one.has_plots for one in sections):
        texts += [get_plotlyjs(), _file("plots.js")]
    page = ENVIRONMENT.get_template("page.html.j2").render(
        findings=findings,
        verdicts=[_verdict(findings, model) for model in findings.models],
        sections=sections,
        rows=rows,
        notes=notes_of(rows),
        command=public_command(findings.command),
        version=package_version(),
        commit=commit(),
        style=Markup(_file("style.css")),
        scripts=[Markup(text) for text in texts],
        policy=_policy(texts),
        grave=_GRAVE,
        notable=_NOTABLE,
    )
    # File names that are not valid Unicode contain surrogates, which cannot be written.
    return page.encode("utf-8", "backslashreplace").decode()


def _policy(scripts: list[str]) -> str:
    """The content security policy: no network requests, and no scripts but these."""
    digests = (hashlib.sha256(text.encode()).digest() for text in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
        f"script-src {hashes}; base-uri 'none'; form-action 'none'"
    )


def _file(name: str) -> str:
    return (files("unshortcut.report") / "templates" / name).read_text(encoding="utf-8")


def _verdict(findings: Findings, model: str) -> Verdict:
    try:
        return findings.verdict(model)
    except Exception as error:  # a user's measurement may raise anything
        return Verdict(model, f"has no verdict: {type(error).__name__}: {error}", 0.0)
