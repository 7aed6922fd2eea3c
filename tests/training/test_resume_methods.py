"""Exact resume with every source of negatives; methods with state of their own test theirs."""

from pathlib import Path

import pytest

from tests.methods.small_runs import assert_resumes_exactly

CASES = {
    "moco, patch and texture": (
        "moco-v2-patch-shapes",
        "method.negatives=[{name: queue, size: 48}, "
        "{name: patch, count: 2, schedule: {kind: linear, first: 0.5}}, "
        "{name: texture, patch: 8, placement: outside}]",
    ),
    "moco, mixed queue and ifm": (
        "moco-v2-shapes",
        "method.negatives=[{name: mixed_queue, size: 48, hardest: 8, mixes: 4, query_mixes: 4}]",
        "method.loss={name: ifm}",
    ),
    "simclr, patch with gradient and hard": (
        "simclr-shapes",
        "method.negatives=[{name: batch}, {name: patch, of: image}]",
        "method.negative_gradient=true",
        "method.loss={name: hard}",
    ),
    "byol, patch and regular": (
        "byol-patch-shapes",
        "method.negatives.regular.alpha=0.1",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_run_that_was_stopped_goes_on_to_the_same_weights(case: str, tmp_path: Path) -> None:
    recipe, *sets = CASES[case]
    assert_resumes_exactly(recipe, tmp_path, sets)
