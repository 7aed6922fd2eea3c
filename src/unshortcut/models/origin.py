"""Libraries and hubs that models are loaded from by `PREFIX:NAME`; one file in `origins/` each."""

import logging
import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import torch
from rich.console import Console

from unshortcut.discovery import find_all
from unshortcut.errors import RunError, UnshortcutError
from unshortcut.models.loaded import LoadedModel


class Origin(ABC):
    """Loads the models whose specs start with its prefix."""

    name: ClassVar[str]
    """The prefix, without the colon."""
    form: ClassVar[str]
    """How its specs are written, for messages."""

    @abstractmethod
    def load(self, spec: str, stated: dict[str, Any]) -> LoadedModel:
        """Load a model.

        Args:
            spec: what follows the colon.
            stated: fields of `Preprocessing` that the user has given; they replace the model's own.
        """


def origins() -> dict[str, type[Origin]]:
    """The origins by prefix."""
    return find_all("unshortcut.models.origins", Origin)  # type: ignore[type-abstract]


@contextmanager
def loading_weights(spec: str, instead: str) -> Iterator[None]:
    """Replace a hub's traceback by one sentence if weights cannot be loaded.

    An untrained model is the same one every time: the seed is fixed.

    Args:
        instead: what the user can do instead, for the end of the sentence.
    """
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            yield
    except UnshortcutError:
        raise
    except Exception as error:
        raise RunError(
            f"the weights of '{spec}' could not be loaded ({first_line(error)}); {instead}"
        ) from error


def announce_hub(spec: str) -> None:
    """Say what is being waited for: a download, or half a minute without a network."""
    text = f"loading {spec} from its hub, or from the cache if it was loaded before"
    Console(stderr=True).print(text, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def quiet(*loggers: str) -> Iterator[None]:
    """Without the messages of libraries: what goes wrong is raised as an error as well."""
    found = [logging.getLogger(name) for name in loggers]
    before = [(logger.level, list(logger.handlers)) for logger in found]
    for logger in found:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, (level, handlers) in zip(found, before, strict=True):
            logger.setLevel(level)
            logger.handlers = handlers  # `logging.warning` adds one to the root


def first_line(error: BaseException) -> str:
    """What is wrong, without advice: the first line of an error's message, or its type."""
    if isinstance(error, pickle.UnpicklingError):
        return "they are not plain tensors, and nothing else is read from a file"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].partition(". ")[0].rstrip(".") if lines else type(error).__name__


def as_folder(text: str) -> Path | None:
    """The path that a spec names if it is written as one or exists; None for a hub's name.

    >>> as_folder("google/vit-base-patch16-224") is None
    True
    """
    path = Path(text).expanduser()
    is_path = text.startswith(("/", "./", "../", "~")) or text in (".", "..") or path.exists()
    return path if is_path else None
