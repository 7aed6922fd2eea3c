"""Programs are not opened, because opening one executes what its author wrote."""

import re
import zipfile
from pathlib import Path

import pytest
import torch
from torch import nn

from unshortcut.errors import UsageError
from unshortcut.models.load import load_model


def network() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()


@pytest.mark.parametrize("name", ["model.pt", "model.pth", "model.ts"])
@pytest.mark.parametrize("prefix", ["", "timm:resnet18@"])
def test_torchscript_is_refused_by_its_content(tmp_path: Path, prefix: str, name: str) -> None:
    torch.jit.script(network()).save(str(tmp_path / name))
    expected = f"'{name}' is a TorchScript program: .* export the network to ONNX"
    with pytest.raises(UsageError, match=expected):
        load_model(f"{prefix}{tmp_path / name}")


def test_an_exported_program_would_execute_an_expression_and_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If torch stops to evaluate such expressions, this fails, and `.pt2` can be considered."""
    monkeypatch.chdir(tmp_path)
    batch = {0: torch.export.Dim("batch")}
    program = torch.export.export(network(), (torch.zeros(2, 3, 8, 8),), dynamic_shapes=(batch,))
    torch.export.save(program, "plain.pt2")
    attack = "__import__('pathlib').Path('executed').touch()"
    with zipfile.ZipFile("plain.pt2") as plain, zipfile.ZipFile("evil.pt2", "w") as evil:
        for entry in plain.namelist():
            content = plain.read(entry)
            if entry.endswith("models/model.json"):
                text = re.sub(r'"expr_str": ?"[^"]*"', f'"expr_str": "{attack}"', content.decode())
                content = text.encode()
            evil.writestr(entry, content)
    with pytest.raises(UsageError, match=r"a program of torch\.export: opening it would execute"):
        load_model("evil.pt2")
    assert not Path("executed").exists()
    with pytest.raises(Exception):  # noqa: B017 (whatever follows: the expression is evaluated)
        torch.export.load("evil.pt2")
    assert Path("executed").exists()
