"""The functions behind `unshortcut filter` and `unshortcut texturize`."""

from pathlib import Path
from typing import Any

from rich.console import Console

from unshortcut.build.copy_settings import CopySettings
from unshortcut.build.encoding import OutputFormat
from unshortcut.build.operation import Operation, make_operation
from unshortcut.build.run import BuildResult, Engine, build_dataset
from unshortcut.data.naming import Data
from unshortcut.errors import UsageError
from unshortcut.parts import build


def filter_data(
    source: Data,
    destination: str | Path,
    method: str | Operation = "anisotropic",
    *,
    keep_originals: bool = False,
    format: OutputFormat = "keep",
    quality: int = 95,
    seed: int = 0,
    workers: int | None = None,
    engine: Engine = "local",
    address: str | None = None,
    console: Console | None = None,
    **settings: Any,
) -> BuildResult:
    """Copy a data set and apply a filter to each image; the source is never changed.

    Args:
        source: a folder, a tar file of one, shards `x-{000..127}.tar`, or a name. All splits are
            copied unless one is named. Shards become shards, everything else a folder.
        destination: output folder. The same call continues a run that was interrupted.
        method: name of an operation, or an `Operation` of your own.
        keep_originals: also write the originals; the copies are then named `name-METHOD.jpg`.
        format: `keep` writes JPEG for JPEG and PNG for everything else; or `jpeg`, or `png`.
        quality: JPEG quality, 1 to 100.
        seed: random seed of the method. A copy depends on the seed and the image's path only.
        workers: number of processes; by default one per core.
        engine: `local`, or `ray` for a cluster.
        address: address of a running Ray cluster.
        settings: settings of the method, e.g. `iterations=50`.

    Raises:
        UsageError: the request is wrong; nothing has been written.
        RunError: the run ended early.
    """
    if isinstance(method, Operation):
        if settings:
            raise UsageError("settings can only be given with the name of a method")
        operation = method
    else:
        operation = make_operation(method, settings)
    return build_dataset(
        "filter",
        source,
        destination,
        _copy_settings(operation, format, quality, seed, keep_originals),
        workers=workers,
        engine=engine,
        address=address,
        console=console,
    )


def texturize(
    source: Data,
    destination: str | Path,
    *,
    size: int = 224,
    patch: int | None = None,
    keep_originals: bool = False,
    format: OutputFormat = "keep",
    quality: int = 95,
    seed: int = 0,
    workers: int | None = None,
    engine: Engine = "local",
    address: str | None = None,
    console: Console | None = None,
) -> BuildResult:
    """Copy a data set and replace each image by a texture synthesized from two of its patches.

    Args:
        size: side of the textures in pixels.
        patch: side of the patches in pixels; None uses 96, 48 or the whole image, the largest
            that fits.

    The other arguments are those of `filter_data`.
    """
    operation = make_operation("texture", {"size": size, "patch": patch})
    return build_dataset(
        "texturize",
        source,
        destination,
        _copy_settings(operation, format, quality, seed, keep_originals),
        workers=workers,
        engine=engine,
        address=address,
        console=console,
    )


def _copy_settings(
    operation: Operation, format: OutputFormat, quality: int, seed: int, keep_originals: bool
) -> CopySettings:
    values = {
        "operation": operation,
        "format": format,
        "quality": quality,
        "seed": seed,
        "keep_originals": keep_originals,
    }
    return build(CopySettings, values, "the copy's settings")
