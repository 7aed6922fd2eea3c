"""The arguments of an audit: one list for Python, for `help` and for the command line."""

import inspect
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from torch import nn

import unshortcut
from unshortcut.auditing.request import OPTIONS, AuditRequest, argument_help, flag_of
from unshortcut.auditing.subjects import load
from unshortcut.cli.audit import command
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.models.embedded import embedded_path
from unshortcut.recipes.load import load_recipe, to_mapping

PYTHON_ONLY = {"console", "command"}


def test_audit_is_a_function_with_documented_arguments() -> None:
    import unshortcut.auditing.run
    import unshortcut.auditor

    assert inspect.isfunction(unshortcut.audit)
    parameters = inspect.signature(unshortcut.audit).parameters
    assert list(parameters) == [one.name for one in fields(AuditRequest)]
    assert parameters["models"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert parameters["seed"].kind is inspect.Parameter.KEYWORD_ONLY
    assert (parameters["profile"].default, parameters["max_images"].default) == ("standard", None)
    documentation = inspect.getdoc(unshortcut.audit)
    assert documentation is not None
    assert "    seed: Random seed for image subsets and for noise.\n" in documentation
    assert all(f"    {name}: " in documentation for name in parameters)


def test_nothing_but_the_command_is_called_audit() -> None:
    package = Path(unshortcut.__file__).parent
    found = [path.relative_to(package) for path in package.rglob("audit*")]
    names = {str(path) for path in found if path.stem == "audit" and path.suffix in ("", ".py")}
    assert names == {"cli/audit.py"}


def test_the_command_line_has_an_option_for_every_argument() -> None:
    parameters = set(inspect.signature(command).parameters)
    assert (
        parameters - {"json", "require", "junit"}
        == {f.name for f in fields(AuditRequest)} - PYTHON_ONLY
    )
    flags = {flag_of(name) for name in OPTIONS}
    assert list(argument_help()) == [one.name for one in fields(AuditRequest)]
    assert {"--shift", "--max-images", "--classifier", "--workers"} <= flags


def test_an_unknown_argument_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="readout"):
        AuditRequest("timm:resnet18", "shapes", readout="knn")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"classifier": "svm"}, "classifier must be one of head, linear, knn, not 'svm'"),
        ({"aggregate": "max"}, "aggregate must be one of mean, sum"),
        ({"severities": "stl10"}, "severities must be one of imagenet, cifar"),
        ({"profile": "fast"}, "profile must be one of quick, standard, full, not 'fast'"),
        ({"max_images": 1}, "max_images must be at least 2, not 1"),
        ({"crop": 1.5}, "crop must be at most 1.0, not 1.5"),
    ],
)
def test_values_are_checked(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        AuditRequest("timm:resnet18", "shapes", **arguments)  # type: ignore[arg-type]


def test_the_closest_command_names_what_differs_from_the_defaults() -> None:
    request = AuditRequest(
        {"a": "/home/me/runs/mine", "b": nn.Identity()},
        Shapes("test", count=8),
        conflict="shapes@conflict",
        shifts={"sketch": "/data/sketches", "drawn": Shapes("sketch", count=8)},
        classifier="knn",
        profile="full",
        seed=3,
        mean=(0.5, 0.5, 0.25),
        classes=("cat", "dog"),
        only=("frequency",),
        workers=2,
    )
    assert request.command_line() == (
        "unshortcut audit mine MODEL --data DATA --conflict shapes@conflict --shift sketches "
        "--shift DATA --profile full --classifier knn --seed 3 --mean 0.5,0.5,0.25 --classes FILE"
    )
    assert AuditRequest("timm:resnet18", "photos").command_line() == (
        "unshortcut audit timm:resnet18 --data photos"
    )


def test_the_summary_names_models_data_and_measurements() -> None:
    request = AuditRequest(["/home/me/run", nn.Identity()], "shapes@test")
    assert request.summary() == "Auditing run, Identity on shapes@test: all measurements"
    request = AuditRequest({"mine": "run"}, Shapes("test", count=8), only="coarse")
    assert request.summary() == "Auditing mine on shapes@test: coarse"


def test_what_is_audited_is_printed_before_torch_is_imported() -> None:
    code = """
import sys
import unshortcut
from rich.console import Console
class Stop(Exception): pass
class Stopping(Console):
    def print(self, *texts, **options):
        raise Stop(texts, [name for name in ("torch", "timm") if name in sys.modules])
try:
    unshortcut.audit("timm:resnet18@random", "shapes", console=Stopping())
except Stop as stop:
    assert stop.args == (("Auditing timm:resnet18@random on shapes: all measurements",), [])
else:
    raise AssertionError("nothing was printed")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


NO_LIGHTNING = """
import sys
from rich.console import Console
import unshortcut
from unshortcut.data.shapes import Shapes
from unshortcut.models.load import load_model

report = unshortcut.audit(
    load_model("timm:resnet10t@random", size=32),
    Shapes("test", size=32, count=40),
    train=Shapes("train", size=32, count=40),
    only=["confidence", "frequency", "neighbors", "similarity"],
    console=Console(quiet=True),
)
assert {one["timm:resnet10t"].status for one in report.findings.entries.values()} == {"done"}
found = [name for name in sys.modules if name.split(".")[0] in ("lightning", "pytorch_lightning")]
assert not found, found[:3]
"""


def test_auditing_a_timm_model_imports_no_lightning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", NO_LIGHTNING], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def test_the_users_preprocessing_takes_the_place_of_a_runs_own(tmp_path: Path) -> None:
    weights = embedded_path("moco-v2-shapes")
    for kind in (".safetensors", ".json"):
        shutil.copy(weights.with_suffix(kind), tmp_path / f"encoder{kind}")
    recipe = to_mapping(load_recipe("moco-v2-40ep-shapes"))
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    own = load("run", tmp_path, AuditRequest(str(tmp_path), "shapes"))
    asked = load("run", tmp_path, AuditRequest(str(tmp_path), "shapes", size=96))
    assert (own.preprocessing.size, asked.preprocessing.size) == (64, 96)
