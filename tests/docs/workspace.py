"""A place where the blocks of a document run: small data, small settings, a package to add to."""

import importlib
import importlib.util
import re
import shlex
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from PIL import Image

import unshortcut.training
import unshortcut.transfer
from tests.data.parquet import write_parquet
from tests.docs.markdown import ROOT, Block
from unshortcut import discovery
from unshortcut.cli import main as cli
from unshortcut.data.shapes import Shapes, source
from unshortcut.recipes.load import load_recipe
from unshortcut.reproduction.claim import get_claim
from unshortcut.transfer.catalog import list_protocols
from unshortcut.transfer.protocol import load_protocol

SMALL = (
    "schedule.epochs=1",
    "schedule.warmup_epochs=0",
    "data.batch_size=16",
    "data.workers=0",
    "views.size=32",
)
"""What every training in the docs is changed to."""
SMALL_FINETUNING = (
    "schedule.steps=2",
    "schedule.warmup=0",
    "data.batch_size=8",
    "data.workers=0",
    "views.size=32",
)
"""What every fine-tuning in the docs is changed to."""
SMALL_COUNT = 64
"""Images in a split of `shapes`."""
ELSEWHERE = re.compile(
    r"/data/|cifar10|(timm|hf|open_clip):|--devices|--engine ray|^demo\b|^reproduce \S"
)
"""Command lines that need a download, other machines, other processes or minutes: parsed only."""


class Workspace:
    """Runs blocks in the working folder; files that blocks are go to a copy-on-top of the package.

    A file of the package is laid beside it: the folder is added to the `__path__` of its package,
    where discovery looks. So a part that a document adds is found as if it lay in the source tree.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch

    def run(self, block: Block, where: str) -> None:
        """Run a block, or fail; a kind of block that cannot be checked fails too."""
        if block.language == "bash":
            for command in block.commands():
                self.shell(command, where)
        elif block.language == "yaml":
            assert block.path is not None, f"{where}: the first line should name the file"
            if block.path.startswith(".github/workflows/"):
                check_workflow(block.text)
                return
            Path(block.path).write_text(block.text)
            extends = re.search(r"^extends: (\S+)$", block.text, re.M)
            protocol = extends is not None and extends[1] in list_protocols()
            (load_protocol if protocol else load_recipe)(block.path)
        elif block.language == "python" and (block.path or "").startswith("src/unshortcut/"):
            self.add_module(str(block.path), block.text)
        elif block.language == "python":
            code = compile("\n" * (block.line - 1) + block.text, where, "exec")
            names: dict[str, Any] = {"__name__": "docs"}
            exec(code, names)
            for name in [name for name in names if name.startswith("test_")]:
                names[name]()
        else:
            assert block.language == "text", f"{where}: cannot check a '{block.language}' block"

    def shell(self, command: str, where: str) -> None:
        program, *words = shlex.split(command, comments=True)
        if program == "make":
            assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(), re.M), command
        elif program == "python":
            assert words[0] == "-m", command
            assert importlib.util.find_spec(words[1]) is not None, command
        elif program == "torchrun":
            parse(words[words.index("unshortcut") + 1 :])
        else:
            assert program == "unshortcut", f"{where}: cannot check '{command}'"
            parse(words)
            if not ELSEWHERE.search(shlex.join(words)):
                with pytest.raises(SystemExit) as ended:
                    cli.main(words)
                assert ended.value.code == 0, f"{where}: {command}"

    def add_module(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        name = ".".join(Path(path).with_suffix("").parts[1:])
        assert importlib.util.find_spec(name) is None, f"{path} exists already"
        package: Any = importlib.import_module(name.rpartition(".")[0])
        self.monkeypatch.setattr(package, "__path__", [*package.__path__, str(file.parent)])
        self.monkeypatch.setattr(cli.app, "registered_commands", [])
        discovery._modules.cache_clear()
        importlib.invalidate_caches()
        importlib.import_module(name)


def check_workflow(text: str) -> None:
    """Fail where a step of a GitHub workflow runs a command of ours that does not exist."""
    (job,) = yaml.safe_load(text)["jobs"].values()
    lines = [line for step in job["steps"] for line in step.get("run", "").splitlines()]
    commands = [shlex.split(line) for line in lines if line.startswith("unshortcut ")]
    assert commands, "the workflow runs nothing"
    for _, *words in commands:
        parse(words)


def parse(words: list[str]) -> None:
    """Fail where a command, option or claim does not exist, or a recipe or protocol is wrong."""
    cli._add_commands()
    group: Any = typer.main.get_command(cli.app)
    if words[0].startswith("--"):
        group.make_context("unshortcut", [*words])
        return
    given = group.commands[words[0]].make_context(words[0], words[1:]).params
    if words[0] == "finetune" and given["protocol"] is not None:
        assert load_protocol(given["protocol"], given["sets"]).task.name == given["task"]
    if given.get("recipe") is not None:
        load_recipe(given["recipe"], given["sets"])
    if given.get("claim") is not None:
        get_claim(given["claim"])


@contextmanager
def workspace(folder: Path) -> Iterator[Workspace]:
    """A working folder with `photos/`, `photos.tar`, `shards/` and `hub/`, and everything small."""
    modules = set(sys.modules)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("UNSHORTCUT_CACHE", str(folder / "cache"))
        for split in source.COUNTS:
            monkeypatch.setitem(source.COUNTS, split, SMALL_COUNT)
        target = "unshortcut.training.pretraining.pretrain"
        pretrain = importlib.import_module(target.rpartition(".")[0]).pretrain
        monkeypatch.setattr(target, with_small_settings(pretrain))
        of_transfer = importlib.import_module("unshortcut.transfer.finetuning")
        finetune = with_few_steps(of_transfer.finetune)
        monkeypatch.setattr("unshortcut.transfer.finetuning.finetune", finetune)
        _forget_lazy("pretrain", "finetune")
        _write_data(folder)
        yield Workspace(folder, monkeypatch)
    _forget_lazy("pretrain", "finetune")
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
            _forget(name)
    discovery._modules.cache_clear()


def with_small_settings(pretrain: Callable[..., Any]) -> Callable[..., Any]:
    """`pretrain` with `SMALL` after the caller's own changes."""

    def small(recipe: Any, *arguments: Any, sets: Any = (), **options: Any) -> Any:
        sets = [*sets, *SMALL]
        small_recipe = load_recipe(recipe, sets)
        if "img_size" in small_recipe.encoder.options:  # a ViT has one size
            sets.append(f"encoder.options.img_size={small_recipe.views.size}")
        phases = small_recipe.phases
        sets += [f"phases.{phase.name}.schedule.epochs=1" for phase in phases]
        return pretrain(recipe, *arguments, sets=sets, **options)

    return small


