"""The protocols that come with the package: settings of the papers, their rows, and the listing."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
import yaml

from tests.docs.markdown import ROOT, tables
from tests.docs.protocol_table import rows
from tests.transfer.made import tiny_model
from unshortcut.augmentations import HorizontalFlip, RandomErasing, TimmRandAugment
from unshortcut.cli.main import main
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.recipes.paper_files import read_papers
from unshortcut.recipes.papers import paper_tables
from unshortcut.transfer.catalog import GROUPS, list_protocols, protocol_infos, protocol_path
from unshortcut.transfer.finetuning import finetune
from unshortcut.transfer.parameters import set_drop_path
from unshortcut.transfer.protocol import Protocol, load_protocol, show_protocol

PAPERS = [name for name in list_protocols() if load_protocol(name).paper is not None]


@pytest.mark.parametrize("name", list_protocols())
def test_a_protocol_loads_for_its_task_and_has_a_summary(name: str) -> None:
    protocol = load_protocol(name, size=96)
    assert protocol.summary and protocol.task.name
    assert protocol_path(name).parent.name in GROUPS
    assert protocol.task.dense == (protocol.task.name in ("detect", "segment"))
    assert not [k for k in protocol.schedule.milestones if k >= length(protocol)]


def length(protocol: Protocol) -> int:
    """Steps or epochs, the unit of milestones."""
    return protocol.schedule.steps or protocol.schedule.epochs or 0


def test_every_protocol_is_in_the_table_of_the_documentation() -> None:
    found = tables(ROOT / "docs" / "transfer.md")["Protocols"]
    assert found == rows(), "python -m tests.docs.protocol_table prints the table"


def test_detection_is_that_of_moco() -> None:
    protocol = load_protocol("voc-detection-c4")
    schedule, task = protocol.schedule, protocol.task
    assert (schedule.steps, schedule.milestones, schedule.warmup) == (24000, [18000, 22000], 100)
    assert (protocol.optimizer.lr, protocol.data.batch_size) == (0.02, 16)
    assert getattr(task, "network", None) == "c4" and protocol.training.sync_batch_norm
    resize = protocol.views.augmentations[0]
    sizes = getattr(resize, "sizes", ())
    assert (min(sizes), max(sizes), protocol.views.size) == (480, 800, 800)


def test_classification_of_voc_is_carons_with_90000_iterations() -> None:
    protocol = load_protocol("voc07-classification")
    assert (protocol.schedule.steps, protocol.optimizer.lr) == (90000, 0.003)
    assert (protocol.data.batch_size, protocol.optimizer.weight_decay) == (16, 1e-6)
    assert protocol.training.gradient_clip == 10 and protocol.task.crops == 10
    crop = protocol.views.augmentations[0]
    assert (getattr(crop, "scale", 0), getattr(crop, "ratio", 0)) == ((0.1, 0.5), (1, 1))
    caron = load_protocol("voc07-caron").schedule
    for schedule in (protocol.schedule, caron):
        for step in (0, 4999, 5000, 42000, 79999):
            assert schedule.factor(step, 300) == 0.5 ** (step // 5000)
    assert caron.steps == 80000


def test_segmentation_is_that_of_densecl_and_of_the_dissertation() -> None:
    densecl, dissertation = map(load_protocol, ("voc-segmentation-fcn", "voc12-segmentation"))
    assert (densecl.schedule.steps, densecl.schedule.epochs) == (20000, None)
    assert (dissertation.schedule.steps, dissertation.schedule.epochs) == (None, 30)
    for one in (densecl, dissertation):
        assert (one.optimizer.lr, one.optimizer.weight_decay) == (0.01, 5e-4)
        task = one.task
        stated = [getattr(task, key) for key in ("channels", "aux_weight", "output_stride")]
        assert stated == [512, 0.4, 8]
    assert densecl.schedule.factor(5000, 100) == pytest.approx(0.75**0.9)


@pytest.mark.parametrize(
    ("name", "epochs", "base", "decay", "drop"),
    [
        ("mae-vit-b", 100, 5e-4, 0.65, 0.1),
        ("mae-vit-l", 50, 1e-3, 0.75, 0.2),
        ("mae-vit-h", 50, 1e-3, 0.75, 0.3),
    ],
)
def test_fine_tuning_is_that_of_mae(
    name: str, epochs: int, base: float, decay: float, drop: float
) -> None:
    protocol = load_protocol(name)
    assert (protocol.schedule.epochs, protocol.schedule.warmup) == (epochs, 5)
    assert protocol.data.batch_size == 1024
    assert protocol.optimizer.lr == pytest.approx(base * 1024 / 256)
    assert (protocol.optimizer.name, protocol.optimizer.weight_decay) == ("adamw", 0.05)
    assert (protocol.train.layer_decay, protocol.train.drop_path) == (decay, drop)
    assert not protocol.optimizer.decay_norm_and_bias and not protocol.optimizer.decay_embeddings
    task = protocol.task
    stated = [getattr(task, key) for key in ("mixup", "cutmix", "label_smoothing", "head_std")]
    assert stated == [0.8, 1.0, 0.1, 2e-5]
    assert (protocol.views.size, protocol.views.crop_share) == (224, 0.875)
    crop, flip, operations, erasing = protocol.views.augmentations
    assert (crop.name, getattr(crop, "scale", None)) == ("random_resized_crop", (0.08, 1))
    assert flip == HorizontalFlip(p=0.5)
    assert operations == TimmRandAugment("rand-m9-mstd0.5-inc1", interpolation="bicubic")
    assert erasing == RandomErasing(p=0.25, scale=(0.02, 1 / 3), fill="noise")


def test_other_settings_that_the_papers_state() -> None:
    linear = load_protocol("openimages-linear")
    assert (linear.optimizer.lr, linear.schedule.epochs) == (30, 100)
    assert linear.schedule.milestones == [60, 80] and linear.train.encoder == "none"
    detection = load_protocol("voc07-detection")
    assert (detection.optimizer.lr, detection.schedule.epochs) == (0.001, 10)
    fractions = [load_protocol(f"labels-{n}-percent").data.fraction for n in (1, 10)]
    assert fractions == [0.01, 0.1]


def test_a_protocol_names_exactly_the_tables_whose_columns_it_measures() -> None:
    names = {key: paper.name for key, paper in read_papers().items()}
    measured: dict[str, set[str]] = {}
    for table in (one for one in paper_tables() if one.repeats is None):
        for column in table.columns:
            match = re.search(r"finetune .*--protocol (\S+)", column.command or "")
            if match is not None:
                measured.setdefault(match[1], set()).add(f"{names[table.paper]}, {table.name}")
    assert set(measured) == set(PAPERS)
    for name, found in measured.items():
        paper = load_protocol(name).paper
        assert paper is not None and stated_places(paper.where) == found, name


def stated_places(where: str) -> set[str]:
    """`paper, table N` for each table of a text such as `paper, tables 1 and 2; paper, …`."""
    found = set()
    for clause in where.split("; "):
        match = re.fullmatch(r"(.+?), (table|section)s? (.+)", clause)
        assert match is not None, where
        found |= {f"{match[1]}, {match[2]} {one}" for one in re.split(r", | and ", match[3])}
    return found


def test_sizes_follow_the_model_and_are_left_out_where_none_is_known() -> None:
    crop = load_protocol("detect", size=64).views.augmentations[0]
    assert getattr(crop, "size", None) == 128, "twice the model's"
    assert load_protocol("detect", ["views.size=640"], size=64).views.size == 640
    shown = yaml.safe_load(show_protocol("detect"))
    assert shown["views"]["size"] is None and "size" not in shown["views"]["augmentations"][0]
    assert load_protocol(shown, size=64) == load_protocol("detect", size=64)
    stated = yaml.safe_load(show_protocol("classify", ["views.size=32"]))
    assert stated["views"]["augmentations"][0]["size"] == 32


def test_stochastic_depth_is_that_of_timm() -> None:
    options = {"depth": 4, "embed_dim": 16, "num_heads": 2, "img_size": 32, "patch_size": 8}
    encoder = Encoder(EncoderSettings(name="vit_tiny_patch16_224", options=options))
    built = timm.create_model("vit_tiny_patch16_224", num_classes=0, drop_path_rate=0.3, **options)
    built.load_state_dict(encoder.model.state_dict())
    set_drop_path(encoder, 0.3)
    images = torch.rand(8, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    outputs = []
    for network in (encoder.train(), built.train()):
        torch.manual_seed(1)
        outputs.append(network(images))
    torch.testing.assert_close(*outputs)
    assert not torch.equal(outputs[0], encoder.eval()(images)), "blocks were skipped"
    with pytest.raises(UsageError, match=r"train\.drop_path is for ViTs"):
        set_drop_path(Encoder(EncoderSettings(name="resnet18")), 0.1)


def test_the_listing_is_by_group_and_does_not_wait_for_torch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    command = [sys.executable, "-X", "importtime", "-m", "unshortcut.cli.main", "protocols"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    places = [done.stdout.index(f" {info.name} ") for info in protocol_infos()]
    assert places == sorted(places)
    assert done.stdout.index(GROUPS["default"]) < places[0]
    assert " torch\n" not in done.stderr


def test_the_command_shows_one_protocol_or_says_which_is_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def call(*words: str) -> tuple[object, str]:
        with pytest.raises(SystemExit) as stopped:
            main(["protocols", *words])
        said = capsys.readouterr()
        return stopped.value.code, said.out + said.err

    code, shown = call("labels-1-percent", "--set", "data.fraction_seed=3")
    assert code == 0 and "fraction_seed: 3" in shown and "weight_decay: 0.0" in shown
    code, said = call("voc07-detections")
    assert code == 2 and "did you mean 'voc07-detection'" in said
    code, said = call("xyz*")
    assert code == 2 and "no protocol matches" in said


@pytest.mark.parametrize("task", ["classify", "multilabel", "detect", "segment"])
def test_the_default_of_a_task_trains_on_drawn_scenes(task: str, tmp_path: Path) -> None:
    split = "" if task == "classify" else "scene-"
    train = Shapes(f"{split}train", size=48, count=10)
    tests = {"test": Shapes(f"{split}test", size=48, count=4)}
    sets = ["schedule={steps: 2, head_first: 0.5}", "data.workers=0", "data.batch_size=4"]
    sets += ["data.validation=0.2"]
    if task == "detect":  # as many regions as there are by default would take seconds
        sets += ["task.proposals=8", "task.train_proposals=8", "task.region_samples=8"]
        sets += ["task.channels=8", "task.hidden=16"]
    run = finetune(tiny_model(tmp_path), train, task, tmp_path / "run", tests=tests, sets=sets)
    assert all(np.isfinite(value) for value in run.metrics.values())
    size = yaml.safe_load((run.folder / "protocol.yaml").read_text())["views"]["size"]
    assert size == (48 if task in ("detect", "segment") else 24)
