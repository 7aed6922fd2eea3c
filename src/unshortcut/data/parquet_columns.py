"""Parquet files of images: which columns have the images and the labels, and what these are."""

import hashlib
import json
import struct
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unshortcut.arrays import IndexArray
from unshortcut.data.source import Classes, Labels
from unshortcut.errors import UsageError

_IMAGE_NAMES = ("image", "img", "picture", "photo", "jpg", "jpeg", "png", "webp", "image_bytes")
_LABEL_NAMES = ("label", "fine_label", "labels", "class", "category", "target", "cls")
"""Usual names of columns; an earlier one is preferred."""
_MAX_CLASSES = 1_000_000
_MAGIC = b"PAR1"
NO_LABEL, WRONG_LABEL = -1, -2
"""In the place of a label that is missing, or that no class has."""


@dataclass(frozen=True, eq=False)
class ParquetFile:
    """What the footer of a file says; nothing else of it has been read."""

    path: Path
    image: str
    """The column of images, or of their bytes: `image.bytes`."""
    label: str | None
    classes: Classes
    """Class names in the file's metadata, if any."""
    group_rows: IndexArray
    """(G,): number of rows in each row group."""
    group_bytes: IndexArray
    """(G,): size of the images of each row group, before compression."""
    digest: str
    """Of the footer, which has the offsets, sizes and statistics of all columns."""


