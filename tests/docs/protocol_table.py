"""The table of protocols in `docs/transfer.md`; `python -m tests.docs.protocol_table` prints it."""

from unshortcut.transfer.catalog import protocol_infos
from unshortcut.transfer.protocol import Protocol, load_protocol

HEADER = "| protocol | for | task | length | learning rate, batch | rows of papers |"


def rows() -> list[list[str]]:
    """One row for each protocol, in the order of `unshortcut protocols`."""
    found = []
    for info in protocol_infos():
        protocol = load_protocol(info.name)
        where = protocol.paper.where if protocol.paper is not None else ""
        rate = f"{protocol.optimizer.lr:g}, {protocol.data.batch_size}"
        found.append(
            [f"`{info.name}`", info.summary, protocol.task.name, _length(protocol), rate, where]
        )
    return found


def table() -> str:
    """The table in Markdown."""
    lines = [HEADER, "| --- | --- | --- | --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows())])


def _length(protocol: Protocol) -> str:
    schedule = protocol.schedule
    return f"{schedule.steps:,} steps" if schedule.steps else f"{schedule.epochs} epochs"


if __name__ == "__main__":
    print(table())
