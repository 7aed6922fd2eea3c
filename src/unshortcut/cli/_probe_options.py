"""Options of the commands that run probes."""

from typing import Annotated, Any

import typer

OnOption = Annotated[
    list[str],
    typer.Option(
        "--on",
        metavar="DATA",
        help="Test on this data set, e.g. shapes@conflict. May be given several times. "
        "[default: the test or val split of --data]",
    ),
]
ProbeSetOption = Annotated[
    list[str], typer.Option("--set", metavar="KEY=VALUE", help="Any other setting of the probe.")
]
SeedsOption = Annotated[int | None, typer.Option("--seeds", min=1, help="Number of random seeds.")]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Number of workers that decode images. [default: one per core]"
    ),
]


def probe_settings(sets: list[str], **given: Any) -> dict[str, Any]:
    """The settings of a probe: those that are not None, and the values of `--set`."""
    from unshortcut.plain_yaml import parse_set

    settings = {key: value for key, value in given.items() if value is not None}
    for change in sets:
        settings |= parse_set(change)
    return settings
