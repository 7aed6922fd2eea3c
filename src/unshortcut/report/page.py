"""The page of an audit: one HTML file that needs neither a server nor the network."""

from unshortcut.auditing.findings import Findings, Verdict
from unshortcut.report import glance as at_glance
from unshortcut.report.comparison import notes_of
from unshortcut.report.sections import exhibits_html, public_command, section
from unshortcut.report.shell import render_page

_GRAVE, _NOTABLE = 0.67, 0.34
"""Weights from which a verdict is emphasized."""


def render(findings: Findings) -> str:
    """Render the page; the same findings and version give the same page."""
    sections = [section(findings, name) for name in findings.measurements]
    every = tuple(row for one in sections for row in one.rows)
    rows = tuple(row for row in every if row.headline)
    top = at_glance.glance(findings)
    return render_page(
        "page.html.j2",
        plots=any(one.has_plots for one in sections),
        findings=findings,
        verdicts=[_verdict(findings, model) for model in findings.models],
        sections=sections,
        rows=rows,
        notes=notes_of((*rows, *every)),
        glance=top,
        telling=exhibits_html((top.pictures,) if top.pictures else (), findings.models),
        head=at_glance.HEAD,
        row_height=at_glance.ROW,
        line=at_glance.LINE,
        command=public_command(findings.command),
        grave=_GRAVE,
        notable=_NOTABLE,
    )


def _verdict(findings: Findings, model: str) -> Verdict:
    try:
        return findings.verdict(model)
    except Exception as error:  # a user's measurement may raise anything
        return Verdict(model, f"has no verdict: {type(error).__name__}: {error}", 0.0)
