"""What has changed since an earlier audit, and why two audits cannot be compared."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.auditing.test_requirements import Share, findings
from unshortcut.auditing.changes import Change
from unshortcut.auditing.findings import Entry, Findings
from unshortcut.auditing.previous import PreviousAudit, read_previous
from unshortcut.errors import UsageError
from unshortcut.measurements.measurement import Metric
from unshortcut.measuring.settings import Settings
from unshortcut.result import write_result


def written(path: Path, found: Findings) -> PreviousAudit:
    """The audit, written and read back."""
    write_result(path / "audit.json", "audit", metrics=found.to_dict())
    return read_previous(path / "audit.json")


def audited(**shares: float) -> Findings:
    return findings(**{name: Entry("done", Share(share)) for name, share in shares.items()})


def test_a_change_has_an_interval_and_a_direction_where_that_excludes_zero() -> None:
    before = Metric("M", 0.5, 0.4, 0.6, better="lower")
    worse = Change("m", before, Metric("M", 0.8, 0.75, 0.85, better="lower"))
    assert worse.by.value == pytest.approx(0.3)
    assert worse.by.low == pytest.approx(0.3 - math.hypot(0.05, 0.1))
    assert worse.by.high == pytest.approx(0.3 + math.hypot(0.05, 0.1))
    assert worse.direction == "worse"
    assert Change("m", worse.now, before).direction == "better"
    unjudged = Change("m", before, Metric("M", 0.8, 0.75, 0.85))
    assert unjudged.direction == "higher"
    assert Change("m", before, Metric("M", 0.55, 0.4, 0.7, better="lower")).direction == ""
    bare = Change("m", before, Metric("M", 0.9))
    assert bare.by.value == pytest.approx(0.4)
    assert math.isnan(bare.by.low) and bare.direction == ""


def test_models_are_matched_by_name_and_a_single_one_with_a_single_one(tmp_path: Path) -> None:
    previous = written(tmp_path, audited(old=0.4))
    (single,) = _changes(audited(new=0.5), previous)
    assert (single.model, single.before) == ("new", "old")
    assert "compared with 'old', the only model of the previous audit" in single.notes
    assert single.changes[0].by.value == pytest.approx(0.1)
    same, other = _changes(audited(old=0.4, other=0.5), previous)
    assert (same.before, other.before) == ("old", None)
    assert other.notes == ("the previous audit has no model 'other', but 'old'",)


def _changes(found: Findings, previous: PreviousAudit):  # type: ignore[no-untyped-def]
    changes = replace(found, previous=previous).changes
    assert changes is not None
    return changes.models


def test_the_same_audit_twice_has_no_differences_and_other_data_or_settings_are_named(
    tmp_path: Path,
) -> None:
    found = audited(mine=0.4)
    previous = written(tmp_path, found)
    same = replace(found, previous=previous).changes
    assert same is not None and same.differences == ()
    assert [change.by.value for change in same.models[0].changes] == [0]
    other = replace(
        found,
        previous=previous,
        data="theirs",
        settings=Settings("quick", seed=3),
        inputs={"conflict": "stimuli"},
    )
    assert other.changes is not None
    assert [one.text for one in other.changes.differences] == [
        "the previous audit used the data 'mine', and this one 'theirs'",
        "the previous audit used the profile 'standard', and this one 'quick'",
        "the previous audit used a maximum number of images of 2,000, and this one 200",
        "the previous audit used the seed 0, and this one 3",
        "the previous audit used --conflict none, and this one 'stimuli'",
    ]
    grown = replace(found, previous=previous, num_images=11).changes
    assert grown is not None
    assert [one.what for one in grown.differences] == ["data"]
    assert "had 10 images of 'mine', and this one has 11" in grown.differences[0].text


def test_metrics_of_only_one_audit_are_named(tmp_path: Path) -> None:
    previous = written(tmp_path, audited(mine=0.4))
    content = json.loads((tmp_path / "audit.json").read_text())
    metrics = content["metrics"]["models"]["mine"]["metrics"]
    metrics["gone"] = metrics.pop("half")
    (tmp_path / "audit.json").write_text(json.dumps(content))
    (found,) = _changes(audited(mine=0.4), read_previous(tmp_path / "audit.json"))
    assert found.changes == ()
    assert "not in the previous audit: half" in found.notes
    assert "only in the previous audit: gone" in found.notes
    assert "the two audits have no metric of it in common" in found.notes
    assert previous.metrics("mine")["half"].low == 0.3


def test_files_of_version_0_1_have_a_profile_too(tmp_path: Path) -> None:
    written(tmp_path, audited(mine=0.4))
    content = json.loads((tmp_path / "audit.json").read_text())
    content["metrics"]["settings"] = {"full": True, "max_images": 2000, "seed": 0}
    (tmp_path / "audit.json").write_text(json.dumps(content))
    old = read_previous(tmp_path / "audit.json")
    assert old.differences("mine", Settings("full"), {}) == ()
    (profile, limit) = old.differences("mine", Settings(), {})
    assert "the profile 'full', and this one 'standard'" in profile.text
    assert "images of none, and this one 2,000" in limit.text


def test_changes_are_part_of_the_json(tmp_path: Path) -> None:
    previous = written(tmp_path, audited(mine=0.4))
    plain = replace(audited(mine=0.45), previous=previous).to_dict()["changes"]
    assert plain["previous"] == "audit.json"
    assert plain["models"]["mine"]["metrics"]["half"]["difference"] == pytest.approx(0.05)
    assert "changes" not in audited(mine=0.4).to_dict()


@pytest.mark.parametrize("content", ["", "[]", '{"metrics": {"accuracy": 1}}'])
def test_a_file_that_is_no_audit_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(UsageError, match="is not the result of an audit"):
        read_previous(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_previous(tmp_path / "none.json")
