"""Encoders that are shipped with the package, trained on the embedded `shapes`.

Each has a card beside its weights in `embedded_weights/`, with its recipe, the command that makes
it again, and the hardware and versions with which that gives the same bits.
"""

from pathlib import Path

from unshortcut.errors import unknown

FOLDER = Path(__file__).parent / "embedded_weights"


def embedded_names() -> tuple[str, ...]:
    """The names of the encoders."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.safetensors")))


def embedded_path(name: str) -> Path:
    """The weights of an encoder."""
    known = embedded_names()
    if name not in known:
        raise unknown("embedded encoder", name, known)
    return FOLDER / f"{name}.safetensors"
