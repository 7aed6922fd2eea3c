"""Saving and stopping: ranks act together, and ruined weights never reach a checkpoint."""

import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist

from tests.ranks import on_ranks
from tests.small import TINY_RECIPE, PlainEncoder
from unshortcut.data.shapes import Shapes
from unshortcut.distributed import any_rank
from unshortcut.errors import InterruptedRunError, RunError
from unshortcut.methods.method import Method
from unshortcut.methods.simclr import SimCLRSettings
from unshortcut.methods.step import StepOutput
from unshortcut.training import safeguards
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.pretraining import pretrain
from unshortcut.training.safeguards import Checkpointing, StepExchange

EPOCH = 8
"""Batches in the epoch of `steps`."""


def steps(rank: int, case: str) -> list[str]:
    """What a rank does in an epoch; in each case only rank 1 has a reason to act at step 3."""
    events: list[str] = []
    method = SimCLRSettings(hidden=8, dim=5).build(PlainEncoder())
    trainer: Any = SimpleNamespace(
        global_step=0,
        num_training_batches=EPOCH,
        max_steps=-1,
        accumulate_grad_batches=1,
        lightning_module=method,
        save_checkpoint=lambda _: events.append(f"saved at {trainer.global_step}"),
    )
    checkpointing = Checkpointing(Path("checkpoint.ckpt"), 1e6, None, "again")
    exchange = StepExchange(checkpointing)
    reduce = dist.all_reduce

    def counted(*arguments: Any, **options: Any) -> Any:
        events.append("exchange")
        return reduce(*arguments, **options)

    dist.all_reduce = counted
    try:
        for batch in range(EPOCH):
            trainer.global_step += 1
            reason = rank == 1 and trainer.global_step == 3
            loss = torch.tensor(float("nan") if reason and case == "divergence" else 1.0)
            method.last = StepOutput(loss, torch.ones(2, 2))
            if reason and case == "signal":
                checkpointing.signals.received = signal.SIGTERM
            checkpointing.seconds = -1.0 if reason and case == "clock" else 1e6
            for callback in (exchange, checkpointing):
                callback.on_train_batch_end(trainer, method, None, None, batch)
    except (InterruptedRunError, RunError) as error:
        events.append(str(error).partition(";")[0])
    finally:
        dist.all_reduce = reduce
    return events


def work(rank: int, world: int) -> dict[str, list[str]]:
    assert any_rank(rank == 1, False, rank == 0) == (True, False, True)
    return {case: steps(rank, case) for case in ("signal", "clock", "divergence")}


def test_two_ranks_save_and_stop_at_the_same_step_with_one_exchange_per_step() -> None:
    first, second = on_ranks(2, work)
    signaled = ["exchange"] * 3 + ["saved at 3", "stopped by SIGTERM after step 3"]
    assert first["signal"] == second["signal"] == signaled
    assert first["clock"] == second["clock"]
    assert first["clock"] == ["exchange"] * 3 + ["saved at 3"] + ["exchange"] * (EPOCH - 3)
    assert first["divergence"] == [
        *["exchange"] * 3,
        "the loss is not finite on another device at step 3",
    ]
    assert second["divergence"] == [*["exchange"] * 3, "the loss is nan at step 3"]


def test_a_signal_after_a_ruined_step_keeps_the_last_good_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third step leaves infinite weights, with a loss that is still finite, and a SIGTERM."""
    backward, exchange = Method.on_after_backward, StepExchange.on_train_batch_end

    def ruined(self: Method) -> None:
        backward(self)
        if int(self.batches_seen) == 3:
            next(p.grad for p in self.parameters() if p.grad is not None).fill_(float("inf"))

    def signaled(self: StepExchange, trainer: Any, *arguments: Any) -> None:
        if trainer.global_step == 3:
            signal.raise_signal(signal.SIGTERM)
        exchange(self, trainer, *arguments)

    monkeypatch.setattr(Method, "on_after_backward", ruined)
    monkeypatch.setattr(safeguards.StepExchange, "on_train_batch_end", signaled)
    sets = ["schedule.epochs=1", "training.checkpoint_steps=2"]
    with pytest.raises(RunError, match=r"no longer finite at step 3; .* of step 2"):
        pretrain(TINY_RECIPE, Shapes("train", size=32, count=160), tmp_path / "run", sets=sets)
    stored = load_checkpoint(tmp_path / "run" / "checkpoint.ckpt")
    assert stored["global_step"] == 2
    assert all(bool(value.isfinite().all()) for value in stored["state_dict"].values())
