"""What compilers and checkers print, read: lines with a path, a line and a message, or JSON. Pure; hostile input is no error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from indexer.lsp.decode import Range
from query.toolchain.model import Problem, Severity
from query.toolchain.places import Places

MAX_LINE = 20_000
_MAX_MESSAGE = 4_000
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

_PATH = r"(?P<path>(?:[A-Za-z]:)?[^\s:()'\"][^:()'\"]{0,1000}?)"
_GCC = re.compile(
    rf"{_PATH}:(?P<line>\d{{1,9}})(?::(?P<col>\d{{1,9}}))?:\s*"
    r"(?P<severity>fatal error|error|warning)(?:\[(?P<code>[\w.-]+)\])?:?\s+(?P<message>.+)"
)
_GO = re.compile(rf"(?:vet: )?{_PATH}:(?P<line>\d{{1,9}})(?::(?P<col>\d{{1,9}}))?: (?P<message>.+)")
_TSC = re.compile(
    rf"\s*{_PATH}\((?P<line>\d{{1,9}}),(?P<col>\d{{1,9}})\): "
    r"(?P<severity>error|warning) (?P<code>[A-Z]+\d+): (?P<message>.+?)(?: \[[^\[\]]+proj\])?"
)
_NOWHERE = re.compile(r"(?P<severity>error|warning) (?P<code>[A-Z]+\d+): (?P<message>.+)")
_MAVEN = re.compile(
    r"\[(?P<severity>ERROR|WARNING)\] (?P<path>[^\s\[:][^\[:]{0,1000}):\[(?P<line>\d{1,9}),(?P<col>\d{1,9})\] (?P<message>.+)"
)
_KOTLIN = re.compile(r"(?P<severity>[ew]): (?P<path>(?:file://)?/[^:\s]{1,1000}):(?P<line>\d{1,9}):(?P<col>\d{1,9}):? (?P<message>.+)")
_CODE_BEHIND = re.compile(r"(?P<message>.+?)\s+\[(?P<code>[\w+=-]+)\]\Z")


def plain(text: str) -> str:
    """Without escape sequences."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def read_problems(reads: str, lines: Iterable[str], places: Places) -> Iterator[Problem]:
    """Problems in what a tool printed, in its order.

    Args:
        reads: as in the table. lines: of stdout and stderr, without their ends.
    """
    if reads == "pyright":
        yield from _pyright("\n".join(lines), places)
        return
    of_line = _LINES.get(reads, _any)
    for line in lines:
        if len(line) <= MAX_LINE or line.startswith("{"):
            yield from of_line(plain(line), places)


def _matched(match: re.Match[str], places: Places, severity: str = "error") -> Problem:
    found = match.groupdict()
    severity = (found.get("severity") or severity).lower()
    message, code = found["message"].strip(), found.get("code") or ""
    if not code and (behind := _CODE_BEHIND.fullmatch(message)):
        message, code = behind["message"], behind["code"]
    path = places.path(found["path"]) if found.get("path") else ""
    line = int(found.get("line") or 0)
    kind: Severity = "warning" if severity in ("warning", "w") else "error"
    return Problem(
        severity=kind,
        message=message[:_MAX_MESSAGE],
        path=path,
        line=line,
        col=places.col(path, line, int(found.get("col") or 0)),
        code=code,
    )


def _gcc(line: str, places: Places) -> Iterator[Problem]:
    if match := _GCC.fullmatch(line):
        yield _matched(match, places)


def _go(line: str, places: Places) -> Iterator[Problem]:
    """`go build` names no severity; of `go test -json` only what the build said is meant."""
    if line.startswith("{"):
        event = _json(line)
        text = event.get("Output") if event.get("Action") == "build-output" else None
        line = text.rstrip("\n") if isinstance(text, str) else ""
    match = _GO.fullmatch(line.lstrip())
    if match and not line.startswith(("\t", " ", "go: downloading")):
        yield _matched(match, places)


