"""Ending a run at a chosen point, as a machine that loses power does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from unshortcut.methods.method import Method
from unshortcut.training import pretraining


class KilledError(BaseException):
    """Ends a run at once; unlike a signal, nothing is saved."""


def in_step(epochs: int, step: int) -> tuple[Any, str, Callable[..., Any]]:
    """Kill a training of so many epochs before one of its batches."""
    start = Method.on_train_batch_start

    def stop(method: Method, batch: Any, batch_idx: int) -> None:
        start(method, batch, batch_idx)
        if method.training_context.schedule.epochs == epochs and int(method.batches_seen) == step:
            raise KilledError

    return Method, "on_train_batch_start", stop


def before(name: str) -> tuple[Any, str, Callable[..., Any]]:
    """Kill a run before it calls a function."""

    def stop(*_: object, **__: object) -> None:
        raise KilledError

    return pretraining, name, stop


@contextmanager
def killed(where: tuple[Any, str, Callable[..., Any]]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*where)
        with pytest.raises(KilledError):
            yield
