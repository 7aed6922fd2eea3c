"""What was not measured and why, grouped by reason."""

from collections.abc import Mapping
from dataclasses import dataclass

from unshortcut.auditing.findings import Entry, Status


@dataclass(frozen=True)
class Gap:
    """A reason why a measurement has no result for some models."""

    status: Status
    reason: str
    models: tuple[str, ...]
    """Empty if the reason applies to all models."""


def gaps(entries: Mapping[str, Entry]) -> tuple[Gap, ...]:
    """The gaps of one measurement, from its entries by model."""
    found: dict[tuple[Status, str], list[str]] = {}
    for model, one in entries.items():
        if one.status != "done":
            found.setdefault((one.status, one.reason), []).append(model)
    return tuple(
        Gap(status, reason, () if len(models) == len(entries) else tuple(models))
        for (status, reason), models in found.items()
    )
