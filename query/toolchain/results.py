"""What test runners report, read: JUnit XML, the JSON of jest and vitest, `go test -json`, libtest's lines, summaries.

Hostile input is no error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from query.toolchain.diagnostics import plain, read_problems
from query.toolchain.model import Counts, Failure, Results
from query.toolchain.places import Places

_MAX_REPORT_BYTES = 64 << 20
_MAX_REPORTS = 5_000
_MAX_FAILURES = 10_000
_MAX_MESSAGE = 4_000

_PLACES = (
    re.compile(r"(?m)^(?P<path>[^\s:][^:\n]{0,1000}):(?P<line>\d{1,9}): "),  # pytest: the last one is nearest
    re.compile(r"(?:\(|at |@)(?P<path>(?:file://)?/[^():\n]{1,1000}):(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))?\)?"),  # frames of JavaScript
    re.compile(r"(?m)^\s*(?P<path>[^\s:][^:\n]{0,1000}):(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))?:? "),
)


def read_results(reads: str, lines: Callable[[], Iterator[str]], reports: Sequence[Path], places: Places) -> Results:
    """What a run of tests came to.

    Args:
        reads: as in the table. lines: of stdout, then of stderr, from their beginning. reports: files that the tool has written.
    """
    if reads == "junit":
        return _junit(reports, places)
    if reads == "jest":
        return _jest(reports, places)
    if reads == "go":
        return _go(lines(), places)
    if reads == "cargo":
        found = _libtest(lines(), places)
        found.problems = list(read_problems("cargo", lines(), places))
        if found.counts is None and not found.unread:
            found.unread = "no test program has printed a summary"
        return found
    return _summary(lines(), places)


def _failure(name: str, message: str, place: tuple[str, int, int]) -> Failure:
    path, line, col = place
    return Failure(test_name=name[:1_000], message=plain(message).strip()[:_MAX_MESSAGE], path=path, line=line, col=col)


# ---- JUnit XML: pytest, node, ctest, Maven, Gradle, Swift


def _junit(reports: Sequence[Path], places: Places) -> Results:
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
            _junit_case(case, found, places)
    if not reports:
        found.counts, found.unread = None, "the tool has written no report"
    elif found.unread:
        found.counts = None
    return found


def _junit_case(case: ElementTree.Element, found: Results, places: Places) -> None:
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
    file, line = case.get("file", ""), case.get("line", "")
    # pytest counts a test's line from 0; no other writer gives one
    own = (places.path(file), int(line) + 1, 0) if line.isdigit() and len(line) < 10 else (places.path(file) if file else "", 0, 0)
    if len(found.failures) < _MAX_FAILURES:
        held = case.get("classname", "")
        held = "" if held in ("test", case.get("name")) else held  # node calls every class so, ctest repeats the name
        name = _node_id(case, file) if file else ".".join(filter(None, (held, case.get("name"))))
        found.failures.append(_failure(name, text, _where(text, own, places)))


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
                found.failures.append(
                    _failure(str(case.get("fullName") or case.get("title")), message, _where(plain(message), own, places))
                )
    if file.get("status") == "failed" and not failed:  # it could not be loaded
        counts.failed += 1
        message = str(file.get("message") or "the file could not be run")
        found.failures.append(_failure(path, message, _where(plain(message), (path, 0, 0), places)))


# ---- Go


def _go(lines: Iterable[str], places: Places) -> Results:
    found = Results(counts=Counts())
    counts = found.counts or Counts()
    output: dict[tuple[str, str], list[str]] = {}
    outcomes: dict[tuple[str, str], str] = {}
    built: list[str] = []
    broken: dict[str, str] = {}
    packages: dict[str, bool] = {}
    for line in lines:
        try:
            event = json.loads(line) if line.startswith("{") else None
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            built.append(line)
            continue
        action, package, test, text = (str(event.get(key, "")) for key in ("Action", "Package", "Test", "Output"))
        if action == "output":
            kept = output.setdefault((package, test), [])
            if len(kept) < 200:
                kept.append(text)
        elif action == "build-output":
            built.append(text.rstrip("\n"))
        elif action in ("pass", "fail", "skip") and test:
            outcomes[package, test] = action
        elif action == "fail":
            packages[package] = True
            if event.get("FailedBuild"):
                broken[package] = "the package or its tests could not be built"
    found.problems = list(read_problems("go", built, places))
    parents = {(package, test.rpartition("/")[0]) for package, test in outcomes if "/" in test}
    for (package, test), outcome in outcomes.items():
        if (package, test) in parents and not (outcome == "fail" and not _child_failed(outcomes, package, test)):
            continue  # its subtests are counted
        counts.passed += outcome == "pass"
        counts.skipped += outcome == "skip"
        if outcome == "fail":
            counts.failed += 1
            found.failures.append(_go_failure(package, test, output.get((package, test), []), places))
    failing = {package for (package, _), outcome in outcomes.items() if outcome == "fail"}
    for package in packages.keys() - failing:  # a build that failed, a panic, TestMain, a race
        text = broken.get(package) or "".join(output.get((package, ""), []))
        unfinished = [test for (other, test) in output if other == package and test and (other, test) not in outcomes]
        name = unfinished[-1] if unfinished else package
        text = "".join(output.get((package, name), [])) + text if unfinished else text
        counts.failed += 1
        found.failures.append(_go_failure(package, name, [text], places))
    return found


def _child_failed(outcomes: dict[tuple[str, str], str], package: str, test: str) -> bool:
    return any(of == package and name.startswith(f"{test}/") and outcome == "fail" for (of, name), outcome in outcomes.items())


_GO_PLACE = re.compile(r"(?m)^\s*(?P<path>[^\s:]+\.go):(?P<line>\d{1,9}):")
_GO_FRAME = re.compile(r"(?m)^\s+(?P<path>/[^\s:]+_test\.go):(?P<line>\d{1,9})")
_GO_NOISE = re.compile(r"(=== (RUN|PAUSE|CONT|NAME)|\s*--- (FAIL|PASS|SKIP):)")


def _go_failure(package: str, test: str, output: Sequence[str], places: Places) -> Failure:
    text = "".join(line for line in "".join(output).splitlines(keepends=True) if not _GO_NOISE.match(line))
    match = next(filter(None, (_GO_PLACE.search(text), _GO_FRAME.search(text))), None)
    place = ("", 0, 0)
    if match:
        place = (_go_path(match["path"], package, places), int(match["line"]), 0)
    return _failure(test, text, place)


def _go_path(name: str, package: str, places: Places) -> str:
    """A test prints the name of its file only; the package's folder is the end of its import path."""
    if "/" in name:
        return places.path(name)
    parts = package.split("/")
    for at in range(len(parts) + 1):
        candidate = "/".join([*parts[at:], name])
        if places.inside(candidate):
            return places.path(candidate)
    return name