def with_few_steps(finetune: Callable[..., Any]) -> Callable[..., Any]:
    """`finetune` with `SMALL_FINETUNING` after the caller's own changes."""

    def small(*arguments: Any, sets: Any = (), **options: Any) -> Any:
        return finetune(*arguments, sets=[*sets, *SMALL_FINETUNING], **options)

    return small


def _forget_lazy(*names: str) -> None:
    """Let lazy packages look names up again, which they keep after their first use."""
    for package in (unshortcut, unshortcut.training, unshortcut.transfer):
        for name in names:
            vars(package).pop(name, None)


def _forget(module: str) -> None:
    package, _, name = module.rpartition(".")
    del sys.modules[module]
    delattr(sys.modules[package], name)


def _write_data(folder: Path) -> None:
    """Drawn photographs: `photos/SPLIT/CLASS/n.jpg`, as a tar file, as shards and as Parquet."""
    for split in ("train", "val"):
        drawn = Shapes(split, size=40, count=48)
        for index in range(len(drawn)):
            path = folder / "photos" / f"{drawn.identity(index)}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(drawn.image(index).pixels()).save(path)
    with tarfile.open(folder / "photos.tar", "w") as archive:
        archive.add(folder / "photos", "photos")
    (folder / "shards").mkdir()
    photos = sorted((folder / "photos" / "train").rglob("*.jpg"))
    for number in range(2):
        with tarfile.open(folder / "shards" / f"train-{number}.tar", "w") as archive:
            for photo in photos[number::2]:
                archive.add(photo, photo.name)
    for split in ("train", "val"):
        photos = sorted((folder / "photos" / split).rglob("*.jpg"))
        names = sorted({photo.parent.name for photo in photos})
        write_parquet(
            folder / "hub" / "data" / f"{split}-00000-of-00001.parquet",
            [photo.read_bytes() for photo in photos],
            [names.index(photo.parent.name) for photo in photos],
            names=names,
        )
