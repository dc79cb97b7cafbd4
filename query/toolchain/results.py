"""What test runners report, read: JUnit XML, the JSON of jest and vitest; see streams.py and summaries.py for what is only printed.

Hostile input is no error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from query.toolchain import java_places
from query.toolchain.diagnostics import plain, read_problems
from query.toolchain.model import Counts, Results
from query.toolchain.places import Places
from query.toolchain.streams import go_test, libtest
from query.toolchain.summaries import failure, summary

_MAX_REPORT_BYTES = 64 << 20
_MAX_REPORTS = 5_000
_MAX_FAILURES = 10_000
_MAX_MESSAGE = 4_000

_PLACES = (
    re.compile(r"(?m)^(?P<path>[^\s:][^:\n]{0,1000}):(?P<line>\d{1,9}): "),  # pytest: the last one is nearest
    re.compile(r"(?:\(|at |@)(?P<path>(?:file://)?/[^():\n]{1,1000}):(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))?\)?"),  # frames of JavaScript
    re.compile(r"(?m)^\s*(?P<path>[^\s:][^:\n]{0,1000}):(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))?:? "),
    re.compile(r"(?m)^(?P<path>/[^:\n]{1,1000}):(?P<line>\d{1,9})$"),  # PHPUnit
)


def read_results(reads: str, lines: Callable[[], Iterator[str]], reports: Sequence[Path], places: Places) -> Results:
    """What a run of tests came to.

    Args:
        reads: as in the table. lines: of stdout, then of stderr, from their beginning. reports: files that the tool has written.
    """
    if reads in ("junit", "surefire"):
        return _junit(reports, places, of_java=reads == "surefire")
    if reads == "jest":
        return _jest(reports, places)
    if reads == "go":
        return go_test(lines(), places)
    if reads == "cargo":
        found = libtest(lines(), places)
        found.problems = list(read_problems("cargo", lines(), places))
        if found.counts is None and not found.unread:
            found.unread = "no test program has printed a summary"
        return found
    return summary(lines(), places)


# ---- JUnit XML: pytest, node, ctest, PHPUnit, Maven, Gradle, Swift


def _junit(reports: Sequence[Path], places: Places, *, of_java: bool) -> Results:
    found = Results(counts=Counts())
    for report in reports[:_MAX_REPORTS]:
        try:
            if report.stat().st_size > _MAX_REPORT_BYTES:
                raise ValueError(f"is larger than {_MAX_REPORT_BYTES} bytes")
            root = ElementTree.fromstring(report.read_bytes())  # noqa: S314 - expat itself bounds entities, and reads no others
        except (OSError, ValueError, ElementTree.ParseError) as error:
            found.unread = f"the report '{report.name}' cannot be read: {error}"
            continue
        for case in root.iter("testcase"):
            _junit_case(case, found, places, of_java=of_java)
    if not reports:
        found.counts, found.unread = None, "the tool has written no report"
    elif found.unread:
        found.counts = None
    return found


def _junit_case(case: ElementTree.Element, found: Results, places: Places, *, of_java: bool) -> None:
    counts = found.counts or Counts()
    failed = case.find("failure")
    failed = case.find("error") if failed is None else failed
    if failed is None:
        skipped = case.find("skipped") is not None or case.get("status") in ("notrun", "disabled")
        counts.skipped += skipped
        counts.passed += not skipped
        return
    counts.failed += 1
    text = "\n".join(dict.fromkeys(filter(None, (failed.get("message"), failed.text or case.findtext("system-out")))))
    if of_java:
        if len(found.failures) < _MAX_FAILURES:
            of_class = case.get("classname", "")
            found.failures.append(
                failure(java_places.selector(of_class, case.get("name", "")), text, java_places.where(text, of_class, places))
            )
        return
    file, line = case.get("file", ""), case.get("line", "")
    # PHPUnit alone tells the class beside the file, and counts a line from 1; pytest counts a test's from 0, and no other writer gives one
    of_php = case.get("class", "") if file else ""
    own = (
        (places.path(file), int(line) + (not of_php), 0) if line.isdigit() and len(line) < 10 else (places.path(file) if file else "", 0, 0)
    )
    if len(found.failures) < _MAX_FAILURES:
        held = case.get("classname", "")
        held = "" if held in ("test", case.get("name")) else held  # node calls every class so, ctest repeats the name
        name = f"{of_php}::{case.get('name', '').partition(' with data set ')[0]}" if of_php else ""
        name = name or (_node_id(case, file) if file else ".".join(filter(None, (held, case.get("name")))))
        found.failures.append(failure(name, text, _where(text, own, places)))


def _node_id(case: ElementTree.Element, file: str) -> str:
    """As pytest calls a test, so that it can be run again: the classes are what the dotted name has behind the module."""
    module = file.removesuffix(".py").replace("/", ".")
    dotted = case.get("classname", "")
    classes = dotted[len(module) + 1 :].split(".") if dotted.startswith(f"{module}.") else []
    return "::".join([file, *classes, case.get("name", "")]) if dotted else file  # a file that could not be imported has no class


def _where(text: str, own: tuple[str, int, int], places: Places) -> tuple[str, int, int]:
    """The line of the test's own file that failed, else of another file of the workspace, else where the test begins."""
    elsewhere = None
    for pattern in _PLACES:
        frames = [match for match in pattern.finditer(text[-200_000:]) if places.inside(match["path"])]
        if pattern is _PLACES[0]:
            frames.reverse()
        for frame in frames:
            path = places.path(frame["path"])
            line, col = int(frame["line"]), int(frame.groupdict().get("col") or 0)
            place = (path, line, places.col(path, line, col))
            if path == own[0]:
                return place
            if elsewhere is None and "node_modules/" not in path:
                elsewhere = place
    return own if own[1] or elsewhere is None else elsewhere


# ---- jest and vitest


def _jest(reports: Sequence[Path], places: Places) -> Results:
    try:
        if not reports or reports[0].stat().st_size > _MAX_REPORT_BYTES:
            return Results(unread="the tool has written no report that can be read")
        report = json.loads(reports[0].read_bytes())
        files = report["testResults"]
        found = Results(counts=Counts())
        for file in files:
            _jest_file(file, found, places)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Results(unread=f"the report cannot be read: {type(error).__name__}: {error}")
    return found


def _jest_file(file: Any, found: Results, places: Places) -> None:
    counts = found.counts or Counts()
    path = places.path(str(file["name"]))
    failed = False
    for case in file["assertionResults"]:
        if case["status"] == "passed":
            counts.passed += 1
        elif case["status"] != "failed":
            counts.skipped += 1
        else:
            failed = True
            counts.failed += 1
            at = case.get("location") or {}
            own = (path, int(at.get("line") or 0), int(at.get("column") or 0))
            message = "\n".join(str(text) for text in case.get("failureMessages") or [])
            if len(found.failures) < _MAX_FAILURES:
                found.failures.append(failure(str(case.get("fullName") or case.get("title")), message, _where(plain(message), own, places)))
    if file.get("status") == "failed" and not failed:  # it could not be loaded
        counts.failed += 1
        message = str(file.get("message") or "the file could not be run")
        found.failures.append(failure(path, message, _where(plain(message), (path, 0, 0), places)))
