"""Tables of a reproduction: metrics next to those of the paper, and effects with verdicts."""

import statistics
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

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
    for variant in outcome.variants:
        cells = []
        for column in outcome.columns:
            cells.append(_cell(outcome.values(variant, column), column.digits))
            if column.measure in in_paper:
                printed = paper[variant.label].get(column.measure)
                cells.append("" if printed is None else f"{printed:g}")
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
        ends = [f"{end:+.{digits}f}" for end in finding.interval or ()]
        table.add_row(
            column.title if before != column else "",
            finding.what,
            f"{finding.mean:+.{digits}f}",
            " to ".join(ends),
            "" if finding.paper is None else f"{finding.paper:+.{digits}f}",
            finding.verdict,
        )
        before = column
    return table


def _cell(values: Sequence[float], digits: int) -> str:
    mean = statistics.fmean(values)
    deviation = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean:.{digits}f}{deviation}"
