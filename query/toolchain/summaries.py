"""Runners that only print: the last summary whose form is known, and TAP. Hostile input is no error."""

from __future__ import annotations

import re
from collections.abc import Iterable

from query.toolchain.diagnostics import plain, read_problems
from query.toolchain.model import Counts, Failure, Results
from query.toolchain.places import Places

_MAX_MESSAGE = 4_000
_MAX_FAILURES = 10_000


def failure(name: str, message: str, place: tuple[str, int, int]) -> Failure:
    path, line, col = place
    return Failure(test_name=name[:1_000], message=plain(message).strip()[:_MAX_MESSAGE], path=path, line=line, col=col)


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


def summary(lines: Iterable[str], places: Places) -> Results:
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
        found.failures.append(failure(match["name"] or match["number"], "", ("", 0, 0)))
    found.problems = list(read_problems("any", kept, places))
    if found.counts is None:
        found.unread = "its output has no summary of a form that is known here, so it cannot be told how many tests ran"
    return found