# ---- Rust


_LIBTEST = re.compile(r"test (?P<name>.{1,1000}?)(?: - should panic)? \.\.\. (?P<outcome>ok|FAILED|ignored)\b.*")
_SECTION = re.compile(r"---- (?P<name>.{1,1000}) stdout ----")
_TOTAL = re.compile(r"test result: (?:ok|FAILED)\. (?P<passed>\d{1,9}) passed; (?P<failed>\d{1,9}) failed; (?P<ignored>\d{1,9}) ignored;.*")
_PANIC = re.compile(r"panicked at (?P<path>[^:\n]{1,1000}):(?P<line>\d{1,9}):(?P<col>\d{1,9})")
_DOC = re.compile(r"(?P<path>\S+\.rs) - .*\(line (?P<line>\d{1,9})\)")


def _libtest(lines: Iterable[str], places: Places) -> Results:
    found = Results()
    said: dict[str, list[str]] = {}
    failed: list[str] = []
    into: list[str] | None = None
    for line in lines:
        if line.startswith("{"):
            continue
        if match := _TOTAL.fullmatch(line):
            counts = found.counts = found.counts or Counts()
            counts.passed += int(match["passed"])
            counts.failed += int(match["failed"])
            counts.skipped += int(match["ignored"])
            found.failures += [_rust_failure(name, said.get(name, []), places) for name in failed[:_MAX_FAILURES]]
            said, failed, into = {}, [], None
        elif match := _SECTION.fullmatch(line):
            into = said.setdefault(match["name"], [])
        elif line == "failures:":
            into = None
        elif into is not None:
            if len(into) < 500:
                into.append(line)
        elif (match := _LIBTEST.fullmatch(line)) and match["outcome"] == "FAILED":
            failed.append(match["name"])
    if failed:  # it died before its summary
        found.failures += [_rust_failure(name, said.get(name, []), places) for name in failed[:_MAX_FAILURES]]
        found.unread = "a test program ended without its summary"
    return found


