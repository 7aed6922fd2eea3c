"""The evidence as a Markdown page and as an HTML page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from unshortcut.reproduction.evidence import LIMITS, WORDS, Evidence, Values
from unshortcut.reproduction.evidence_plot import evidence_figure

_TITLE = "What the papers claim, and what was found here"
_HEADER = (
    *("claim", "primary effect", "paper", "ours", "95 % interval", "seeds", "hours", "word"),
    *("plot", "command"),
)
_EFFECTS = ("measure", "effect", "paper", "ours", "95 % interval", "word")
_DASH = "–"


def markdown_page(
    evidence: Sequence[Evidence], pictures: str, values: Sequence[Values] = ()
) -> str:
    """The page; `pictures` is the folder of the plots, relative to it."""
    decided = [one for one in evidence if one.complete]
    rows = [_row(one, pictures) for one in evidence]
    parts = [
        f"# {_TITLE}",
        f"Each claim of the papers as an experiment at the scale `laptop` of `unshortcut "
        f"reproduce`: {len(decided)} of {len(evidence)} have been run with all of their seeds. "
        "Differences are paired over seeds, in points of accuracy or bias, or in cosines.",
        _table(_HEADER, rows),
        f"## How to read it\n\n{WORDS}",
        f"## What small data can and cannot show\n\n{LIMITS}",
    ]
    if any(one.record for one in evidence):
        parts.append("## All effects")
        parts += [_section(one, pictures) for one in evidence if one.record is not None]
    if values:
        parts.append("## Values without a verdict")
        parts += [_values_section(one) for one in values]
    parts.append(
        "This page is written by `unshortcut reproduce --evidence FOLDER --out evidence.md`; with "
        "`--out evidence.html` it has interactive plots."
    )
    return "\n\n".join(parts) + "\n"


def html_page(evidence: Sequence[Evidence], values: Sequence[Values] = ()) -> str:
    """The page as one HTML file that fetches nothing, with a plot for each result."""
    from markupsafe import Markup

    from unshortcut.measuring.exhibits import Column, Exhibit, Plot, Table
    from unshortcut.report.shell import ENVIRONMENT, render_page

    template = ENVIRONMENT.get_template("exhibits.html.j2")

    def rendered(exhibits: Iterable[Exhibit]) -> Markup:
        return Markup(template.render(exhibits=list(exhibits), colors={}))  # escaped there

    def columns(titles: Iterable[str]) -> list[Column]:
        return [Column(title[0].upper() + title[1:]) for title in titles]

    titles = [title for title in _HEADER if title != "plot"]
    rows = [_plain_cells(one) for one in evidence]
    effects = columns(_EFFECTS)
    sections = []
    for one in evidence:
        exhibits: list[Exhibit] = []
        if one.primary is not None:
            caption = "Solid line: zero. Dotted lines: the margin of no effect."
            exhibits.append(Plot("Primary effect by seed", evidence_figure(one), caption, 260))
            exhibits.append(Table("All effects", effects, list(_effect_rows(one)), folded=True))
        sections.append((one, rendered(exhibits)))
    tables = []
    for shown in values:
        header = columns(_value_titles(shown))
        table = Table("Means, and the value of each seed", header, list(_value_rows(shown)))
        tables.append((shown, rendered([table])))
    return render_page(
        "evidence.html.j2",
        plots=True,
        title=_TITLE,
        table=rendered([Table("All claims", columns(titles), rows)]),
        sections=sections,
        values=tables,
        words=WORDS,
        limits=LIMITS,
    )


def _row(one: Evidence, pictures: str) -> list[str]:
    """The row of a claim in the Markdown table."""
    name, effect, *numbers, word, command = _plain_cells(one)
    plot = f"![{name}]({pictures}/{name}.png)" if one.arms else ""
    linked = f"[`{name}`](#{name})" if one.record is not None else f"`{name}`"
    about = f"{linked}: {one.claim.summary} ({one.claim.where})"
    return [about, effect, *numbers, f"**{word}**", plot, f"`{command}`"]


def _plain_cells(one: Evidence) -> list[str]:
    """Claim, effect, paper, ours, interval, seeds, hours, word and command, without markup."""
    registered, digits = one.registration, one.column.digits + 1
    primary = one.primary or {}
    hours = one.hours
    return [
        one.claim.name,
        f"{one.column.title}, {registered.primary.what}",
        _signed(one.paper, digits),
        _signed(primary.get("mean"), digits),
        _interval(primary.get("interval"), digits),
        f"{one.seeds} of {registered.seeds}",
        _DASH if hours is None else f"{hours:.1f}",
        one.word,
        one.command,
    ]


def _section(one: Evidence, pictures: str) -> str:
    """The effects of a claim, and what its notes say."""
    assert one.record is not None
    arms = ", ".join(f"`{label}`" for label in one.record["variants"])
    predicted = "a rise" if one.registration.primary.predicted == 1 else "a fall"
    paragraphs = [
        f"### {one.claim.name}",
        f"{one.claim.summary[0].upper()}{one.claim.summary[1:]} ({one.claim.where}). Arms: {arms}. "
        f"Primary effect: {one.column.title}, {one.registration.primary.what}, with {predicted} "
        f"predicted; margin {one.registration.primary.margin:g}.",
        *([f"![{one.claim.name}]({pictures}/{one.claim.name}.png)"] if one.arms else []),
        _table(_EFFECTS, _effect_rows(one)),
        *one.record["notes"],
        f"`{one.record['command']}`",
    ]
    return "\n\n".join(paragraphs)


def _values_section(one: Values) -> str:
    paragraphs = [
        f"### {one.title}",
        f"{one.claim.summary[0].upper()}{one.claim.summary[1:]} ({one.claim.where}). Means in "
        "percent, and the value of each seed.",
        _table(_value_titles(one), _value_rows(one)),
        *one.record["notes"],
        f"`{one.record['command']}`",
    ]
    return "\n\n".join(paragraphs)


def _value_titles(one: Values) -> list[str]:
    return ["variant", *(column.title for column in one.columns), "minutes"]


def _value_rows(one: Values) -> Iterator[list[str]]:
    for label, seeds in one.variants.items():
        cells = []
        for column in one.columns:
            found = [seed[column.measure] for seed in seeds]
            each = ", ".join(f"{value:.{column.digits}f}" for value in found)
            cells.append(f"{fmean(found):.{column.digits}f} ({each})")
        minutes = one.minutes[label]
        yield [label, *cells, f"{fmean(minutes):.0f}" if minutes else _DASH]


def _effect_rows(one: Evidence) -> Iterator[list[str]]:
    assert one.record is not None
    found: Sequence[Mapping[str, Any]] = one.record["effects"]
    for effect in found:
        column = one.column_of(effect["measure"])
        digits = column.digits + 1
        yield [
            column.title,
            effect["effect"],
            _signed(effect["paper"], digits),
            _signed(effect["mean"], digits),
            _interval(effect["interval"], digits),
            effect["verdict"] or "nothing predicted",
        ]


def _signed(value: float | None, digits: int) -> str:
    return _DASH if value is None else f"{value:+.{digits}f}".replace("-", "−")


def _interval(ends: Sequence[float] | None, digits: int) -> str:
    return _DASH if ends is None else " to ".join(_signed(end, digits) for end in ends)


def _table(header: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    header = list(header)
    lines = [header, ["---"] * len(header), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
