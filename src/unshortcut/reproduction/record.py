"""`result.json` of a reproduction: what was asked, with which code, every figure, every verdict."""

from pathlib import Path
from typing import Any

from unshortcut.files import write_json
from unshortcut.reproduction.asked import shown, shown_recipe
from unshortcut.reproduction.claim import Variant
from unshortcut.reproduction.outcome import Reproduction
from unshortcut.result import commit, package_version


def write_record(outcome: Reproduction, path: Path) -> None:
    """Write the result: no host name and no absolute path, so it can be shown to anyone."""
    claim, asked = outcome.claim, outcome.asked
    commits = {training.commit or "unknown" for training in outcome.trainings}
    record: dict[str, Any] = {
        "command": asked.command(),
        "version": package_version(),
        "commit": commit(),
        "trained_with": sorted(commits),
        "claim": claim.name,
        "where": claim.where,
        "scale": asked.scale,
        "data": shown(asked.data),
        "recipe": shown_recipe(asked.recipe),
        "seeds": list(range(asked.seeds)),
        "variants": {variant.label: _variant(outcome, variant) for variant in outcome.variants},
        "effects": [finding.plain() for finding in outcome.findings],
        "notes": list(claim.notes),
    }
    write_json(path, record)


def _variant(outcome: Reproduction, variant: Variant) -> dict[str, Any]:
    own = [training for training in outcome.trainings if training.variant == variant.label]
    return {
        "recipe": shown_recipe(outcome.claim.recipe(variant, outcome.asked.recipe)),
        "changes": list(variant.changes),
        "trainings": [training.key for training in own],
        "seconds": [None if t.seconds is None else round(t.seconds, 1) for t in own],
        "metrics": outcome.metrics[variant.label],
        "paper": dict(outcome.claim.paper(variant.values)),
    }