def pyarrow_parquet() -> Any:
    """The module `pyarrow.parquet`, or a `UsageError` that says how to install it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise UsageError(
            "Parquet files need pyarrow; install it with: pip install 'unshortcut[parquet]'"
        ) from None
    return pyarrow.parquet


def is_parquet(path: Path) -> bool:
    """Whether a file is named or starts like a Parquet file."""
    if path.suffix == ".parquet":
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def read_footer(path: Path) -> ParquetFile:
    """Read the footer of a file. Raises `UsageError` for a damaged file or one without images."""
    parquet = pyarrow_parquet()
    try:
        metadata = parquet.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        digest = _digest(path)
    except Exception as error:  # the reader can raise almost anything for a damaged file
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else error
        raise UsageError(f"{path} is not a whole Parquet file: {reason}") from None
    features = _features(schema)
    image = _image_column(schema, features, path)
    label = _label_column(schema, features, image, path)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return ParquetFile(
        path,
        image,
        label,
        None if label is None else _class_names(features.get(label)),
        np.array([group.num_rows for group in groups], dtype=np.int64),
        np.array([_size(group, image) for group in groups], dtype=np.int64),
        digest,
    )


def number_labels(
    files: Sequence[ParquetFile], every: Sequence[ParquetFile]
) -> tuple[Classes, Labels]:
    """Classes, and labels of the rows of `files`, which are some of `every`.

    Names without numbers are numbered in alphabetical order over all files, so that labels mean the
    same in each split. A label is `NO_LABEL` or `WRONG_LABEL` where a row has none or one that no
    class has. Without any label, or without labels in `files`, both are None.
    """
    stated = {one.classes for one in files}
    if any(one.label is None for one in files):
        return None, None
    if len(stated) > 1:
        first, other = files[0].path.name, next(f for f in files if f.classes != files[0].classes)
        raise UsageError(f"{first} and {other.path.name} name their classes differently")
    (classes,) = stated
    values = [_read_labels(one) for one in files]
    texts = [isinstance(one, list) for one in values]
    if any(texts) and not all(texts):
        raise UsageError("some files have numbers as labels and others have names")
    if classes is None:
        others = [_read_labels(one) for one in every if one not in files and one.label is not None]
        classes = _occurring([*values, *others])
    if classes is None:
        return None, None
    labels = np.concatenate([_numbers(one, classes) for one in values])
    return (None, None) if (labels == NO_LABEL).all() else (classes, labels)


def _digest(path: Path) -> str:
    """A digest of the footer, whose length is in front of the last four bytes."""
    with path.open("rb") as file:
        file.seek(-8, 2)
        (length,) = struct.unpack("<I", file.read(4))
        file.seek(-8 - length, 2)
        return hashlib.sha256(file.read(length)).hexdigest()


def _features(schema: Any) -> dict[str, Any]:
    """The columns as the library `datasets` describes them in the schema's metadata, if it does."""
    text = (schema.metadata or {}).get(b"huggingface", b"")
    try:
        found = json.loads(text)["info"]["features"]
    except (TypeError, ValueError, KeyError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _image_column(schema: Any, features: dict[str, Any], path: Path) -> str:
    import pyarrow as pa

    def kind(name: str) -> str | None:
        """How a column can be read: '' as bytes, '.bytes' as a struct, None if it cannot."""
        if name not in schema.names:
            return None
        column = schema.field(name).type
        if pa.types.is_binary(column) or pa.types.is_large_binary(column):
            return ""
        if pa.types.is_struct(column) and column.get_field_index("bytes") >= 0:
            inner = column.field("bytes").type
            if pa.types.is_binary(inner) or pa.types.is_large_binary(inner):
                return ".bytes"
        return None

    described = [name for name, one in features.items() if _type(one) == "Image"]
    possible = [name for name in described or schema.names if kind(name) is not None]
    preferred = [name for name in _IMAGE_NAMES if name in possible]
    if not possible or (not described and not preferred and len(possible) > 1):
        named = ", ".join(schema.names) or "none"
        what = "several columns of bytes" if possible else "no column of images"
        raise UsageError(
            f"{path} has {what}: images are the bytes of their files in a column 'image', or in "
            f"the field 'bytes' of it; its columns are {named}"
        )
    chosen = (preferred or possible)[0]
    return f"{chosen}{kind(chosen)}"


def _label_column(schema: Any, features: dict[str, Any], image: str, path: Path) -> str | None:
    import pyarrow as pa

    kinds = (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string)
    described = [name for name in schema.names if _type(features.get(name)) == "ClassLabel"]
    usual = [name for name in _LABEL_NAMES if name in schema.names]
    found = [name for name in _LABEL_NAMES if name in described] or described or usual
    for name in found:
        column = schema.field(name).type
        if pa.types.is_dictionary(column):
            column = column.value_type
        if any(is_kind(column) for is_kind in kinds):
            return name
    if found:
        warnings.warn(
            f"the column '{found[0]}' of {path.name} is not used: labels are numbers or names",
            stacklevel=2,
        )
    return None


def _type(feature: Any) -> str | None:
    return feature.get("_type") if isinstance(feature, dict) else None


def _class_names(feature: Any) -> Classes:
    names = feature.get("names") if isinstance(feature, dict) else None
    return tuple(map(str, names)) if isinstance(names, list) and names else None


def _size(group: Any, image: str) -> int:
    """Bytes of the images of a row group before compression."""
    columns = (group.column(number) for number in range(group.num_columns))
    return sum(int(one.total_uncompressed_size) for one in columns if one.path_in_schema == image)


def _read_labels(file: ParquetFile) -> IndexArray | list[str | None]:
    """The labels of all rows: numbers, with `NO_LABEL` for null, or names."""
    import pyarrow as pa

    assert file.label is not None
    try:
        column = pyarrow_parquet().read_table(file.path, columns=[file.label], use_threads=False)
        column = column.column(0)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not pa.types.is_integer(column.type):
            names: list[str | None] = column.to_pylist()
            return names
        values = column.cast(pa.int64(), safe=False).fill_null(NO_LABEL)
        return np.asarray(values.to_numpy(), dtype=np.int64)
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else error
        raise UsageError(f"the labels of {file.path} cannot be read: {reason}") from None


def _occurring(values: Sequence[IndexArray | list[str | None]]) -> Classes:
    """The classes of labels that are not named: the names that occur, or numbers up to the last."""
    named = {name for one in values if isinstance(one, list) for name in one if name is not None}
    if named:
        return tuple(sorted(named))
    numbers = [int(one.max()) for one in values if not isinstance(one, list) and len(one)]
    last = max(numbers, default=NO_LABEL)
    if last >= _MAX_CLASSES:
        raise UsageError(
            f"labels of Parquet files must be from 0 to {_MAX_CLASSES - 1}, not {last}"
        )
    return tuple(str(number) for number in range(last + 1)) or None


def _numbers(values: IndexArray | list[str | None], classes: Sequence[str]) -> IndexArray:
    if isinstance(values, list):
        index: dict[str | None, int] = {name: number for number, name in enumerate(classes)}
        index[None] = NO_LABEL
        return np.array([index.get(one, WRONG_LABEL) for one in values], dtype=np.int64)
    wrong = (values < NO_LABEL) | (values >= len(classes))
    return np.where(wrong, WRONG_LABEL, values)
