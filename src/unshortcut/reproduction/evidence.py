"""The evidence on every registered claim, read from stored results: the page `evidence`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unshortcut.errors import UsageError
from unshortcut.reproduction.claim import Claim, MeasureColumn, all_claims
from unshortcut.reproduction.effects import NOT_DECIDED
from unshortcut.reproduction.registered import registered_claims, registered_command
from unshortcut.reproduction.registration import Registration
from unshortcut.reproduction.scales import REGISTERED
from unshortcut.result import RESULT_FILE

LIMITS = (
    "These experiments train a small encoder on drawn shapes of 64 pixels, for minutes. They "
    "can show whether a mechanism exists: whether a loss moves what an encoder relies on, in "
    "which direction, and against which baseline, with paired seeds. They cannot show how large "
    "an effect is on photographs, with a large encoder or after long training, and a claim that "
    "depends on many classes, a large memory or fine detail may be out of their reach. An "
    "effect that does not appear here is not refuted there. The paper's numbers are for its own "
    "data and stand next to ours to compare directions."
)
WORDS = (
    "The words were fixed before any of these results was seen, and so were the arms, the "
    "number of seeds and the primary effect of each claim, in its file. Appears or reversed: "
    "the 95 % interval of the paired difference excludes zero, in or against the predicted "
    "direction. No effect: it contains zero and lies within the margin. Not decided: anything "
    "else. No claim gets more seeds because of its interval. Hours are those of all trainings "
    "of a claim on one core; claims share some of them."
)


@dataclass(frozen=True)
class Evidence:
    """A claim, and the stored result of its registered experiment if there is one."""

    claim: Claim
    registration: Registration
    record: Mapping[str, Any] | None

    @property
    def complete(self) -> bool:
        """Whether the result is that of the registered experiment, with all of its seeds."""
        return self.record is not None and bool(self.record["registered"])

    @property
    def primary(self) -> Mapping[str, Any] | None:
        """The primary effect as stored: mean, values, interval, paper, verdict."""
        found: Mapping[str, Any] | None = None if self.record is None else self.record["primary"]
        return found

    @property
    def word(self) -> str:
        """The word of the primary effect, if the experiment is complete."""
        return self.primary["verdict"] if self.complete and self.primary else NOT_DECIDED

    @property
    def column(self) -> MeasureColumn:
        """The measure of the primary effect."""
        return self.column_of(self.registration.primary.measure)

    def column_of(self, measure: str) -> MeasureColumn:
        known = {column.measure: column for column in self.claim.columns}
        return known.get(measure, MeasureColumn(measure, measure))

    @property
    def paper(self) -> float | None:
        """The primary effect in the paper's own numbers."""
        variants = self.claim.variants(REGISTERED)
        printed = {variant.label: self.claim.paper(variant.values) for variant in variants}
        return self.registration.primary.in_paper(printed)

    @property
    def seeds(self) -> int:
        return 0 if self.record is None else len(self.record["seeds"])

    @property
    def hours(self) -> float | None:
        """Duration of all distinct trainings."""
        if self.record is None:
            return None
        variants = self.record["variants"].values()
        seconds = {
            key: taken
            for one in variants
            for key, taken in zip(one["trainings"], one["seconds"], strict=True)
        }
        return sum(taken or 0.0 for taken in seconds.values()) / 3600

    @property
    def command(self) -> str:
        """The command that decides the claim."""
        return registered_command(self.claim)

    @property
    def arms(self) -> dict[str, list[float]]:
        """The primary measure of each arm, one value per seed; empty without a primary effect."""
        if self.record is None or self.primary is None:
            return {}
        measure = self.registration.primary.measure
        return {
            label: [one[measure] for one in variant["metrics"]]
            for label, variant in self.record["variants"].items()
        }


