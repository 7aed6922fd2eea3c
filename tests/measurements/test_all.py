"""What holds for every measurement, whichever it is."""

from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import torch
from rich.console import Console

from unshortcut.auditing.findings import Findings
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.auditor import audit
from unshortcut.data.shapes import SHAPE_NAMES, Shapes
from unshortcut.data.source import Joined
from unshortcut.measurements.measurement import measurements
from unshortcut.measuring.exhibits import Plot, Table
from unshortcut.measuring.glance import Axis, TellingPicture
from unshortcut.measuring.plots import color
from unshortcut.models.ball_head import BallHead
from unshortcut.models.load import load_model

ALL = tuple(measurements())
NAMES = tuple(name for name in ALL if name != "weak_slices")
"""Weak slices need more images of a class than the others; they have a test of their own."""
MODEL = "timm:resnet18@random"


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """All measurements of an untrained network, with everything that can be given."""
    folder = tmp_path_factory.mktemp("all")
    hierarchy = folder / "kinds.csv"
    halves = [
        f"{name},{'first' if index < 4 else 'last'}" for index, name in enumerate(SHAPE_NAMES)
    ]
    hierarchy.write_text("\n".join(halves))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNSHORTCUT_CACHE", str(folder / "cache"))
        # Scenes, so that there are boxes, several labels and objects out of context.
        scenes = (Shapes(f"context-{name}", size=32, count=24) for name in ("test", "odd"))
        ball = BallHead(torch.nn.Linear(512, 8), curvature=0.05)
        return audit(
            {"mine": replace(load_model(MODEL, size=32), ball=ball)},
            Joined(*scenes),
            train=Shapes("train", size=32, count=240),
            conflict=Shapes("conflict", size=32, count=32),
            shifts={"sketch": Shapes("sketch", size=32, count=32)},
            hierarchy=hierarchy,
            console=Console(quiet=True),
        ).findings


@pytest.mark.parametrize("name", NAMES)
def test_it_measures_a_model_and_the_result_comes_back_from_json(
    name: str, findings: Findings
) -> None:
    entry = findings.entries[name]["mine"]
    assert entry.status == "done", entry.reason
    assert to_json(from_json(type(entry.result), to_json(entry.result))) == to_json(entry.result)


@pytest.mark.parametrize("name", NAMES)
def test_its_metrics_are_those_that_it_says_it_gives(name: str, findings: Findings) -> None:
    one = findings.measurements[name]
    metrics = one.metrics(findings.entries[name]["mine"].result, None)
    for metric in metrics:
        assert any(fnmatchcase(metric, given) for given in one.gives), metric
    for given in one.gives:
        if "top5" in given:
            continue  # for more than ten classes only
        assert any(fnmatchcase(metric, given) for metric in metrics), given


@pytest.mark.parametrize("name", NAMES)
def test_it_shows_something_of_one_model_and_of_two(name: str, findings: Findings) -> None:
    one, result = findings.measurements[name], findings.entries[name]["mine"].result
    assert one.exhibits({"mine": result}, None)
    assert one.exhibits({"mine": result, "other": result}, result)


def test_at_a_glance_there_are_three_axes_and_three_pictures_even_without_results(
    findings: Findings,
) -> None:
    for with_results in (True, False):
        parts = [
            part
            for name, one in findings.measurements.items()
            for part in one.glance(findings.results(name) if with_results else {})
        ]
        axes = [(one.left, one.right) for one in parts if isinstance(one, Axis)]
        assert axes == [
            ("texture", "shape"), ("local patch", "whole image"), ("detail", "outline"),
        ]  # fmt: skip
        assert len([one for one in parts if isinstance(one, TellingPicture)]) == 3


@pytest.mark.parametrize("name", NAMES)
def test_labels_and_titles_of_columns_begin_with_a_capital(name: str, findings: Findings) -> None:
    one, result = findings.measurements[name], findings.entries[name]["mine"].result
    labels = [metric.label for metric in one.metrics(result, None).values()]
    tables = [shown for shown in one.exhibits({"Mine": result}, None) if isinstance(shown, Table)]
    titles = [column.title for table in tables for column in table.columns]
    for text in labels + titles:
        assert text[0].isupper() or text == "r" or text.startswith("mCE"), text


@pytest.mark.parametrize("name", NAMES)
def test_whatever_it_draws_of_a_model_has_the_models_color(name: str, findings: Findings) -> None:
    one, result = findings.measurements[name], findings.entries[name]["mine"].result
    plots = [
        shown
        for shown in one.exhibits({"first": result, "mine": result}, None)
        if isinstance(shown, Plot)
    ]
    traces = [
        trace
        for plot in plots
        for trace in plot.figure["data"]
        if trace["type"] != "heatmap" and "mine" in trace["name"]
    ]
    assert traces
    for trace in traces:
        assert color("mine") in (
            trace.get("line", {}).get("color"), trace.get("marker", {}).get("color"),
        ), trace["name"]  # fmt: skip


def test_no_two_measurements_share_a_position_or_a_metric() -> None:
    chosen = measurements().values()
    assert len({one.order for one in chosen}) == len(chosen)
    gives = [metric for one in chosen for metric in one.gives]
    assert len(set(gives)) == len(gives)


def test_all_of_the_papers_evaluations_are_there() -> None:
    assert set(ALL) >= {
        "shape_bias", "corruptions", "domain_shift", "frequency", "texture_only", "coarse",
        "invariance", "confidence", "saliency", "transplant", "similarity", "neighbors",
        "scene_norm", "out_of_context",
    }  # fmt: skip


def test_the_verdict_is_a_sentence(findings: Findings) -> None:
    verdict = findings.verdict("mine")
    assert verdict.text.endswith(".")
    assert 0 <= verdict.weight <= 1
    assert verdict.brief.endswith(".") and "%" not in verdict.brief


def test_nothing_of_it_names_the_machine(findings: Findings) -> None:
    assert str(Path.home()) not in repr(findings.to_dict())
