"""`unshortcut recipes`."""

from typing import Annotated

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from unshortcut.cli.options import SetOption


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Show this one.")] = None,
    sets: SetOption = [],
) -> None:
    """List the recipes, or show one with every setting spelled out."""
    from unshortcut.recipes.load import load_recipe, read_recipe, recipe_names, to_yaml

    console = Console()
    if name is not None:
        text = to_yaml(load_recipe(name, sets))
        console.print(Syntax(text, "yaml") if console.is_terminal else text, highlight=False)
        return
    table = Table("recipe", "what it is")
    for known in recipe_names():
        table.add_row(known, read_recipe(known).get("summary", ""))
    console.print(table)
