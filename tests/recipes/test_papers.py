"""The list by paper and table is complete: every row has a recipe, a command or a reason."""

import re
import shlex

import pytest

from tests.docs.workspace import parse
from unshortcut.errors import UsageError
from unshortcut.recipes.catalog import list_recipes, paper_of
from unshortcut.recipes.paper_files import FOLDER, ORDER, PaperEntry, TableEntry, read_papers
from unshortcut.recipes.papers import PaperTable, format_number, paper_tables, summary
from unshortcut.reproduction.claim import get_claim

TABLES = {
    # no table 2.5 is printed in the dissertation
    "dissertation": [*(f"2.{n}" for n in range(1, 13) if n != 5), *(f"3.{n}" for n in range(1, 6))],
    "negatives": ["1", "2", "3", "4", "README"],
    "negatives-appendix": ["5", "6", "7", "8"],
    "texture-supplement": ["1", "2", "3", "4", "5", "6"],
    "looc": ["1", "2", "3", "4", "5", "E.1"],
    "object-aware-cropping": ["README"],
    "can": [],  # its abstract
}
"""Every table that the papers print."""
FIGURES = {
    "dissertation": ["2.7", "2.8", "3.2", "3.3", "3.4", "3.5", "3.6", "3.9 a", "3.9 b",
                     "3.11", "3.12", "3.13"],
    "negatives": ["2", "3", "4", "5", "6"],
    "negatives-appendix": ["9 a", "9 b", "11", "12", "13"],
    "looc": ["3", "4"],
}  # fmt: skip
"""Figures that show measurements, other than training curves and single images."""

PAPERS = read_papers()
ENTRIES = [(key, entry) for key, paper in PAPERS.items() for entry in paper.tables]
OWN = [table for table in paper_tables() if table.repeats is None]
COMMANDS = sorted(
    {column.command for table in OWN for column in table.columns if column.command}
    | {row.source for table in OWN for row in table.rows if row.given == "command"}
)


def test_every_table_and_figure_is_there() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(ORDER) == set(TABLES)
    for key, paper in PAPERS.items():
        assert [entry.table for entry in paper.tables if entry.table] == TABLES[key]
        assert [one.figure for one in paper.tables if one.figure] == FIGURES.get(key, [])


@pytest.mark.parametrize("table", paper_tables(), ids=lambda table: table.address)
def test_a_table_has_as_many_rows_as_the_paper_prints(table: PaperTable) -> None:
    if table.printed is not None:
        assert len(table.rows) == table.printed
    labels = [row.label for row in table.rows]
    assert len(set(labels)) == len(labels)
    assert table.about


@pytest.mark.parametrize(("key", "entry"), ENTRIES, ids=lambda one: getattr(one, "id", one))
def test_a_row_has_one_source_and_numbers_of_its_columns(key: str, entry: TableEntry) -> None:
    for row in entry.rows:
        stated = [row.recipe, row.command, row.missing]
        default = [entry.command, entry.missing]
        count = sum(one is not None for one in stated)
        assert count == 1 or (count == 0 and sum(one is not None for one in default) == 1)
        assert set(row.values) | set(row.without) <= set(entry.columns)
        if row.recipe is None:
            assert not row.prefix and not row.option and not row.without
        else:
            assert not row.values, "the numbers of a recipe stand in the recipe alone"
    if entry.repeats is not None:
        other, _, wanted = entry.repeats.partition("/")
        (repeated,) = (one for one in PAPERS[other].tables if one.id == wanted)
        assert repeated.repeats is None
        assert set(entry.leaving_out) <= {row.row for row in repeated.rows}


@pytest.mark.parametrize("table", OWN, ids=lambda table: table.address)
def test_a_row_of_a_recipe_has_every_cell_or_a_reason(table: PaperTable) -> None:
    for row in table.rows:
        if row.given == "recipe":
            cells = {*row.numbers, *(row.without or {})}
            assert cells == {column.metric for column in table.columns}, row.label


def test_every_row_of_a_paper_that_a_recipe_states_is_in_its_tables_with_all_numbers() -> None:
    stated = {name for name in list_recipes() if paper_of(name)}
    listed: dict[str, set[str]] = {}
    for _, entry in ENTRIES:
        for row in entry.rows:
            if row.recipe is not None:
                shown = listed.setdefault(row.recipe, set())
                shown |= {row.prefix + column for column in entry.columns}
    assert set(listed) == stated
    for name, shown in listed.items():
        metrics = paper_of(name)["metrics"]
        assert {metric.removesuffix("_ci95") for metric in metrics} <= shown, name


