"""The page of an inspection: one HTML file that needs neither a server nor the network."""

from markupsafe import Markup

from unshortcut.inspection.findings import METRICS, Inspection
from unshortcut.inspection.sections import sections
from unshortcut.inspection.sentences import sentences
from unshortcut.measuring.exhibits import Plot
from unshortcut.measuring.plots import model_colors
from unshortcut.report.shell import ENVIRONMENT, render_page

_SERIES = ("Strength", "Same value for all", "Value of its own class")
"""Names of the bars in plots, in the order of their colors."""


def render_inspection(found: Inspection) -> str:
    """Render the page; the same findings and version give the same page."""
    parts = sections(found)
    template = ENVIRONMENT.get_template("exhibits.html.j2")
    colors = model_colors(_SERIES)
    return render_page(
        "inspection.html.j2",
        plots=any(isinstance(one, Plot) for part in parts for one in part.exhibits),
        found=found,
        sentences=sentences(found),
        metrics=[(METRICS[name], name, value) for name, value in found.metrics().items()],
        sections=[
            # The template escapes everything.
            (part, Markup(template.render(exhibits=part.exhibits, colors=colors)))
            for part in parts
        ],
    )
