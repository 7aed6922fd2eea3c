"""A headless Chromium without network access, for the tests of the page."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.report.example import findings
from unshortcut.report.report import Report

if TYPE_CHECKING:  # only `make test-browser` installs it
    from playwright.sync_api import Browser

_QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    assert path, "no chromium on PATH: `make test-browser` installs it where it can"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_QUIET))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with everything in it."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    Report(findings()).write(path)
    return path
