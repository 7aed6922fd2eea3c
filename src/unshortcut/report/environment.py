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
ENVIRONMENT.filters |= {
    "breakable": formats.breakable,
    "cell": formats.cell,
    "duration": formats.duration,
    "figure_json": figure_json,
    "interval_of": formats.interval_of,
    "kind": lambda exhibit: type(exhibit).__name__,
    "listed": formats.listed,
    "number": formats.number,
    "prose": formats.prose,
    "public_name": public_name,
    "shortened": formats.shortened,
    "sort_key": formats.sort_key,
    "value_of": formats.value_of,
    "without_folders": formats.without_folders,
}
