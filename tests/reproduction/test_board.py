"""The table that fills while trainings run."""

import io
import json
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from tests.reproduction.registered import RegisteredClaim, pretend
from unshortcut.reproduction.board import Board
from unshortcut.reproduction.overview import claim_status


def test_cells_say_waiting_the_epoch_measuring_or_the_primary_measure(tmp_path: Path) -> None:
    status = claim_status(RegisteredClaim(), tmp_path)
    pretend(status, {"alpha=0": [70.04], "alpha=2": []})
    by_title = {training.title: training for training in status.trainings}
    running, measuring = by_title["alpha=2 seed=0"], by_title["alpha=2 seed=1"]
    for training in (running, measuring):
        training.run.path.mkdir(parents=True)
    running.run.log.write_text(json.dumps({"step": 9, "epoch": 6.5}) + "\n")
    measuring.run.result.write_text("{}")
    board = Board(status.plan)
    rows = list(zip(*(column.cells for column in board.table().columns), strict=True))
    assert rows == [
        ("alpha=0", "70.0", "waiting", "waiting"),
        ("alpha=2", "epoch 7 of 40", "measuring", "waiting"),
    ]
    assert board.summary() == "1 of 6 trainings done"
    running.run.log.write_text(json.dumps({"step": 20, "epoch": 20.0}) + "\n")
    board.update()
    assert "about" in board.summary() and "minutes to go" in board.summary()


def test_without_a_terminal_a_line_is_printed_for_each_training_that_is_done(
    tmp_path: Path,
) -> None:
    status = claim_status(RegisteredClaim(), tmp_path)
    text = io.StringIO()
    plan = replace(status.plan, console=Console(file=text, width=200))
    with Board(plan) as board:
        board.update()
        pretend(status, {"alpha=0": [70.04], "alpha=2": []})
        board.update()
        board.update()
    assert [line.partition(";")[0] for line in text.getvalue().splitlines()] == [
        "0 of 6 trainings done",
        "alpha=0 seed=0: 70.0",
    ]
