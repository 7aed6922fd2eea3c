"""Files that contain a program, not weights: TorchScript and `torch.export`. None is opened.

`torch.jit.load` compiles and runs code from the file, whose operators can read and write files.
`torch.export.load` evaluates the expressions for sizes in a `.pt2` file as Python, and unpickles
its example inputs.
"""

import zipfile
from pathlib import Path

from unshortcut.errors import UsageError


def refuse_program(path: Path) -> None:
    """Raise `UsageError` if a file is a TorchScript or exported program."""
    kind = _kind(path)
    if kind is not None:
        raise UsageError(
            f"'{path.name}' is {kind}: opening it would execute code from the file, which is "
            "never done; export the network to ONNX instead (torch.onnx.export), or, if you trust "
            "the file, load it in a function of yours, package.module:function"
        )


def _kind(path: Path) -> str | None:
    if not path.is_file():
        return None
    if path.suffix == ".pt2":
        return "a program of torch.export"
    if not zipfile.is_zipfile(path):
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.partition("/")[2] for name in archive.namelist()]
    except (OSError, zipfile.BadZipFile):
        return None  # whoever reads it says what is wrong
    if "archive_format" in names and any(name.startswith("models/") for name in names):
        return "a program of torch.export"
    if "constants.pkl" in names or any(name.startswith("code/") for name in names):
        return "a TorchScript program"
    return None
