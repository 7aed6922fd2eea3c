"""The Jinja environment of the page; text is escaped by default."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from unshortcut.report import formats
from unshortcut.report.figures import figure_json
from unshortcut.result import public_name

ENVIRONMENT = Environment(
    loader=PackageLoader("unshortcut.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_FORMATS = (
    "breakable", "cell", "duration", "interval_of", "listed", "number", "prose", "shortened",
    "sort_key", "value_of", "without_folders",
)  # fmt: skip
ENVIRONMENT.filters |= {name: getattr(formats, name) for name in _FORMATS}
ENVIRONMENT.filters |= {"figure_json": figure_json, "public_name": public_name}
ENVIRONMENT.filters["kind"] = lambda exhibit: type(exhibit).__name__
