"""What all pages share: one HTML file with its style and scripts, and a policy that admits no more.

The template `shell.html.j2` has the head, the bar and the scripts; a page extends it.
"""

import base64
import hashlib
import html
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from unshortcut.report import formats
from unshortcut.report.figures import figure_json
from unshortcut.result import commit, package_version, public_name

ENVIRONMENT = Environment(
    loader=PackageLoader("unshortcut.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_FORMATS = (
    "breakable", "cell", "change_interval", "change_of", "duration", "interval_of", "listed",
    "number", "prose", "sentence", "shortened", "sort_key", "value_of", "without_folders",
)  # fmt: skip
ENVIRONMENT.filters |= {name: getattr(formats, name) for name in _FORMATS}
ENVIRONMENT.filters |= {"figure_json": figure_json, "public_name": public_name}
ENVIRONMENT.filters["kind"] = lambda exhibit: type(exhibit).__name__

_FRAME_HEIGHT = 640
"""Pixels of a page in a notebook."""


def render_page(template: str, *, plots: bool, **values: Any) -> str:
    """Render a template that extends the shell; the same values and version give the same page.

    Args:
        plots: whether the page has plots, for which it needs Plotly.
    """
    # The first script runs before anything is drawn.
    texts = [_file(name) for name in ("theme.js", "tables.js", "pictures.js", "page.js")]
    if plots:
        texts += [get_plotlyjs(), _file("plots.js")]
    page = ENVIRONMENT.get_template(template).render(
        version=package_version(),
        commit=commit(),
        style=Markup(_file("style.css")),
        scripts=[Markup(text) for text in texts],
        policy=_policy(texts),
        **values,
    )
    # File names that are not valid Unicode contain surrogates, which cannot be written.
    return page.encode("utf-8", "backslashreplace").decode()


def notebook_frame(page: str, title: str) -> str:
    """A page in a frame, which keeps its styles and scripts and those of a notebook apart."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" '
        f'title="{html.escape(title)}" style="width: 100%; height: {_FRAME_HEIGHT}px; border: 0">'
        "</iframe>"
    )


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
