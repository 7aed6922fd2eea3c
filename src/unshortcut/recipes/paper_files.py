"""The files in `papers/`: what a paper prints, and which recipe or command gives it.

A number that a recipe states (`paper.metrics`) is not repeated here. One file per text; the format
is plain YAML, checked when it is read.
"""

from functools import cache
from pathlib import Path
from typing import Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from unshortcut.plain_yaml import PlainLoader

FOLDER = Path(__file__).parent / "papers"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MetricEntry(_Entry):
    """A number that tables print: what it is called, and how it is measured."""

    title: str
    command: str | None = None
    """The command that measures it; RUN is the run of the row's recipe."""
    missing: str | None = None
    """Why no command measures it."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.command is None) == (self.missing is None):
            raise ValueError(f"{self.title}: state either a command or what is missing")
        return self


class RowEntry(_Entry):
    """A row: the recipe or the command that gives it, or why none does."""

    row: str
    recipe: str | None = None
    command: str | None = None
    missing: str | None = None
    prefix: str = ""
    """What the names of the recipe's metrics begin with in this row."""
    option: str = ""
    """What is added to the columns' commands of `probe` in this row."""
    values: dict[str, float] = {}
    """The printed numbers by metric, for a row without a recipe."""
    without: dict[str, str] = {}
    """Metrics that a row with a recipe lacks, with the reason."""


class TableEntry(_Entry):
    """A table, a figure, or a section with numbers in its text."""

    table: str | None = None
    figure: str | None = None
    section: str | None = None
    about: str = ""
    printed: int | None = Field(None, ge=1)
    """Number of rows that the paper prints; required for a table."""
    columns: list[str] = []
    metrics: dict[str, MetricEntry] = {}
    """Metrics that are measured otherwise than in the paper's other tables."""
    rows: list[RowEntry] = []
    command: str | None = None
    missing: str | None = None
    """What a row has that states neither recipe, command nor missing."""
    repeats: str | None = None
    """The table with the same rows, as `PAPER/ID`."""
    leaving_out: list[str] = []
    """Rows of that table which this one lacks."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if sum(kind is not None for kind in (self.table, self.figure, self.section)) != 1:
            raise ValueError("state one of table, figure and section")
        if self.table is not None and self.printed is None:
            raise ValueError(f"table {self.table}: state the number of printed rows")
        if (self.repeats is None) == (not self.rows):
            raise ValueError(f"{self.id}: state either rows or the table that is repeated")
        return self

    @property
    def id(self) -> str:
        """`2.1` for a table, `figure 6`, `section 1.4`."""
        if self.table is not None:
            return self.table
        return f"figure {self.figure}" if self.figure is not None else f"section {self.section}"


class PaperEntry(_Entry):
    """A paper, or another text with tables."""

    name: str
    """What the paper is called in a recipe's `paper.where`."""
    title: str
    metrics: dict[str, MetricEntry]
    tables: list[TableEntry]


@cache
def read_papers() -> dict[str, PaperEntry]:
    """All papers by the name of their file, in the order of `ORDER`."""
    papers = {}
    for key in ORDER:
        text = (FOLDER / f"{key}.yaml").read_text(encoding="utf-8")
        papers[key] = PaperEntry.model_validate(yaml.load(text, Loader=PlainLoader))
    return papers


ORDER = (
    "dissertation",
    "negatives",
    "negatives-appendix",
    "texture-supplement",
    "looc",
    "object-aware-cropping",
    "can",
)
"""The papers in the order of their list."""
