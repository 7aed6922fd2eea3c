"""`unshortcut protocols`."""

import typer
from rich.console import Console

from unshortcut.cli._catalog_table import is_pattern, print_entries, print_yaml

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
    if name is not None and not is_pattern(name):
        protocol_path(name)  # an unknown name is answered before the slow imports
        from unshortcut.transfer.protocol import show_protocol

        print_yaml(console, show_protocol(name, sets))
        return
    infos = list(protocol_infos(name or "*"))
    if not infos:
        raise UsageError(f"no protocol matches '{name}'; `unshortcut protocols` lists all")
    print_entries(console, "protocol", infos, GROUPS)
