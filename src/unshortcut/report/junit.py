"""An audit as a JUnit XML file, which continuous integration systems show as tests.

Each requirement is one test case per model, and so is each measurement: a requirement that is not
met is a failure, a measurement that failed an error, one that does not apply is skipped.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from unshortcut.auditing.findings import Findings
from unshortcut.auditing.requirements import RequirementResult
from unshortcut.files import write_text

_INVALID = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain."""


def write_junit(path: str | Path, findings: Findings, results: Sequence[RequirementResult]) -> None:
    """Write the file, completely or not at all."""
    write_text(path, junit_xml(findings, results))


def junit_xml(findings: Findings, results: Sequence[RequirementResult]) -> str:
    """The content of the file: a suite of requirements and a suite of measurements."""
    suites = [_measurements(findings)]
    if results:
        suites.insert(0, _requirements(results))
    root = ElementTree.Element("testsuites", name="unshortcut audit")
    root.extend(suites)
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in suites):.3f}")
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _requirements(results: Sequence[RequirementResult]) -> ElementTree.Element:
    cases = []
    for one in results:
        case = _case(one.model, one.requirement.text, 0.0)
        if one.met:
            ElementTree.SubElement(case, "system-out").text = _valid(one.explanation)
        else:
            _outcome(case, "failure", "not met", f"not met: {one.explanation}")
        cases.append(case)
    return _suite("requirements", cases)


def _measurements(findings: Findings) -> ElementTree.Element:
    cases = []
    for name, entries in findings.entries.items():
        for model, entry in entries.items():
            case = _case(model, name, 0.0 if entry.cached else entry.seconds)
            if entry.status == "failed":
                _outcome(case, "error", "failed", entry.reason)
            elif entry.status == "not applicable":
                ElementTree.SubElement(case, "skipped", message=_valid(entry.reason))
            cases.append(case)
    return _suite("measurements", cases)


def _case(model: str, name: str, seconds: float) -> ElementTree.Element:
    attributes = {"classname": _valid(model), "name": _valid(name), "time": f"{seconds:.3f}"}
    return ElementTree.Element("testcase", attributes)


def _outcome(case: ElementTree.Element, tag: str, kind: str, message: str) -> None:
    made = ElementTree.SubElement(case, tag, message=_valid(message), type=kind)
    made.text = _valid(message)


def _suite(name: str, cases: Sequence[ElementTree.Element]) -> ElementTree.Element:
    def count(tag: str) -> str:
        return str(sum(case.find(tag) is not None for case in cases))

    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=count("failure"),
        errors=count("error"),
        skipped=count("skipped"),
        time=f"{sum(float(case.get('time', '0')) for case in cases):.3f}",
    )
    suite.extend(cases)
    return suite


def _valid(text: str) -> str:
    return _INVALID.sub("\N{REPLACEMENT CHARACTER}", text)
