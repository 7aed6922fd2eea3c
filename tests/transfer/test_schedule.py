"""Schedules counted in epochs and in steps."""

import pytest

from unshortcut.errors import UsageError
from unshortcut.parts import build
from unshortcut.transfer.schedule import TransferSchedule


def test_steps_are_counted_whatever_the_length_of_an_epoch() -> None:
    schedule = TransferSchedule(steps=24000, kind="step", milestones=[18000, 22000], warmup=100)
    for per_epoch in (7, 1000):
        found = [schedule.factor(step, per_epoch) for step in (0, 50, 100, 17999, 18000, 22000)]
        assert found == pytest.approx([0.01, 0.5, 1, 1, 0.1, 0.01])
    assert schedule.total_steps(7) == 24000


def test_epochs_and_steps_of_the_same_length_agree() -> None:
    by_epoch = TransferSchedule(epochs=10, warmup=2)
    by_step = TransferSchedule(steps=50, warmup=10)
    for step in range(50):
        assert by_epoch.factor(step, 5) == pytest.approx(by_step.factor(step, 5))


def test_poly_falls_with_a_power_of_what_is_left() -> None:
    schedule = TransferSchedule(steps=20000, kind="poly", power=0.9)
    assert schedule.factor(5000, 123) == pytest.approx(0.75**0.9)
    assert schedule.factor(20000, 123) == 0


@pytest.mark.parametrize("kind", ["cosine", "poly"])
def test_a_short_training_is_not_all_warm_up(kind: str) -> None:
    schedule = build(TransferSchedule, {"steps": 20, "warmup": 50, "kind": kind}, "schedule")
    factors = [schedule.factor(step, 3) for step in range(20)]
    assert factors[5] == pytest.approx(0.5)
    assert factors[19] < 0.2 < max(factors)


def test_the_head_is_trained_first() -> None:
    schedule = TransferSchedule(epochs=10, head_first=0.2)
    assert [schedule.trains_encoder(step, 5) for step in (0, 9, 10, 49)] == [
        False, False, True, True,
    ]  # fmt: skip


def test_a_length_has_one_unit_and_the_last_one_stated_counts() -> None:
    assert build(TransferSchedule, {"epochs": 5, "steps": 7}, "schedule").steps == 7
    assert build(TransferSchedule, {"steps": 7, "epochs": 5}, "schedule").epochs == 5
    with pytest.raises(UsageError, match="either epochs or steps"):
        build(TransferSchedule, {}, "schedule")
    with pytest.raises(UsageError, match=r"schedule.milestones is for schedule.kind step"):
        build(TransferSchedule, {"epochs": 5, "milestones": [3]}, "schedule")
