"""Files of features (`unshortcut embed`)."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from unshortcut.errors import UsageError
from unshortcut.files import atomic_open, write_text
from unshortcut.inference.features import Features


def write_features(features: Features, path: Path) -> None:
    """Write features to an `.npz` or `.parquet` file, and a list of unreadable images beside it."""
    checked_path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_open(path) as file:
        if path.suffix == ".npz":
            arrays = {"features": features.values, "identities": np.array(_identities(features))}
            if features.labels is not None:
                arrays |= {"labels": features.labels, "classes": np.array(features.classes)}
            np.savez(file, **arrays)  # type: ignore[arg-type]
        else:
            import pyarrow.parquet

            pyarrow.parquet.write_table(_table(features), file)
    listed = unreadable_path(path)
    if features.unreadable:
        entries = (json.dumps(one._asdict(), ensure_ascii=False) for one in features.unreadable)
        write_text(listed, "".join(f"{entry}\n" for entry in entries))
    else:
        listed.unlink(missing_ok=True)


def unreadable_path(path: Path) -> Path:
    """The file that lists the unreadable images of a file of features."""
    return path.with_suffix(".unreadable.jsonl")


def checked_path(path: Path) -> Path:
    """A path that features can be written to, or a `UsageError`."""
    if path.suffix not in (".npz", ".parquet"):
        raise UsageError(f"features are written to an .npz or .parquet file, not to '{path}'")
    if path.suffix == ".parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise UsageError(
                "a .parquet file needs pyarrow: pip install pyarrow; an .npz file needs nothing"
            ) from None
    return path


def _identities(features: Features) -> list[str]:
    return list(features.identities or map(str, features.indices.tolist()))


def _table(features: Features) -> Any:
    import pyarrow

    values = pyarrow.FixedSizeListArray.from_arrays(
        pyarrow.array(features.values.reshape(-1)), features.values.shape[1]
    )
    columns: dict[str, Any] = {"identity": _identities(features)}
    if features.labels is not None:
        columns["label"] = features.labels
        names = dict(enumerate(features.classes or ()))
        columns["class"] = [names.get(label) for label in features.labels.tolist()]
    return pyarrow.table({**columns, "features": values})
