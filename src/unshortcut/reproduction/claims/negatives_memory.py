"""With patch negatives, a small memory bank is enough (NSN, figures 4 and 5)."""

from collections.abc import Mapping, Sequence

from unshortcut.reproduction.claim import Axis, Scale, Variant, setting
from unshortcut.reproduction.claims import _negatives as nsn
from unshortcut.reproduction.effects import Effect, difference, not_worse
from unshortcut.reproduction.registration import Registration

_TABLE_1 = {
    ("8192", "0"): "moco-v2-k8192-imagenet100",
    ("8192", "2"): "moco-v2-patch-a2-k8192-imagenet100",
    ("16384", "0"): "moco-v2-imagenet100",
    ("16384", "2"): "moco-v2-patch-a2-imagenet100",
}
"""The recipe of a row by the size of the bank and alpha."""
_SIZES: Mapping[Scale, tuple[int, ...]] = {
    "small": (128, 512, 2048),
    "laptop": (128, 512, 2048),
    "paper": (1024, 2048, 4096, 8192, 12288, 16384),
}
"""At the scale of the paper: evenly spaced from 4096 on (section 3.4), and down to the 1024 keys
that with patch negatives match 16384 without (dissertation, section 3.3.3)."""


def _costs_less(small: int, large: int, alpha: str) -> Effect:
    """What a small bank costs without patch negatives, minus what it costs with them."""
    weights = {
        f"queue={large} alpha=0": 1.0,
        f"queue={small} alpha=0": -1.0,
        f"queue={large} alpha={alpha}": -1.0,
        f"queue={small} alpha={alpha}": 1.0,
    }
    return Effect("a small bank costs less with patches", "test", weights, 1)


class NegativesMemory(nsn.NegativesClaim):
    """Memory banks of several sizes, with and without patch negatives."""

    name = "negatives-memory"
    summary = "a small memory bank with patch negatives matches a large one without"
    where = "non-semantic negatives, figures 4 and 5, table 1"
    x = "queue"
    notes = (
        nsn.ALPHA_NOTE,
        "That a small bank with patch negatives is no worse than a large one without is only "
        "decided where a large bank alone helps; *no effect* agrees with it too. The paper prints "
        "numbers for two sizes; our difference stands next to that between 8192 with patch "
        "negatives and 16384 without.",
    )
    registration = Registration(
        order=11,
        seeds=3,
        arms=tuple(f"queue={size} alpha={alpha}" for size in (128, 2048) for alpha in (0, 2)),
        primary=_costs_less(128, 2048, "2"),
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
        matches = not_worse("test", few, many, paper=theirs - base, requires=helps)
        found += [helps, matches]
        found.append(_costs_less(small, large, alpha))
        return found
