"""With patch negatives, a small memory bank is enough (NSN, figures 4 and 5)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from unshortcut.reproduction.claim import Axis, Scale, Variant, setting
from unshortcut.reproduction.claims import _negatives as nsn
from unshortcut.reproduction.effects import (
    EQUAL,
    Effect,
    EffectResult,
    LinearContrast,
    MetricsBySeed,
    PaperMetrics,
    difference,
    not_worse,
)

_TABLE_1 = {
    ("8192", "0"): "moco-v2-k8192-imagenet100",
    ("8192", "2"): "moco-v2-patch-a2-k8192-imagenet100",
    ("16384", "0"): "moco-v2-imagenet100",
    ("16384", "2"): "moco-v2-patch-a2-imagenet100",
}
"""The recipe of a row by the size of the bank and alpha."""
_SIZES: Mapping[Scale, tuple[int, ...]] = {
    "small": (128, 512, 2048),
    "paper": (1024, 2048, 4096, 8192, 12288, 16384),
}
"""At the scale of the paper: evenly spaced from 4096 on (section 3.4), and down to the 1024 keys
that with patch negatives match 16384 without (dissertation, section 3.3.3)."""


@dataclass(frozen=True)
class _WhereLargeHelps:
    """A small bank matches a large one; the verdict notes if the large one alone does not help."""

    matches: LinearContrast
    helps: LinearContrast

    @property
    def measure(self) -> str:
        return self.matches.measure

    @property
    def variants(self) -> Iterable[str]:
        return {*self.matches.variants, *self.helps.variants}

    def find(self, metrics: MetricsBySeed, paper: PaperMetrics) -> EffectResult:
        found = self.matches.find(metrics, paper)
        low = (self.helps.find(metrics, paper).interval or (1.0, 1.0))[0]
        idle = "" if low > 0 else "; but a large bank alone does not help here"
        return replace(found, verdict=found.verdict + idle)


class NegativesMemory(nsn.NegativesClaim):
    """Memory banks of several sizes, with and without patch negatives."""

    name = "negatives-memory"
    summary = "a small memory bank with patch negatives matches a large one without"
    where = "non-semantic negatives, figures 4 and 5, table 1"
    x = "queue"
    notes = (
        nsn.ALPHA_NOTE,
        f"A bank matches another if the interval of the difference lies above -{EQUAL:g} points. "
        "The paper prints numbers for two sizes; our difference stands next to that between 8192 "
        "with patch negatives and 16384 without.",
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        queues = setting("queue", "method.negatives.queue.size", _SIZES[scale])
        return queues, nsn.alphas(0, nsn.PATCH_ALPHA[scale])

    def paper_recipe(self, values: Mapping[str, str]) -> str | None:
        return _TABLE_1.get((values["queue"], nsn.patch_alpha(values)))

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        sizes = sorted({int(variant.values["queue"]) for variant in variants})
        small, large = sizes[0], sizes[-1]
        alpha = max((variant.values["alpha"] for variant in variants), key=float)
        with_patches, without = f"queue={{}} alpha={alpha}", "queue={} alpha=0"
        found: list[Effect] = [
            difference("test", with_patches.format(size), without.format(size), 1) for size in sizes
        ]
        if small == large:
            return found
        few, many = with_patches.format(small), without.format(large)
        rows = ("8192", "2"), ("16384", "0")
        theirs, base = (nsn.printed(_TABLE_1[row], "test")["test"] for row in rows)
        helps = difference("test", many, without.format(small), 1)
        matches = replace(not_worse("test", few, many), paper=theirs - base)
        found += [helps, _WhereLargeHelps(matches, helps)]
        shrinks = {
            without.format(large): 1.0,
            without.format(small): -1.0,
            with_patches.format(large): -1.0,
            with_patches.format(small): 1.0,
        }
        found.append(LinearContrast("a small bank costs less with patches", "test", shrinks, 1))
        return found