def read_evidence(folder: Path, claims: Sequence[Claim] | None = None) -> list[Evidence]:
    """The evidence on all registered claims, in their order.

    The result of a claim is `CLAIM.json` in the folder, or `CLAIM-laptop/result.json` as
    `unshortcut reproduce` writes it; without one, the claim is not decided.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder '{folder}'")
    found = []
    for claim in registered_claims(claims):
        assert claim.registration is not None
        paths = (folder / f"{claim.name}.json", folder / f"{claim.name}-{REGISTERED}" / RESULT_FILE)
        path = next((path for path in paths if path.is_file()), None)
        record = None if path is None else _read_registered(path, claim)
        found.append(Evidence(claim, claim.registration, record))
    return found


@dataclass(frozen=True)
class Values:
    """The stored result of a claim that is not registered: values by seed, without a verdict."""

    claim: Claim
    record: Mapping[str, Any]

    @property
    def columns(self) -> list[MeasureColumn]:
        """The measures that every training has."""
        found = [one for variant in self.variants.values() for one in variant]
        return [one for one in self.claim.columns if all(one.measure in seed for seed in found)]

    @property
    def variants(self) -> Mapping[str, Sequence[Mapping[str, float]]]:
        """Metrics of each seed, by variant."""
        return {label: one["metrics"] for label, one in self.record["variants"].items()}

    @property
    def minutes(self) -> Mapping[str, Sequence[float]]:
        """Minutes of each training whose duration is known, by variant."""
        return {
            label: [seconds / 60 for seconds in one["seconds"] if seconds is not None]
            for label, one in self.record["variants"].items()
        }

    @property
    def title(self) -> str:
        """The claim, and the data that the encoders were trained on."""
        return f"{self.claim.name} on {self.record['data']}"


def read_values(folder: Path, claims: Sequence[Claim] | None = None) -> list[Values]:
    """The results of claims that are not registered.

    They are in `CLAIM.json` or `CLAIM/result.json`; further ones, on other data, in files whose
    names begin with `CLAIM-`.
    """
    found = []
    for claim in all_claims().values() if claims is None else claims:
        if claim.registration is not None:
            continue
        name = claim.name
        first = [folder / f"{name}.json", folder / name / RESULT_FILE]
        for path in (
            *(one for one in first if one.is_file()),
            *sorted(folder.glob(f"{name}-*.json")),
        ):
            record, (named, _) = _read(path)
            if named != name:
                raise UsageError(f"'{path}' is a result of {named}, not of {name}")
            found.append(Values(claim, record))
    return found


def write_evidence(folder: Path, out: Path) -> list[Path]:
    """Write the page of the results in a folder: Markdown with plots beside it, or HTML.

    The ending of `out` decides which. Returns the files that were written.
    """
    from unshortcut.files import write_text
    from unshortcut.reproduction.evidence_pages import html_page, markdown_page
    from unshortcut.reproduction.evidence_plot import draw_evidence

    evidence, values = read_evidence(folder), read_values(folder)
    if out.suffix not in (".md", ".html"):
        raise UsageError(f"--out must end in .md or .html, not '{out.name}'")
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".html":
        write_text(out, html_page(evidence, values))
        return [out]
    pictures = out.parent / "pictures" / out.stem
    drawn = [pictures / f"{one.claim.name}.png" for one in evidence if one.arms]
    for path, one in zip(drawn, (one for one in evidence if one.arms), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        draw_evidence(one, path)
    write_text(out, markdown_page(evidence, f"pictures/{out.stem}", values))
    return [out, *drawn]


def _read_registered(path: Path, claim: Claim) -> Mapping[str, Any]:
    record, (named, scale) = _read(path)
    if (named, scale) != (claim.name, REGISTERED):
        raise UsageError(
            f"'{path}' is a result of {named} at the {scale} scale, not of {claim.name} at the "
            f"{REGISTERED} scale"
        )
    return record


def _read(path: Path) -> tuple[Mapping[str, Any], tuple[str, str]]:
    """A result, with its claim and scale."""
    try:
        record: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record, (record["claim"], record["scale"])
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"'{path}' is not a result of unshortcut reproduce") from None
