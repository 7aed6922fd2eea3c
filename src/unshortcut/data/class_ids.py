"""The names of the classes of a data set by the ids that its annotations use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from unshortcut.data.regions import IGNORED
from unshortcut.errors import UsageError
from unshortcut.plain_yaml import PlainLoader

IGNORED_NAMES = frozenset({"ignored", "ignore", "unlabeled", "unlabelled", "void"})
"""Names of ids that are not classes: their pixels do not count."""
_NUMBERED = re.compile(r"(\d+)(?:\s*[:,]\s*|\s+)(\S.*)")


@dataclass(frozen=True)
class ClassIds:
    """Names by id; the classes are numbered from 0 in the order of the ids, which may have gaps.

    Ids in `ignored` and those with a name in `IGNORED_NAMES` are no classes; nor is 255, unless it
    has a name.
    """

    names: Mapping[int, str]
    ignored: frozenset[int] = frozenset()

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.names[one] for one in self._kept())

    @property
    def numbers(self) -> dict[int, int]:
        """The number of the class of each id of a mask, or `IGNORED`."""
        skipped = {IGNORED, *self.names, *self.ignored}
        classes = {one: number for number, one in enumerate(self._kept())}
        return {one: classes.get(one, IGNORED) for one in skipped}

    def _kept(self) -> list[int]:
        return [
            one
            for one, name in sorted(self.names.items())
            if one not in self.ignored and name.lower() not in IGNORED_NAMES
        ]


def read_class_ids(path: Path) -> ClassIds:
    """Read a list of classes. Raises `UsageError`.

    A `.txt` file has one class per line, `NAME` or `ID NAME`; without ids, they count from 0. A
    YAML file has a list or a mapping of ids to names, under the key `names` or `classes` or at the
    top, and may list further ids under `ignored`.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the list of classes {path} cannot be read: {error}") from None
    found = _from_lines(text) if path.suffix == ".txt" else _from_yaml(text, path)
    if not found.classes:
        raise UsageError(f"the list of classes {path} is empty")
    if len(set(found.classes)) < len(found.classes):
        repeated = next(one for one in found.classes if found.classes.count(one) > 1)
        raise UsageError(f"the list of classes {path} has '{repeated}' twice")
    return found


def _from_lines(text: str) -> ClassIds:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    numbered = [_NUMBERED.fullmatch(line) for line in lines]
    if all(numbered):
        return ClassIds({int(match[1]): match[2] for match in numbered if match is not None})
    return ClassIds(dict(enumerate(lines)))


def _from_yaml(text: str, path: Path) -> ClassIds:
    try:
        content: Any = yaml.load(text, Loader=PlainLoader)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"the list of classes {path} is not valid YAML: {reason}") from None
    ignored: Any = ()
    if isinstance(content, dict):
        ignored = content.get("ignored", ())
        content = content.get("names", content.get("classes", content))
    if isinstance(content, list):
        content = dict(enumerate(content))
    if isinstance(ignored, int):
        ignored = (ignored,)
    try:
        names = {int(one): str(name) for one, name in content.items()}
        return ClassIds(names, frozenset(int(one) for one in ignored))
    except (AttributeError, TypeError, ValueError):
        raise UsageError(
            f"the list of classes {path} must map ids to names under the key 'names'"
        ) from None
