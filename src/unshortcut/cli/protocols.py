"""`unshortcut protocols`."""

from itertools import groupby

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

GROUP = "Papers"


def command(
    name: str | None = typer.Argument(
        None,
        metavar="[NAME]",
        help="Show the protocol of this name, or list those that match a pattern such as 'voc*'. "
        "[default: list all]",
    ),
    sets: list[str] = typer.Option(
        [],
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting of the protocol that is shown. May be given several times.",
    ),
) -> None:
    """List the protocols of `unshortcut finetune` by group, or show one with all of its settings.

    - `unshortcut protocols 'voc*'`
    - `unshortcut protocols detect`
    """
    from unshortcut.errors import UsageError
    from unshortcut.transfer.catalog import GROUPS, protocol_infos, protocol_path

    console = Console()
    if name is not None and not set(name) & set("*?["):
        protocol_path(name)  # an unknown name is answered before the slow imports
        from unshortcut.transfer.protocol import show_protocol

        text = show_protocol(name, sets)
        console.print(Syntax(text, "yaml") if console.is_terminal else text, highlight=False)
        return
    infos = list(protocol_infos(name or "*"))
    if not infos:
        raise UsageError(f"no protocol matches '{name}'; `unshortcut protocols` lists all")
    for group, rows in groupby(infos, key=lambda info: info.group):
        table = Table("protocol", "what it is for", title=GROUPS[group], title_justify="left")
        for info in rows:
            table.add_row(info.name, info.summary)
        console.print(table)
