"""What all pages share: one HTML file with its style and scripts, and a policy that admits no more.

The template `shell.html.j2` has the head, the bar and the scripts; a page extends it.
"""

import base64
import hashlib
import html
import re
import string
import zlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from unshortcut.report import formats, tables
from unshortcut.report.figures import figure_json
from unshortcut.result import commit, package_version, public_name

ENVIRONMENT = Environment(
    loader=PackageLoader("unshortcut.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=["jinja2.ext.loopcontrols"],
)
_FORMATS = (
    "breakable", "change_interval", "change_of", "duration", "interval_of", "listed", "number",
    "prose", "sentence", "share", "shortened", "value_of", "without_folders",
)  # fmt: skip
ENVIRONMENT.filters |= {name: getattr(formats, name) for name in _FORMATS}
ENVIRONMENT.filters |= {"columns_of": tables.columns_of, "rows_of": tables.rows_of}
ENVIRONMENT.filters |= {"figure_json": figure_json, "public_name": public_name}
ENVIRONMENT.filters["kind"] = lambda exhibit: type(exhibit).__name__

_PICTURE = re.compile(r'(?<=<img )src="(data:image/[a-z]+;base64,[A-Za-z0-9+/=]+)"')
_FRAME_HEIGHT = 640
"""Pixels of a page in a notebook."""


def render_page(
    template: str,
    *,
    plots: bool,
    scripts: Sequence[str] = ("tables.js", "pictures.js", "page.js"),
    styles: Sequence[str] = (),
    **values: Any,
) -> str:
    """Render a template that extends the shell; the same values and version give the same page.

    Args:
        plots: whether the page has plots, for which it needs Plotly.
        scripts: files of scripts, beside the one that chooses between light and dark.
        styles: files of styles, beside the one that all pages share.
    """
    # The first script runs before anything is drawn.
    texts = [_file(name) for name in ("theme.js", *scripts)]
    texts += [_file("plots.js")] if plots else []
    page = ENVIRONMENT.get_template(template).render(
        version=package_version(),
        commit=commit(),
        style=Markup("\n".join(_file(name) for name in ("style.css", *styles))),
        scripts=[Markup(text) for text in texts],
        packed=_packed_plotly() if plots else "",
        policy=_policy([*texts, *([get_plotlyjs()] if plots else [])]),
        **values,
    )
    if "pictures.js" in scripts:
        page = _each_picture_once(page)
    # File names that are not valid Unicode contain surrogates, which cannot be written.
    return page.encode("utf-8", "backslashreplace").decode()


DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase + "!#$%()*+,-./:;=?@[]^_{|"
"""Digits of base 85, none of which means anything in HTML; `plots.js` has the same."""

_PYTHONS = (
    string.digits + string.ascii_uppercase + string.ascii_lowercase + "!#$%&()*+-;<=>?@^_`{|}~"
)
"""The digits of `base64.b85encode`."""


@cache
def _packed_plotly() -> str:
    """Plotly, compressed to two fifths of its size; `plots.js` unpacks it before the first plot.

    In base 85, which is a sixteenth shorter than base 64. The first digit is the number of zeros
    that fill the last four bytes; a browser refuses anything after what is compressed.
    """
    packed = zlib.compress(get_plotlyjs().encode(), 9)
    zeros = -len(packed) % 4
    digits = base64.b85encode(packed + bytes(zeros)).decode()
    return f"{zeros}{digits.translate(str.maketrans(_PYTHONS, DIGITS))}"


def _each_picture_once(page: str) -> str:
    """Replace a picture that was there before by a reference, which `pictures.js` resolves."""
    seen: dict[str, int] = {}

    def once(found: re.Match[str]) -> str:
        source = found[1]
        if source in seen:
            return f'data-same="{seen[source]}"'
        seen[source] = len(seen)
        return f'id="picture-{seen[source]}" src="{source}"'

    return _PICTURE.sub(once, page)


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
