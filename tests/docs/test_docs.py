"""The documentation runs: every command line and every Python block of it, with small settings."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.docs.markdown import DOCUMENTS, ROOT, anchors, blocks, links
from tests.docs.workspace import workspace


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_block_runs_in_order(document: Path, tmp_path: Path) -> None:
    with workspace(tmp_path) as place:
        for block in blocks(document):
            place.run(block, f"{document.name}:{block.line}")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    for link in links(document):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        assert target.exists(), f"{document.name} links to {link}"
        assert not anchor or anchor in anchors(target), f"{document.name} links to {link}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_no_figure_is_left_open(document: Path) -> None:
    assert not re.findall(r"@[A-Z_]+@", document.read_text(encoding="utf-8"))


def test_the_command_runs_in_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "unshortcut.cli.main", "recipes", "moco-v2-shapes"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "name: shapes" in ended.stdout