def _rust_failure(name: str, said: Sequence[str], places: Places) -> Failure:
    text = "\n".join(said)
    panic, doc = _PANIC.search(text), _DOC.fullmatch(name)
    place = ("", 0, 0)
    if doc:  # what a documentation test says of itself is of the program made from it
        place = (places.path(doc["path"]), int(doc["line"]), 0)
    elif panic:
        path, line = places.path(panic["path"]), int(panic["line"])
        place = (path, line, places.col(path, line, int(panic["col"])))
    return _failure(name, text, place)


# ---- runners that only print: the last summary that we know the form of


_SUMMARIES: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (
        re.compile(r"(?m)^# pass (\d{1,9})\n# fail (\d{1,9})\n(?:# cancelled \d+\n)?(?:# skipped (\d{1,9}))?"),
        ("passed", "failed", "skipped"),
    ),
    (
        re.compile(r"(?m)^ℹ pass (\d{1,9})\nℹ fail (\d{1,9})\n(?:ℹ cancelled \d+\n)?(?:ℹ skipped (\d{1,9}))?"),
        ("passed", "failed", "skipped"),
    ),
    (
        re.compile(r"(?m)^Tests:\s+(?:(\d{1,9}) failed, )?(?:(\d{1,9}) skipped, )?(?:\d+ todo, )?(?:(\d{1,9}) passed, )?\d+ total"),
        ("failed", "skipped", "passed"),
    ),
    (
        re.compile(r"(?m)^\s*Tests\s+(?:(\d{1,9}) failed)?(?: \| )?(?:(\d{1,9}) passed)?(?: \| )?(?:(\d{1,9}) skipped)?.*\(\d+\)"),
        ("failed", "passed", "skipped"),
    ),
    (re.compile(r"(?m)^\s+(\d{1,9}) passing \(.*\)\n(?:\s+\d+ pending\n)?(?:\s+(\d{1,9}) failing)?"), ("passed", "failed")),
    (
        re.compile(r"(?m)^(?:Passed|Failed)!\s+- Failed:\s+(\d{1,9}), Passed:\s+(\d{1,9}), Skipped:\s+(\d{1,9})"),
        ("failed", "passed", "skipped"),
    ),
)
"""TAP and the plain form of node, jest, vitest, mocha, dotnet."""

_TAP = re.compile(r"(?P<indent> *)(?P<not>not )?ok (?P<number>\d+)(?: - (?P<name>.*?))?(?P<skip> # (?:SKIP|TODO)\b.*)?")


def _summary(lines: Iterable[str], places: Places) -> Results:
    found = Results()
    kept = [plain(line) for line in lines]
    text = "\n".join(kept[-2_000:]) + "\n"
    for pattern, names in _SUMMARIES:
        matches = list(pattern.finditer(text))
        if matches:
            numbers = dict(zip(names, (int(number or 0) for number in matches[-1].groups()), strict=True))
            found.counts = Counts(**numbers)
            break
    tap = [match for line in kept if (match := _TAP.fullmatch(line))]
    if found.counts is None and any(re.fullmatch(r"1\.\.\d+.*", line) for line in kept):
        outer = [match for match in tap if not match["indent"]]
        found.counts = Counts(
            passed=sum(not match["not"] and not match["skip"] for match in outer),
            failed=sum(bool(match["not"]) and not match["skip"] for match in outer),
            skipped=sum(bool(match["skip"]) for match in outer),
        )
    for match in [match for match in tap if match["not"] and not match["skip"]][:_MAX_FAILURES]:
        found.failures.append(_failure(match["name"] or match["number"], "", ("", 0, 0)))
    found.problems = list(read_problems("any", kept, places))
    if found.counts is None:
        found.unread = "its output has no summary of a form that is known here, so it cannot be told how many tests ran"
    return found
