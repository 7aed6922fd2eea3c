"""The sections of the page, one per measurement; an error in one does not affect the others."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from unshortcut.auditing.findings import Entry, Findings
from unshortcut.measurements.measurement import Measurement
from unshortcut.measuring.exhibits import MODEL, Exhibit, Note, Plot, Table
from unshortcut.measuring.plots import model_colors
from unshortcut.report.comparison import Gap, Row, gaps, rows_of
from unshortcut.report.shell import ENVIRONMENT
from unshortcut.result import public_name

_COMMAND = "unshortcut audit "


@dataclass(frozen=True)
class Section:
    """What the page shows about one measurement."""

    measurement: Measurement
    entries: dict[str, Entry]  # by model
    exhibits: Markup
    remarks: tuple[str, ...]
    """What helps to read the numbers correctly and is no warning."""
    rows: tuple[Row, ...]
    has_plots: bool
    failure: str
    """Why existing results cannot be shown; empty if they can."""
    command: str
    """The command that repeats this measurement; empty if none is known."""

    @property
    def measured(self) -> dict[str, Entry]:
        return {model: one for model, one in self.entries.items() if one.status == "done"}

    @property
    def gaps(self) -> tuple[Gap, ...]:
        return gaps(self.entries)

    @property
    def status(self) -> str:
        """`done`, `failed`, `not applicable`, `not measured`, or e.g. `2 of 3 models`."""
        if self.failure:
            return "failed"
        kinds = {one.status for one in self.entries.values()}
        if len(kinds) == 1:
            return str(kinds.pop())
        if not self.measured:
            return "failed" if kinds else "not measured"
        return f"{len(self.measured)} of {len(self.entries)} models"


def section(findings: Findings, name: str) -> Section:
    """Make the section of one measurement."""
    one, results = findings.measurements[name], findings.results(name)
    rows: tuple[Row, ...] = ()
    remarks: tuple[str, ...] = ()
    shown, has_plots, failure = Markup(""), False, ""
    if results:
        try:
            rows = rows_of(findings, name)
            exhibits = tuple(one.exhibits(results, findings.reference(name)))
            if len(findings.models) == 1:
                exhibits = tuple(_without_model(exhibit) for exhibit in exhibits)
            has_plots = any(isinstance(exhibit, Plot) for exhibit in exhibits)
            calm = [one for one in exhibits if isinstance(one, Note) and not one.warning]
            remarks = tuple(one.text for one in calm)
            shown = exhibits_html([one for one in exhibits if one not in calm], findings.models)
        except Exception as error:  # a user's measurement may raise anything
            rows, remarks, has_plots = (), (), False
            failure = f"{type(error).__name__}: {error}"
    command = command_for(findings.command, name)
    entries = dict(findings.entries[name])
    return Section(one, entries, shown, remarks, rows, has_plots, failure, command)


def exhibits_html(exhibits: Sequence[Exhibit], models: Iterable[str]) -> Markup:
    """Exhibits as HTML, in the colors of the models."""
    template = ENVIRONMENT.get_template("exhibits.html.j2")
    return Markup(  # escaped by the template
        template.render(exhibits=exhibits, colors=model_colors(models))
    )


def _without_model(exhibit: Exhibit) -> Exhibit:
    """A table without its column of model names, which is of no use for a single model."""
    if not isinstance(exhibit, Table) or MODEL not in exhibit.columns:
        return exhibit
    kept = [at for at, column in enumerate(exhibit.columns) if column != MODEL]
    columns = tuple(exhibit.columns[at] for at in kept)
    rows = tuple(tuple(row[at] for at in kept) for row in exhibit.rows)
    return replace(exhibit, columns=columns, rows=rows)


def command_for(command: str, measurement: str) -> str:
    """The `unshortcut audit` command for a single measurement; other commands are not changed.

    >>> command_for("unshortcut audit /home/me/run --data shapes --only frequency", "confidence")
    'unshortcut audit run --data shapes --only confidence'
    """
    if not command.startswith(_COMMAND):
        return command
    arguments = shlex.split(public_command(command))
    kept = [
        argument
        for before, argument in zip(["", *arguments], arguments, strict=False)
        if "--only" not in (before, argument) and not argument.startswith("--only=")
    ]
    return shlex.join([*kept, "--only", measurement])


def public_command(command: str) -> str:
    """A command without private folders."""
    if not command.startswith(_COMMAND):
        return command
    return shlex.join(public_name(one) for one in shlex.split(command))
