"""ViewContext a data set out of a data set: `unshortcut filter` and `unshortcut texturize`."""

from pathlib import Path
from typing import Any

from rich.console import Console

from unshortcut.build.copying import Copying
from unshortcut.build.encoding import Wanted
from unshortcut.build.opening import Data
from unshortcut.build.operation import Operation, make_operation
from unshortcut.build.run import Engine, Made, make
from unshortcut.errors import UsageError
from unshortcut.parts import build


def filter_data(
    source: Data,
    destination: str | Path,
    method: str | Operation = "anisotropic",
    *,
    double: bool = False,
    format: Wanted = "keep",
    quality: int = 95,
    seed: int = 0,
    workers: int | None = None,
    engine: Engine = "local",
    address: str | None = None,
    console: Console | None = None,
    **settings: Any,
) -> Made:
    """Copy a data set, each image through a filter; the sources are only read.

    Args:
        source: a folder, a tar file of one, shards `x-{000..127}.tar`, or a name; all of its
            splits unless one is named. Shards become shards, everything else a folder.
        destination: a folder; where an earlier run was interrupted, the same call goes on.
        method: a file of the operations folder, or an operation of your own.
        double: keep each original, and its copy beside it as `name-METHOD.jpg`.
        format: `keep` leaves JPEG as JPEG and makes PNG of all else; or `jpeg`, or `png`.
        quality: of JPEG, 1 to 100.
        seed: of what is random in a method; results depend on it and the path, on no order.
        workers: processes; by default one for each core.
        engine: `local`, or `ray` for a cluster.
        address: of the Ray cluster, if there is one already.
        settings: those of the method, e.g. `iterations=50`.

    Raises `UsageError` for what cannot be, `RunError` where it ends too early.
    """
    if isinstance(method, Operation):
        if settings:
            raise UsageError("an operation that is made already takes no further settings")
        operation = method
    else:
        operation = make_operation(method, settings)
    copying = _copying(operation, format, quality, seed, double)
    return make(
        "filter",
        source,
        destination,
        copying,
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
    double: bool = False,
    format: Wanted = "keep",
    quality: int = 95,
    seed: int = 0,
    workers: int | None = None,
    engine: Engine = "local",
    address: str | None = None,
    console: Console | None = None,
) -> Made:
    """Copy a data set, each image as a texture made of two patches of it.

    Args:
        size: the side of the textures in pixels.
        patch: that of the patches; None takes 96, 48 or the whole image, the largest that fits.

    The other arguments are those of `filter_data`.
    """
    operation = make_operation("texture", {"size": size, "patch": patch})
    copying = _copying(operation, format, quality, seed, double)
    return make(
        "texturize",
        source,
        destination,
        copying,
        workers=workers,
        engine=engine,
        address=address,
        console=console,
    )


def _copying(
    operation: Operation, format: Wanted, quality: int, seed: int, double: bool
) -> Copying:
    values = {
        "operation": operation,
        "format": format,
        "quality": quality,
        "seed": seed,
        "double": double,
    }
    return build(Copying, values, "the data set to make")
