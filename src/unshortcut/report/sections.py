"""A measurement's part of the page; what fails in one is said there, and the rest goes on."""

import shlex
from dataclasses import dataclass, replace

from markupsafe import Markup

from unshortcut.auditing.findings import Entry, Findings
from unshortcut.measurements.measurement import Measurement
from unshortcut.measuring.exhibits import MODEL, Exhibit, Plot, Table
from unshortcut.measuring.plots import model_colors
from unshortcut.report.comparison import Row, notes_of, rows_of
from unshortcut.report.environment import ENVIRONMENT
from unshortcut.report.gaps import Gap, gaps
from unshortcut.result import public_name

_COMMAND = "unshortcut audit "


@dataclass(frozen=True)
class Section:
    """What the page shows of one measurement."""

    measurement: Measurement
    entries: dict[str, Entry]
    """By model."""
    exhibits: Markup
    """As HTML."""
    rows: tuple[Row, ...]
    has_plots: bool
    failure: str
    """Why results that are there cannot be shown; empty where they are."""
    command: str
    """That makes this part again; empty where none is known."""

    @property
    def measured(self) -> dict[str, Entry]:
        return {model: one for model, one in self.entries.items() if one.status == "done"}

    @property
    def gaps(self) -> tuple[Gap, ...]:
        return gaps(self.entries)

    @property
    def notes(self) -> dict[str, int]:
        return notes_of(self.rows)

    @property
    def status(self) -> str:
        """In a word or two: `done`, `failed`, `not applicable`, `2 of 3 models`."""
        if self.failure:
            return "failed"
        kinds = {one.status for one in self.entries.values()}
        if len(kinds) == 1:
            return str(kinds.pop())
        if not self.measured:
            return "failed" if kinds else "not measured"
        return f"{len(self.measured)} of {len(self.entries)} models"


def section(findings: Findings, name: str) -> Section:
    """The part of one measurement."""
    one, results = findings.measurements[name], findings.results(name)
    rows: tuple[Row, ...] = ()
    shown, has_plots, failure = Markup(""), False, ""
    if results:
        try:
            rows = rows_of(findings, name)
            exhibits = tuple(one.exhibits(results, findings.reference(name)))
            if len(findings.models) == 1:
                exhibits = tuple(_of_one_model(exhibit) for exhibit in exhibits)
            has_plots = any(isinstance(exhibit, Plot) for exhibit in exhibits)
            template = ENVIRONMENT.get_template("exhibits.html.j2")
            shown = Markup(  # escaped by the template
                template.render(exhibits=exhibits, colors=model_colors(findings.models))
            )
        except Exception as error:  # a stranger's measurement may raise anything
            rows, has_plots = (), False
            failure = f"{type(error).__name__}: {error}"
    command = only(findings.command, name)
    return Section(one, dict(findings.entries[name]), shown, rows, has_plots, failure, command)


def _of_one_model(exhibit: Exhibit) -> Exhibit:
    """An exhibit without the name of its model, which the page has at its top."""
    if not isinstance(exhibit, Table) or MODEL not in exhibit.columns:
        return exhibit
    kept = [at for at, column in enumerate(exhibit.columns) if column != MODEL]
    columns = tuple(exhibit.columns[at] for at in kept)
    rows = tuple(tuple(row[at] for at in kept) for row in exhibit.rows)
    return replace(exhibit, columns=columns, rows=rows)


def only(command: str, measurement: str) -> str:
    """A command that makes one measurement, where it is one of the command line.

    >>> only("unshortcut audit /home/me/run --data shapes --only frequency", "confidence")
    'unshortcut audit run --data shapes --only confidence'
    """
    if not command.startswith(_COMMAND):
        return command
    words = shlex.split(public(command))
    kept = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if "--only" not in (before, word) and not word.startswith("--only=")
    ]
    return shlex.join([*kept, "--only", measurement])


def public(command: str) -> str:
    """A command without the folders that only its owner knows."""
    if not command.startswith(_COMMAND):
        return command
    return shlex.join(public_name(word) for word in shlex.split(command))
