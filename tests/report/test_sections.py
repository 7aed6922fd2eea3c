"""A measurement's part of the page."""

from dataclasses import replace

from tests.report.example import GOOD, findings
from unshortcut.auditing.findings import Entry
from unshortcut.report.sections import command_for, public_command, section


def test_a_part_says_how_many_models_it_has() -> None:
    known = findings()
    statuses = [Entry("failed", reason="a"), Entry("not applicable", reason="b")]
    entries = dict(zip(("a", "b"), statuses, strict=True))
    done = known.entries["shape_bias"][GOOD]

    def status(entries: dict[str, Entry]) -> str:
        return section(replace(known, entries={"shape_bias": entries}), "shape_bias").status

    assert status({GOOD: done}) == "done"
    assert status({GOOD: done, **entries}) == "1 of 3 models"
    assert status(entries) == "failed"
    assert status({"b": entries["b"]}) == "not applicable"
    assert status({}) == "not measured"


def test_a_command_for_one_measurement_replaces_those_that_were_requested() -> None:
    command = "unshortcut audit a --only x --data 'b c' --only=y --require 'z>=0.4'"
    assert (
        command_for(command, "w") == "unshortcut audit a --data 'b c' --require 'z>=0.4' --only w"
    )
    assert command_for("", "w") == ""


def test_a_command_has_no_folder_that_only_its_owner_knows() -> None:
    command = "unshortcut audit /home/me/run.onnx --data ../data --out reports/a.html"
    assert public_command(command) == "unshortcut audit run.onnx --data data --out reports/a.html"
