"""JUnit XML: what CI systems read of an audit."""

from pathlib import Path
from xml.etree import ElementTree

from tests.auditing.test_requirements import Share, findings
from unshortcut.auditing.findings import Entry
from unshortcut.auditing.requirements import Requirement, check_requirements
from unshortcut.report.junit import junit_xml, write_junit

ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
    "system-out": set(),
}
"""Attributes that all readers of the format know, by element."""
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "error", "skipped", "system-out"},
}
FOUND = findings(
    good=Entry("done", Share(0.4), seconds=1.5),
    bad=Entry("done", Share(0.2), seconds=2.0),
    broken=Entry("failed", reason="it fell <down> \x00 & out"),
    other=Entry("not applicable", reason="no labels"),
)
RESULTS = check_requirements([Requirement.parse("half>=0.3")], FOUND)


def parsed() -> ElementTree.Element:
    return ElementTree.fromstring(junit_xml(FOUND, RESULTS).encode())


def test_one_case_per_requirement_and_model_and_per_measurement_and_model() -> None:
    requirements, measurements = parsed()
    assert [(one.get("classname"), one.get("name")) for one in requirements] == [
        (model, "half>=0.3") for model in ("good", "bad", "broken", "other")
    ]
    outcomes = {one.get("classname"): [child.tag for child in one] for one in requirements}
    assert outcomes == {
        "good": ["system-out"], "bad": ["failure"], "broken": ["failure"], "other": ["failure"],
    }  # fmt: skip
    outcomes = {one.get("classname"): [child.tag for child in one] for one in measurements}
    assert outcomes == {"good": [], "bad": [], "broken": ["error"], "other": ["skipped"]}


def test_failures_have_the_numbers_and_errors_the_reason() -> None:
    requirements, measurements = parsed()
    failure = requirements[1].find("failure")
    assert failure is not None
    assert failure.get("message") == "not met: half is 0.2 (0.3 to 0.5)"
    error = measurements[2].find("error")
    assert error is not None
    assert error.text == "it fell <down> \N{REPLACEMENT CHARACTER} & out"


def test_counts_and_times_are_those_of_the_cases() -> None:
    root = parsed()
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "time")} == {
        "tests": "8", "failures": "3", "errors": "1", "time": "3.500",
    }  # fmt: skip
    for suite in root:
        assert int(suite.get("tests", "")) == len(suite)
        for tag, key in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(key, "")) == len(suite.findall(f"testcase/{tag}"))


def test_elements_and_attributes_are_those_of_the_common_schema() -> None:
    for parent in parsed().iter():
        assert set(parent.attrib) == ATTRIBUTES[parent.tag]
        assert {child.tag for child in parent} <= CHILDREN.get(parent.tag, set())


def test_without_requirements_there_are_the_measurements_alone(tmp_path: Path) -> None:
    write_junit(tmp_path / "audit.xml", FOUND, [])
    (suite,) = ElementTree.parse(tmp_path / "audit.xml").getroot()
    assert (suite.get("name"), suite.get("tests")) == ("measurements", "4")
