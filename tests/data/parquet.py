"""Parquet files as dataset hubs write them, with images that a test can tell apart."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.data.images import png

NAMES = ("cat", "dog", "fox")
STRUCT = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def metadata(names: Sequence[str] = NAMES) -> dict[bytes, bytes]:
    """What the library `datasets` writes into the schema."""
    label = {"names": list(names), "_type": "ClassLabel"}
    features = {"image": {"_type": "Image"}, "label": label}
    return {b"huggingface": json.dumps({"info": {"features": features}}).encode()}


def write_parquet(
    path: Path,
    images: Sequence[int | bytes | None],
    labels: Sequence[Any] | None,
    *,
    names: Sequence[str] | None = NAMES,
    group: int = 4,
    struct: bool = True,
    column: str = "image",
) -> Path:
    """Write images, given as gray values, bytes or None, in row groups of `group`."""
    contents = [png(one) if isinstance(one, int) else one for one in images]
    stored = pa.array(contents, pa.binary())
    if struct:
        rows = [{"bytes": one, "path": f"{row}.png"} for row, one in enumerate(contents)]
        stored = pa.array(rows, STRUCT)
    columns = {column: stored}
    if labels is not None:
        columns["label"] = labels if isinstance(labels, pa.Array) else pa.array(labels)
    table = pa.table(columns)
    if names is not None:
        table = table.replace_schema_metadata(metadata(names))
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=group)
    return path


def write_hub(root: Path) -> Path:
    """Two files of 10 and 7 training images, one of 4 test images; gray values are the indices."""
    labels = [row % 3 for row in range(17)]
    write_parquet(root / "data/train-00000-of-00002.parquet", range(10), labels[:10])
    write_parquet(root / "data/train-00001-of-00002.parquet", range(10, 17), labels[10:])
    write_parquet(root / "data/validation-00000-of-00001.parquet", range(20, 24), [2, 1, 0, 0])
    return root