def _tsc(line: str, places: Places) -> Iterator[Problem]:
    match = _TSC.fullmatch(line) or _NOWHERE.fullmatch(line)
    if match:
        yield _matched(match, places)


def _maven(line: str, places: Places) -> Iterator[Problem]:
    if match := _MAVEN.fullmatch(line):
        yield _matched(match, places)


def _any(line: str, places: Places) -> Iterator[Problem]:
    """By whatever fits: what a script runs is not known."""
    for pattern in (_GCC, _TSC, _MAVEN, _KOTLIN, _NOWHERE):
        if match := pattern.fullmatch(line):
            yield _matched(match, places)
            return


def _lines(line: str, places: Places) -> Iterator[Problem]:
    """JSON objects of our own syntax checker."""
    found = _json(line)
    if isinstance(found.get("path"), str) and isinstance(found.get("message"), str):
        path, row = places.path(found["path"]), _number(found.get("line"))
        yield Problem(
            severity="error",
            message=found["message"][:_MAX_MESSAGE],
            path=path,
            line=row,
            col=places.col(path, row, _number(found.get("column"))),
            code=str(found.get("code", "")),
        )


def _cargo(line: str, places: Places) -> Iterator[Problem]:
    event = _json(line)
    if event.get("reason") != "compiler-message":
        if match := re.fullmatch(r"error: (?P<message>(?!could not compile|aborting|build failed|\d+ target|test failed|doctest).+)", line):
            yield _matched(match, places)  # of Cargo itself: a manifest, a dependency
        return
    said = event.get("message")
    if not isinstance(said, dict):
        return
    level, text = said.get("level"), said.get("message")
    if level not in ("error", "warning", "error: internal compiler error") or not isinstance(text, str):
        return
    spans = [span for span in _list(said.get("spans")) if span.get("is_primary")]
    if not spans and ("aborting due to" in text or re.fullmatch(r"\d+ warnings? emitted", text)):
        return
    code = said.get("code")
    first = spans[0] if spans else {}
    path, row = places.path(str(first["file_name"])) if first.get("file_name") else "", _number(first.get("line_start"))
    yield Problem(
        severity="warning" if level == "warning" else "error",
        message=text[:_MAX_MESSAGE],
        path=path,
        line=row,
        col=places.col(path, row, _number(first.get("column_start"))),
        code=str(code.get("code", "")) if isinstance(code, dict) else "",
    )


class _PyrightDiagnostic(msgspec.Struct, frozen=True):
    """One of `generalDiagnostics` of `pyright --outputjson`; its ranges are the protocol's."""

    severity: str
    message: str = ""
    file: str | None = None
    rule: str | None = None
    range: Range | None = None


def _pyright_diagnostic(raw: dict[str, Any]) -> _PyrightDiagnostic | None:
    try:
        return msgspec.convert(raw, _PyrightDiagnostic)
    except (msgspec.ValidationError, RecursionError, OverflowError):
        return None


def _pyright(text: str, places: Places) -> Iterator[Problem]:
    at = text.find("{")
    found = _json(text[at:]) if at >= 0 else {}
    for raw in _list(found.get("generalDiagnostics")):
        item = _pyright_diagnostic(raw) or _pyright_diagnostic({**raw, "range": None})
        if item is None or item.severity not in ("error", "warning"):
            continue
        yield Problem(
            severity=item.severity,
            message=item.message[:_MAX_MESSAGE],
            path=places.path(item.file) if item.file else "",
            line=item.range.start.line + 1 if item.range is not None else 0,
            col=item.range.start.character + 1 if item.range is not None else 0,
            code=item.rule or "",
        )


_LINES: dict[str, Callable[[str, Places], Iterator[Problem]]] = {
    "gcc": _gcc, "go": _go, "tsc": _tsc, "maven": _maven, "any": _any, "lines": _lines, "cargo": _cargo,
}  # fmt: skip


def _json(text: str) -> dict[str, Any]:
    """An object, or an empty one for whatever is none."""
    if not text.startswith("{"):
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _list(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else 0
