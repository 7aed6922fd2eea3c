"""Files about classes: mappings, hierarchies, and lists of names."""

import csv
import json
from pathlib import Path

from unshortcut.data.class_lists import LISTS
from unshortcut.data.wordnet import coarse_classes
from unshortcut.errors import UsageError

_HIERARCHIES = {"cifar100": "cifar100.tsv", "shapes": "shapes.tsv"}
"""Files of `LISTS` that are hierarchies, by the names of their data sets."""


def read_mapping(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Classes of the model (names, or indices from 0) for each class of the data.

    The file has two columns (CSV or TSV), class of the data and class of the model, and may have
    several lines for one class of the data; or it is JSON such as `{"dog": ["beagle", 152]}`.
    """
    path = Path(path)
    text = _read(path, "mapping")
    if path.suffix == ".json":
        return _json_mapping(text, path)
    found: dict[str, list[str]] = {}
    for data_class, model_class in _two_columns(text, path):
        found.setdefault(data_class, []).append(model_class)
    return {name: tuple(members) for name, members in found.items()}


def read_hierarchy(path: str | Path) -> dict[str, str]:
    """Coarse class by fine class: a file with two columns (CSV or TSV), one line per fine class.

    `wordnet` is WordNet's hierarchy of the classes of ImageNet, and `wordnet:dog,bird` has only
    these coarse classes. `cifar100` has the superclasses of CIFAR-100, and `shapes` coarse classes
    of the embedded shapes.
    """
    name, colon, classes = str(path).partition(":")
    if name == "wordnet" and (colon or not Path(name).exists()):
        return coarse_classes([one.strip() for one in classes.split(",") if one.strip()])
    path = Path(path)
    if str(path) in _HIERARCHIES and not path.exists():
        path = LISTS / _HIERARCHIES[str(path)]
    found: dict[str, str] = {}
    for fine, coarse in _two_columns(_read(path, "hierarchy"), path):
        if fine in found:
            raise UsageError(
                f"the hierarchy '{path}' lists '{fine}' twice, under '{found[fine]}' and under "
                f"'{coarse}'; every fine class needs exactly one line"
            )
        found[fine] = coarse
    return found


def read_class_names(path: str | Path) -> tuple[str, ...]:
    """Names of classes, one per line; empty lines are skipped."""
    lines = _read(Path(path), "list of classes").splitlines()
    return tuple(line.strip() for line in lines if line.strip())


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the {what} '{path}' cannot be read: {error}") from None


def _two_columns(text: str, path: Path) -> list[tuple[str, str]]:
    """Rows separated by tabs or commas; empty lines and those that begin with # are skipped."""
    delimiter = "\t" if "\t" in text else ","
    rows = []
    for number, row in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if len(cells) != 2 or not all(cells):
            raise UsageError(f"'{path}', line {number}: expected two columns, got {row}")
        rows.append((cells[0], cells[1]))
    if not rows:
        raise UsageError(f"'{path}' has no line with two columns")
    return rows


def _json_mapping(text: str, path: Path) -> dict[str, tuple[str, ...]]:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise UsageError(f"the mapping '{path}' is not valid JSON: {error}") from None
    form = f"the mapping '{path}' must be an object of lists, such as {{'dog': ['beagle', 152]}}"
    if not isinstance(content, dict) or not content:
        raise UsageError(form)
    found = {}
    for name, members in content.items():
        entries = members if isinstance(members, list) else [members]
        if not entries or not all(type(one) in (str, int) for one in entries):
            raise UsageError(f"{form}; '{name}' has {members!r}")
        found[name] = tuple(str(one) for one in entries)
    return found
