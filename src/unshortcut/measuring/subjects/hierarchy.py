"""Classes of classes: a file that gives each fine class its coarse one."""

from pathlib import Path

from unshortcut.errors import UsageError
from unshortcut.measuring.subjects.class_names import two_columns


def read_hierarchy(path: str | Path) -> dict[str, str]:
    """Fine class to coarse class: a file of two columns (CSV or TSV), a line for a fine class."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the hierarchy '{path}' cannot be read: {error}") from None
    found: dict[str, str] = {}
    for fine, coarse in two_columns(text, path):
        if fine in found:
            raise UsageError(
                f"the hierarchy '{path}' has '{fine}' twice, of '{found[fine]}' and of '{coarse}': "
                "a fine class has one line"
            )
        found[fine] = coarse
    return found
