"""Real images for tests that want them; where there are none, the test skips with a reason."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def real_data(name: str) -> Path:
    """The path of a file of the real test data, or a skip."""
    folder = Path(os.environ.get("UNSHORTCUT_TEST_DATA", ROOT.parent / "shared" / "data"))
    path = folder / name
    if not path.exists():
        pytest.skip(f"no real test data: {name} is not in the folder UNSHORTCUT_TEST_DATA names")
    return path
