"""`unshortcut recipes`."""

from itertools import groupby

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from unshortcut.cli.options import SetOption

GROUP = "Papers"


def command(
    name: str | None = typer.Argument(
        None,
        metavar="[NAME]",
        help="Show the recipe of this name, or list those that match a pattern such as 'moco*'. "
        "[default: list all]",
    ),
    sets: SetOption = [],
    papers: bool = typer.Option(
        False,
        "--papers",
        help="List the tables of the papers row by row, each with its recipe or command and the "
        "paper's numbers. NAME then selects papers, tables such as 'dissertation/2.*', or recipes.",
    ),
) -> None:
    """List the recipes by group, or show one recipe with all of its settings.

    - `unshortcut recipes 'looc-*'`
    - `unshortcut recipes --papers looc`
    """
    from unshortcut.errors import UsageError
    from unshortcut.recipes.catalog import GROUPS, recipe_infos
    from unshortcut.recipes.reading import read_recipe

    console = Console()
    if papers:
        from unshortcut.cli._paper_tables import print_paper_tables
        from unshortcut.recipes.papers import paper_tables

        if sets:
            raise UsageError("--set changes a recipe; it has no meaning with --papers")
        print_paper_tables(console, paper_tables(name or "*"))
        return
    if name is not None and not set(name) & set("*?["):
        read_recipe(name)  # an unknown name is answered before the slow imports
        from unshortcut.recipes.load import load_recipe, to_yaml

        text = to_yaml(load_recipe(name, sets))
        console.print(Syntax(text, "yaml") if console.is_terminal else text, highlight=False)
        return
    infos = list(recipe_infos(name or "*"))
    if not infos:
        raise UsageError(f"no recipe matches '{name}'; `unshortcut recipes` lists all")
    for group, rows in groupby(infos, key=lambda info: info.group):
        title = GROUPS.get(group, group)
        table = Table("recipe", "what it is for", title=title, title_justify="left")
        for info in rows:
            table.add_row(info.name, info.summary)
        console.print(table)
