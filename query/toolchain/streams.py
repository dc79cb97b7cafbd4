"""Results that stand in the output itself: `go test -json`, and the lines of libtest, which `cargo test` runs.

Hostile input is no error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from query.toolchain.diagnostics import read_problems
from query.toolchain.model import Counts, Failure, Results
from query.toolchain.places import Places
from query.toolchain.summaries import failure

_MAX_FAILURES = 10_000


# ---- Go


def go_test(lines: Iterable[str], places: Places) -> Results:
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
    return failure(test, text, place)


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


def libtest(lines: Iterable[str], places: Places) -> Results:
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
    return failure(name, text, place)
