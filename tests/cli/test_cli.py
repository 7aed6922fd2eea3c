"""The command line as a user meets it: help that teaches, one sentence on an error, exit status."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from PIL import Image

from tests.small import TINY_RECIPE
from unshortcut.cli import main as cli
from unshortcut.cli.embed import command as embed_command
from unshortcut.cli.main import main
from unshortcut.cli.renamed import FLAGS
from unshortcut.embedder import MAP_IMAGES, MOST_MAP_IMAGES
from unshortcut.recipes.catalog import GROUPS

COMMANDS = (
    "advise", "audit", "carriers", "compare", "demo", "embed", "export", "filter", "finetune",
    "fix", "inspect", "neighbors", "pretrain", "probe", "propose", "protocols", "recipes",
    "reproduce", "show", "similarity", "spaces", "subset", "texturize",
)  # fmt: skip


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


def test_help_lists_every_command_and_is_quick() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "unshortcut.cli.main", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert all(command in done.stdout for command in COMMANDS)
    assert " torch\n" not in done.stderr, "help must not wait for torch"


def test_help_has_the_commands_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--help") == 0
    panels = capsys.readouterr().out.split("╭─ ")
    listed = {
        panel.split()[0]: {
            line.split()[1] for line in panel.splitlines()[1:] if line[2:3].isalpha()
        }
        for panel in panels[2:]
    }
    assert list(listed) == ["Train", "Evaluate", "Data", "Papers"]
    assert {"pretrain", "show", "export", "demo"} <= listed["Train"]
    assert {"filter", "texturize"} <= listed["Data"] and {"recipes", "protocols"} <= listed[
        "Papers"
    ]
    assert {name for names in listed.values() for name in names} == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(command, "--help") == 0
    assert command in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--version") == 0
    assert capsys.readouterr().out.strip()[0].isdigit()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pretrain", "moco-v2-shape"], "did you mean 'moco-v2-shapes'"),
        (["pretrain", "moco-v2-shapes", "--data", "nowhere"], "there is no folder 'nowhere'"),
        (["pretrain", "moco-v2-shapes", "--set", "data.batchsize=3"], "'data.batch_size'"),
        (["pretrain", "moco-v2-shapes", "--set", "data.batch_size=100000"], "larger than the data"),
        (["pretrain", "moco-v2-shapes", "--devices", "3"], "multiple of"),
        (["pretrain", "moco-v2-imagenet"], "folder"),
        (["probe", "nowhere", "--data", "shapes"], "'nowhere' is not a model"),
        (["probe", "timm:resnet18@random", "--data", "shapes", "--kind", "knnn"], "'knn'"),
        (["probe", "timm:resnet18@random", "--data", "shapes", "--mean", "1"], "three numbers"),
        (["export", "nowhere"], "no finished run"),
        (["show", "moco-v2-shapes", "--data", "shapes", "--out", "x.txt"], "must be an image file"),
        (["embed", "timm:resnet18@random", "--data", "shapes", "--out", "x.csv"], ".npz"),
        (["embed", "timm:resnet18@random", "--data", "shapes", "--map", "x.png"], ".html"),
    ],
)
def test_a_usage_error_is_one_sentence_and_status_2(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert call(*words) == 2
    said = capsys.readouterr().err
    assert message in said.splitlines()[-1].removeprefix("error: ")
    assert said.count("error: ") == 1 and "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["pretrain", "moco-v2-shapes"],
        ["show", "moco-v2-shapes"],
        ["export", "nowhere"],
        *(
            [command, "nowhere"]
            for command in (
                "probe",
                "embed",
                "audit",
                "similarity",
                "neighbors",
                "spaces",
                "advise",
            )
        ),
        ["reproduce", "negatives-alpha"],
    ],
    ids=" ".join,
)
def test_a_command_says_first_what_it_is_doing(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    data = [] if words[0] == "export" else ["--data", "nowhere-too"]
    assert call(*words, *data) == 2
    first, *rest = capsys.readouterr().err.splitlines()
    assert words[1] in first and first.split()[0].endswith("ing")
    assert rest and "error" in " ".join(rest)


def test_an_unknown_option_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("pretrain", "moco-v2-shapes", "--dta", "x") == 2
    assert "--dta" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["neighbours", "x"], "unknown 'neighbours'; it is called 'neighbors' now"),
        (["filter", "a", "b", "--double"], "'--double'; it is called '--keep-originals' now"),
        (["show", "x", "--data", "y", "--draws=3"], "'--draws'; it is called '--samples' now"),
    ],
)
def test_an_old_name_is_answered_with_the_new_one(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [(command, old, new) for command, flags in FLAGS.items() for old, new in flags.items()],
)
def test_a_renamed_flag_exists_under_its_new_name_only(command: str, old: str, new: str) -> None:
    cli._add_commands()
    group: Any = typer.main.get_command(cli.app)
    known = {flag for parameter in group.commands[command].params for flag in parameter.opts}
    assert new.split()[0] in known and old not in known  # `--profile full` has a value


def test_an_unknown_recipe_is_answered_with_the_nearest_five(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("recipes", "moco-shapes") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "did you mean 'moco-v2-shapes'?" in said
    assert len(said.partition("Nearest of ")[2].split(", ")) == 5


def test_recipes_are_listed_in_groups_and_by_pattern(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("recipes") == 0
    said = capsys.readouterr().out
    assert all(title.partition(":")[0] in said for title in GROUPS.values())
    assert call("recipes", "byol-*") == 0
    said = capsys.readouterr().out
    assert "byol-shapes" in said and "ImageNet-100" in said
    assert "moco" not in said and "CIFAR-10" not in said
    assert call("recipes", "nothing-*") == 2
    assert "no recipe matches 'nothing-*'" in capsys.readouterr().err


def test_the_tables_of_the_papers_are_listed_with_recipes_commands_and_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert call("recipes", "--papers", "dissertation/2.[16]*") == 0
    shown = capsys.readouterr().out
    assert "moco-v2-anisotropic-doubled-imagenet" in shown and "voc_ap50 83.7" in shown
    assert "reproduce label-corruption --scale paper --values p=0.2" in shown
    assert "unshortcut finetune RUN --data voc:/data/VOCdevkit@trainval" in shown
    assert "unshortcut audit RUN --data /data/imagenet --corrupted" in shown
    assert "27 rows: 17 by a recipe, 10 by a command, 0 not yet" in shown
    assert call("recipes", "--papers", "dissertation/9.9") == 2
    assert "did you mean 'dissertation/" in capsys.readouterr().err
    assert call("recipes", "--papers", "--set", "seed=1") == 2


def test_recipes_in_a_folder_without_a_title_are_listed_under_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(GROUPS, "cifar10")
    assert call("recipes", "*-cifar10") == 0
    title, *_, last = capsys.readouterr().out.strip().splitlines()
    assert title.strip() == "cifar10" and last.startswith("└")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["recipes"], 0),
        (["recipes", "--papers"], 0),
        (["recipes", "x"], 2),
        (["reproduce"], 0),
        (["reproduce", "x"], 2),
    ],
)
def test_listings_and_unknown_names_do_not_wait_for_torch(words: list[str], status: int) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "unshortcut.cli.main", *words],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == status
    assert not re.search(r"\| +(torch|numpy)$", done.stderr, re.M)


def test_debug_shows_the_traceback() -> None:
    with pytest.raises(Exception, match="unknown recipe"):
        main(["--debug", "pretrain", "moco-v2-shape"])


def test_from_a_recipe_to_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY_RECIPE))
    sets = ["--set", "schedule.epochs=1", "--set", "data.batch_size=2000"]
    assert (
        call("show", "tiny.yaml", "--data", "shapes", "--out", "sheet.png", "--num-images", "2")
        == 0
    )
    assert Path("sheet.png").stat().st_size > 1000
    assert call("pretrain", "tiny.yaml", "--data", "shapes", "--out", "run", *sets) == 0
    words = ["probe", "run", "--data", "shapes", "--on", "shapes@val", "--kind", "knn"]
    assert call(*words, "--json", "knn.json") == 0
    result = json.loads(Path("knn.json").read_text())
    assert result["command"] == "probe" and result["data"] == "shapes"
    assert 0 < result["metrics"]["val"]["accuracy"] < 100
    assert call("embed", "run", "--data", "shapes@val", "--out", "val.npz", "--workers", "1") == 0
    assert call("export", "run", "--to", "timm") == 0
    assert call("recipes") == 0
    assert call("recipes", "tiny.yaml") == 0
    printed = capsys.readouterr().out
    assert "wrote run/encoder.timm.pt" in printed and "moco-v2-shapes" in printed


def test_embed_writes_what_can_be_read_and_lists_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))
    Path("images").mkdir()
    for number in range(3):
        Image.new("RGB", (20, 20), (90 * number, 0, 0)).save(f"images/{number}.png")
    Path("images/0.png").write_bytes(b"torn")
    Path("images/loop.png").symlink_to("loop.png")
    words = ["embed", "timm:resnet18@random", "--data", "images", "--size", "32"]
    assert call(*words, "--max-unreadable", "0.2") == 2
    assert not Path("features.npz").exists()
    assert "of 4 images cannot be read" in capsys.readouterr().err
    assert call(*words) == 0
    printed = capsys.readouterr().out
    assert "wrote features.npz: 2 images, 512 features each" in printed
    assert "left out 2 unreadable images, listed in features.unreadable.jsonl" in printed
    lines = Path("features.unreadable.jsonl").read_text().splitlines()
    assert [json.loads(line)["identity"] for line in lines] == ["0.png", "loop.png"]
    assert call(*words, "--map", "map.html", "--map-images", "1") == 0
    captured = capsys.readouterr()
    assert "wrote map.html, a map to open in a browser" in captured.out
    assert "The map shows 1 of 2 images, chosen at random (seed 0)." in captured.err
    assert re.search(r'"names":\["[12]\.png"\]', Path("map.html").read_text(encoding="utf-8"))


def test_a_map_has_as_many_images_by_default_as_in_python() -> None:
    options = inspect.signature(embed_command).parameters
    given = options["map_images"].default
    assert (given.default, given.max) == (MAP_IMAGES, MOST_MAP_IMAGES)
