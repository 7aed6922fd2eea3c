"""`unshortcut recipes`."""

import typer
from rich.console import Console

from unshortcut.cli._catalog_table import is_pattern, print_entries, print_yaml
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
    if name is not None and not is_pattern(name):
        read_recipe(name)  # an unknown name is answered before the slow imports
        from unshortcut.recipes.load import load_recipe, to_yaml

        print_yaml(console, to_yaml(load_recipe(name, sets)))
        return
    infos = list(recipe_infos(name or "*"))
    if not infos:
        raise UsageError(f"no recipe matches '{name}'; `unshortcut recipes` lists all")
    print_entries(console, "recipe", infos, GROUPS)
