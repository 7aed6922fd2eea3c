"""Runs a notebook in this process, without a kernel: cells share names, and have a value."""

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class CodeCell:
    """The code of a cell."""

    name: str
    code: str
    outputs: list[Any]


def code_cells(path: Path) -> list[CodeCell]:
    """The cells with code of a notebook in the format that Jupyter writes today."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    return [
        CodeCell(cell["id"], "".join(cell["source"]), cell["outputs"])
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def run(cells: list[CodeCell]) -> Iterator[tuple[str, Any]]:
    """Run cells in order; yields the name of each and the value of its last line, or None."""
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in cells:
        lines = ast.parse(cell.code, cell.name).body
        last = lines.pop() if isinstance(lines[-1], ast.Expr) else None
        exec(compile(ast.Module(lines, []), cell.name, "exec"), names)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), cell.name, "eval"), names)
        yield cell.name, value
