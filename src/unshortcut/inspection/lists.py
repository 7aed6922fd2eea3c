"""What was found image by image, as CSV files: pairs of copies, and labels that may be wrong."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from unshortcut.files import write_text
from unshortcut.inspection.findings import Inspection

COPIES, LABEL_ERRORS = "copies.csv", "label-errors.csv"
_COPY_FIELDS = (
    "first", "first_split", "first_class", "second", "second_split", "second_class", "correlation",
)  # fmt: skip
_ERROR_FIELDS = ("image", "split", "label", "suggested", "margin")


def write_lists(found: Inspection, folder: Path) -> list[Path]:
    """Write the lists to a folder; returns their paths. Labels are listed only with a model."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [_write(folder / COPIES, _COPY_FIELDS, list(copy_rows(found)))]
    if found.model is not None and not isinstance(found.model.label_errors, str):
        written.append(_write(folder / LABEL_ERRORS, _ERROR_FIELDS, list(error_rows(found))))
    return written


def copy_rows(found: Inspection) -> Iterator[dict[str, Any]]:
    """Pairs of copies, the most similar first."""
    collection, copies = found.collection, found.copies
    for pair, correlation in zip(copies.pairs.tolist(), copies.correlations, strict=True):
        row: dict[str, Any] = {}
        for name, number in zip(("first", "second"), pair, strict=True):
            row[name] = collection.identity(number)
            row[f"{name}_split"] = collection.split(number)
            row[f"{name}_class"] = collection.class_name(number)
        yield row | {"correlation": round(float(correlation), 4)}


def error_rows(found: Inspection) -> Iterator[dict[str, Any]]:
    """Labels that are probably wrong, the most certain first."""
    errors = None if found.model is None else found.model.label_errors
    if errors is None or isinstance(errors, str):
        return
    collection = found.collection
    for number, given, suggested, margin in zip(
        errors.numbers.tolist(), errors.given, errors.suggested, errors.margins, strict=True
    ):
        yield {
            "image": collection.identity(number),
            "split": collection.split(number),
            "label": collection.classes[given],
            "suggested": collection.classes[suggested],
            "margin": round(float(margin), 4),
        }


def _write(path: Path, fields: Sequence[str], rows: Sequence[dict[str, Any]]) -> Path:
    text = io.StringIO()
    writer = csv.DictWriter(text, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue().encode("utf-8", "backslashreplace").decode())
    return path
