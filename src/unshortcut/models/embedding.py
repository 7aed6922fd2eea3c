"""Features of a data set, in memory or in a file (`unshortcut embed`)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from unshortcut.errors import UsageError
from unshortcut.files import atomic_open, write_text
from unshortcut.inference.features import Features
from unshortcut.inference.images import ImagesLike
from unshortcut.models.load import as_model
from unshortcut.models.loaded import ModelLike


def embed(
    model: ModelLike,
    data: ImagesLike,
    out: str | Path | None = None,
    *,
    workers: int | None = None,
    max_unreadable: float | None = None,
    console: Console | None = None,
) -> Features:
    """Compute the features of a data set or of images, and write them to a file if one is given.

    Args:
        model: a spec as in `load_model`, or a loaded model.
        data: a data set or images, as in `LoadedModel.embed`.
        out: an `.npz` file with the arrays `features` (N, D), `identities` (N,) and, if there are
            labels, `labels` (N,) and `classes`; or a `.parquet` file with the columns `identity`,
            `label`, `class` and `features`, which needs pyarrow. Images that could not be read are
            listed with the reasons in a file of the same name that ends in `.unreadable.jsonl`.
        workers, max_unreadable, console: as in `LoadedModel.embed`.
    """
    path = None if out is None else _checked_path(Path(out))
    features = as_model(model).embed(
        data, workers=workers, max_unreadable=max_unreadable, console=console
    )
    if path is not None:
        write_features(features, path)
    return features


def write_features(features: Features, path: Path) -> None:
    """Write features to an `.npz` or `.parquet` file, and a list of unreadable images beside it."""
    _checked_path(path)
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


def _checked_path(path: Path) -> Path:
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
