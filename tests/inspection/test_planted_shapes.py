"""Every cue that can be planted in `shapes` is found, and clean shapes raise hardly an alarm."""

import pytest
from rich.console import Console

from unshortcut import inspect_data, open_data
from unshortcut.inspection.report import InspectionReport

COUNT = 320
QUIET = Console(quiet=True)


def inspected(spec: str) -> InspectionReport:
    return inspect_data(open_data(spec, count=COUNT), console=QUIET)


def test_a_quality_by_class_is_an_alarm() -> None:
    properties = inspected("jpeg=1:shapes@test").findings.properties
    assert not isinstance(properties, str)
    assert "jpeg_quality" in [one.about.name for one in properties.alarms]


def test_a_tint_tells_the_class_and_is_no_alarm() -> None:
    """On `paired`, where textures say nothing of the shape, so colors do not either."""

    def telling(spec: str) -> set[str]:
        found = inspected(spec).findings
        assert not isinstance(found.properties, str) and found.metrics()["alarms"] == 0
        return {one.about.name for one in found.properties.of("content") if one.significant}

    assert telling("tint=1:shapes@paired-test")
    assert not telling("shapes@paired-test")


def test_copies_of_another_split_are_found() -> None:
    planted = open_data("duplicates=0.1:shapes@test", count=COUNT)
    against = open_data("shapes@train", count=6000)
    found = inspect_data(planted, against=against, console=QUIET).findings
    copies = int(planted.carriers.sum())  # type: ignore[attr-defined]
    assert copies > 10
    assert found.metrics()["leaked_images"] == pytest.approx(copies, abs=0.2 * copies)


def test_wrong_labels_are_listed_with_an_encoder_of_the_package() -> None:
    planted = open_data("wrong-labels=0.1:shapes@test", count=COUNT)
    wrong = {
        planted.identity(row)
        for row in planted.carriers.nonzero()[0].tolist()  # type: ignore[attr-defined]
    }
    model = inspect_data(planted, "embedded", console=QUIET).findings.model
    assert model is not None and not isinstance(model.label_errors, str)
    listed = {planted.identity(int(row)) for row in model.label_errors.numbers}
    assert len(listed & wrong) > 0.6 * len(wrong)
    assert len(listed - wrong) < 0.5 * len(wrong)


def test_ten_clean_seeds_raise_at_most_one_alarm() -> None:
    alarms = [
        inspect_data(
            open_data("shapes@test", count=160, seed=seed), console=QUIET
        ).findings.metrics()["alarms"]
        for seed in range(10)
    ]
    assert sum(alarms) <= 1