def test_a_recipe_names_exactly_the_tables_that_list_it() -> None:
    listed: dict[str, set[tuple[str, str]]] = {}
    for key, entry in ENTRIES:
        for row in entry.rows:
            if row.recipe is not None and entry.table is not None:
                listed.setdefault(row.recipe, set()).add((PAPERS[key].name, entry.table))
    for name, tables in listed.items():
        assert stated_tables(paper_of(name)["where"]) == tables, name


def stated_tables(where: str) -> set[tuple[str, str]]:
    """(paper, table) pairs of a text such as `looc, tables 1 and E.1, MoCo; dissertation, …`."""
    found = set()
    for clause in where.split("; "):
        match = re.match(r"(.+?), tables? (.+)", clause)
        assert match is not None, where
        for word in re.split(r", | and ", match[2]):
            if not re.fullmatch(r"([A-Z]\.)?\d+(\.\d+)?|README", word):
                break
            found.add((match[1], word))
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_exists_with_its_options(command: str) -> None:
    program, *words = shlex.split(command)
    assert program == "unshortcut"
    parse(words)
    assert words[0] != "audit" or "--profile full" in command, "a printed number is over all images"


def test_options_of_rows_are_options_of_probe() -> None:
    rows = [(table, row) for table in OWN for row in table.rows if row.option]
    assert len(rows) == 4, "the subsets of spaces in table 5 of LooC"
    for table, row in rows:
        commands = [column.command or "" for column in table.columns]
        assert any(command.startswith("unshortcut probe") for command in commands)
        parse(["probe", "RUN", "--data", "shapes", *shlex.split(row.option)])


def test_numbers_that_a_claim_shows_too_are_the_same() -> None:
    claim = get_claim("negatives-similarity")
    compared = 0
    for address in ("negatives/figure 3", "negatives-appendix/figure 13"):
        (table,) = paper_tables(address)
        for row in table.rows:
            printed = claim.paper({"alpha": row.label.removeprefix("alpha = ")})
            for metric, number in row.numbers.items():
                assert printed[metric] == number
                compared += 1
    assert compared == 12


def test_a_pattern_selects_papers_tables_or_the_rows_of_a_recipe() -> None:
    assert {table.paper for table in paper_tables("looc")} == {"looc"}
    assert [table.id for table in paper_tables("dissertation/2.1?")] == ["2.10", "2.11", "2.12"]
    tables = paper_tables("moco-v2-imagenet")
    assert [table.address for table in tables] == [
        "dissertation/2.1", "dissertation/2.2", "dissertation/3.2", "negatives/2",
        "negatives-appendix/8",
    ]  # fmt: skip
    assert all([row.source for row in table.rows] == ["moco-v2-imagenet"] for table in tables)
    with pytest.raises(UsageError, match="did you mean 'looc'"):
        paper_tables("loc")


def test_numbers_have_their_interval_and_space_subsets_their_own() -> None:
    table = next(table for table in OWN if table.address == "looc/5")
    first, *_, last = table.rows
    assert format_number(first, "flowers_5shot") == "68.6 ± 0.6"
    assert (first.numbers["inat_top1"], last.numbers["inat_top1"]) == (38.5, 45.9)
    assert first.option == "--spaces invariant"


def test_the_summary_counts_repeated_rows_once() -> None:
    tables = paper_tables("texture-supplement")
    assert summary(tables).startswith("0 rows: ")
    assert summary(tables).endswith("28 rows repeat another table")
    assert summary(paper_tables("looc/1")) == "5 rows: 5 by a recipe, 0 by a command, 0 not yet"


@pytest.mark.parametrize(
    "entry",
    [
        {"about": "neither table nor figure", "rows": [{"row": "a", "missing": "b"}]},
        {"table": "1", "rows": [{"row": "a", "missing": "b"}]},
        {"table": "1", "printed": 1},
        {"table": "1", "printed": 1, "rows": [{"row": "a", "recipes": "b"}]},
    ],
)
def test_a_file_that_says_too_little_is_refused(entry: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"state|Extra inputs"):
        PaperEntry.model_validate({"name": "p", "title": "p", "metrics": {}, "tables": [entry]})
