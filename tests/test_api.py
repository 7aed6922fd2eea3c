"""The public API: flat, lazy, without clashes, and documented."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import unshortcut
from tests.docs.api_page import PAGE, page, public_names, public_packages

PACKAGES = public_packages()
EXPORTS = [(package, name) for package in PACKAGES for name in public_names(package)]


def test_the_import_is_quick_and_does_not_load_torch() -> None:
    code = (
        "import time; start = time.perf_counter(); import unshortcut, sys; "
        "print(time.perf_counter() - start, 'torch' in sys.modules or 'numpy' in sys.modules)"
    )
    found = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    assert min(float(one.stdout.split()[0]) for one in found) < 0.1
    assert {one.stdout.split()[1] for one in found} == {"False"}


def test_parts_are_imported_from_their_package() -> None:
    from unshortcut.augmentations import AnisotropicDiffusion, ColorJitter
    from unshortcut.imaging import anisotropic_diffusion, synthesize_texture
    from unshortcut.losses import InfoNCE
    from unshortcut.methods import BYOL, LooC, MoCo, SimCLR

    parts = (AnisotropicDiffusion, ColorJitter, InfoNCE, BYOL, LooC, MoCo, SimCLR)
    assert all(inspect.isclass(part) for part in parts)
    assert callable(anisotropic_diffusion) and callable(synthesize_texture)


@pytest.mark.parametrize(
    ("package", "name"), EXPORTS, ids=[f"{p.__name__}.{n}" for p, n in EXPORTS]
)
def test_an_exported_name_can_be_loaded_and_has_a_docstring(package: ModuleType, name: str) -> None:
    exported = getattr(package, name)
    assert inspect.isclass(exported) or inspect.isfunction(exported)
    assert exported.__doc__ and not exported.__doc__.startswith(f"{name}(")
    assert name in dir(package)


@pytest.mark.parametrize("package", PACKAGES, ids=[package.__name__ for package in PACKAGES])
def test_no_exported_name_is_that_of_a_submodule(package: ModuleType) -> None:
    modules = {one.name for one in pkgutil.iter_modules(package.__path__)}
    assert not modules & set(package.__all__)


def test_no_module_has_the_name_of_a_public_function() -> None:
    """Now or later; the command line is exempt, whose files are named by their commands."""
    public = {*unshortcut.__all__, "finetune", "inspect", "fix"}
    folder = Path(unshortcut.__file__).parent
    modules = [path for path in folder.rglob("*.py") if path.parent.name != "cli"]
    assert not public & {path.stem for path in modules}
    assert not public & {path.parent.name for path in modules}


def test_version_and_lists() -> None:
    assert unshortcut.__version__[0].isdigit() and "__version__" in dir(unshortcut)
    assert "moco-v2-shapes" in unshortcut.list_recipes()
    assert unshortcut.list_recipes("byol-sh*") == ["byol-shapes"]
    assert unshortcut.list_protocols("mae-*") == ["mae-vit-b", "mae-vit-h", "mae-vit-l"]
    assert {"moco", "byol", "looc", "simclr"} <= set(unshortcut.list_methods())
    assert {"shape_bias", "corruptions"} <= set(unshortcut.list_measurements())
    assert "color_jitter" in unshortcut.list_augmentations()
    assert "info_nce" in unshortcut.list_losses()
    assert "patch" in unshortcut.list_negatives()
    assert {"linear", "knn"} <= set(unshortcut.list_probes())
    assert "negatives-alpha" in unshortcut.list_claims()
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = unshortcut.no_such_name


def test_the_page_lists_what_is_exported() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.docs.api_page --write"


def test_on_windows_the_import_says_what_to_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ImportError, match="runs on Linux and macOS; on Windows, use WSL"):
        importlib.reload(unshortcut)
