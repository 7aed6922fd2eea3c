"""Tables of a reproduction: metrics next to those of the paper, and effects with a word each."""

import statistics
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from unshortcut.reproduction.effects import EffectResult
from unshortcut.reproduction.outcome import Reproduction

_WIDE = 160
"""Width in characters if the output is not a terminal."""


def print_tables(outcome: Reproduction) -> None:
    """Print metrics, effects and notes."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDE)
    console.print(_metrics(outcome))
    if outcome.findings:
        console.print(_effects(outcome))
    if outcome.primary is not None:
        console.print(_primary(outcome, outcome.primary), highlight=False, markup=False)
    for note in outcome.notes:
        console.print(note, highlight=False, markup=False)


def _metrics(outcome: Reproduction) -> Table:
    claim, seeds = outcome.claim, outcome.request.seeds
    statistic = f"mean ± standard deviation of {seeds} seeds" if seeds > 1 else "one seed"
    table = Table("variant", title=f"{claim.name} ({claim.where}), {statistic}")
    paper = {variant.label: claim.paper(variant.values) for variant in outcome.variants}
    in_paper = {measure for printed in paper.values() for measure in printed}
    for column in outcome.columns:
        table.add_column(column.title, justify="right")
        if column.measure in in_paper:
            table.add_column(f"paper: {column.paper}", justify="right", style="dim")
    table.add_column("minutes", justify="right", style="dim")
    for variant in outcome.variants:
        cells = []
        for column in outcome.columns:
            cells.append(_cell(outcome.values(variant, column), column.digits))
            if column.measure in in_paper:
                printed = paper[variant.label].get(column.measure)
                cells.append("" if printed is None else f"{printed:g}")
        minutes = outcome.minutes(variant)
        cells.append(f"{statistics.fmean(minutes):.1f}" if minutes else "")
        table.add_row(variant.label, *cells)
    return table


def _effects(outcome: Reproduction) -> Table:
    """One block of rows per measure."""
    columns = {column.measure: column for column in outcome.columns}
    table = Table("measure", "effect", title="effects, paired over seeds")
    for title in ("ours", "95 % interval", "paper"):
        table.add_column(title, justify="right")
    table.add_column("verdict")
    before = None
    for finding in outcome.findings:
        column = columns[finding.measure]
        if before not in (None, column):
            table.add_section()
        digits = column.digits + 1
        table.add_row(
            column.title if before != column else "",
            finding.what,
            f"{finding.mean:+.{digits}f}",
            _interval(finding, digits),
            "" if finding.paper is None else f"{finding.paper:+.{digits}f}",
            finding.verdict or "nothing predicted",
        )
        before = column
    return table


def _primary(outcome: Reproduction, found: EffectResult) -> str:
    """The sentence that decides the claim."""
    (column,) = (column for column in outcome.columns if column.measure == found.measure)
    digits = column.digits + 1
    return (
        f"{outcome.claim.name}: {found.verdict}. Primary effect, registered beforehand: "
        f"{column.title}, {found.what}: {found.mean:+.{digits}f} ({_interval(found, digits)})"
    )


def _interval(found: EffectResult, digits: int) -> str:
    if found.interval is None:
        return "one seed"
    return " to ".join(f"{end:+.{digits}f}" for end in found.interval)


def _cell(values: Sequence[float], digits: int) -> str:
    mean = statistics.fmean(values)
    deviation = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean:.{digits}f}{deviation}"
