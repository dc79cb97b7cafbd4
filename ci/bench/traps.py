"""Planted uses of symbols, what an index says when it is asked about them, and whether that is true: the traps of `tests/traps/`.

A trap is a small tree with a use that no plain name at a call site shows, and a question whose answer needs it. The answer holds the
use, or it says that it is partial and names the file or the cause. A harmless case is the counterpart: something that cannot touch the
question, so that the answer has to be complete. `tests/test_traps.py` demands both; `python -m ci.bench.completeness` counts them.

Each file in `tests/traps/` is a table for one language, in this form::

    === name_of_the_trap
    what: one sentence
    in: name of the workspace; those of one name are one tree with one index (default: the name of the table)
    ask: tool parameter=value …
    expect: said (default), complete or refused
    cause: a regular expression over the reasons, beside the planted file itself
    --- path/in/the/tree
    its text

A line that ends with `▶` is the definition that is asked about, one that ends with `◀` the planted use, `▷` the source that `why` is
asked from; the signs are not written to the tree. Several `◀` of a trap are places that show the same (the value that is kept, the call
through it): one of them as a row will do; a harmless case needs all. `--- after: path` is written when the index is made. A section
without `ask` holds files that the workspace's traps share. `--- path * 3000` repeats its text so many times.
"""

from __future__ import annotations

import enum
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from indexer.config import load_config
from indexer.crawl.run import crawl
from indexer.errors import EditRefused
from query.answers.envelope import Answer
from query.facts.index import Index, open_index
from query.surface.registry import call

TABLES = Path(__file__).parent.parent.parent / "tests" / "traps"

SUBJECT, PLANTED, SOURCE = "▶", "◀", "▷"

_COMMAND = re.compile(r"(?:after: )?(?P<path>.*?)(?: \* (?P<times>\d+))?")
_EXPECTED = ("said", "complete", "refused")
_FILE_IS_ENOUGH = ("blast_radius", "get_tests_for_file")
"""Tools whose rows stand for symbols or files that have a use, not for its place."""
_NO_LINES = (".ipynb", ".vue", ".svelte", ".html", ".astro")
"""Files whose lines a row may count otherwise, by cell or by script."""
_SELF_EVIDENT = frozenset({"exported"})
"""Reasons of a row of `unreferenced` that say nothing of a use."""


class Said(enum.StrEnum):
    """What an answer said of the planted use. `ROW`, `NAMED`: true. `PARTIAL`: doubt without the file or the cause. `SILENT`: none."""

    ROW = "row"
    NAMED = "named"
    PARTIAL = "partial"
    SILENT = "silent"
    COMPLETE = "complete"
    WOLF = "cries wolf"


class Place(NamedTuple):
    """`line` is 1-based."""

    path: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """One case of a table; `files` without the signs, `after` what is written when the index is made."""

    name: str
    language: str
    workspace: str
    what: str
    tool: str
    arguments: Mapping[str, str]
    expect: str
    cause: str
    files: Mapping[str, str]
    after: Mapping[str, str] = field(default_factory=dict)
    subject: Place | None = None
    source: Place | None = None
    planted: Sequence[Place] = ()

    @property
    def is_trap(self) -> bool:
        """Whether something is planted that must be said; else it is a harmless case."""
        return self.expect != "complete"


class Verdict(NamedTuple):
    """What an answer came to; `told` is what it said, for whoever wants to know why."""

    trap: Trap
    said: Said
    told: str

    @property
    def passed(self) -> bool:
        return self.said in (Said.ROW, Said.NAMED, Said.COMPLETE)


# ---- tables


def load_traps(folder: Path = TABLES) -> list[Trap]:
    """All traps of all tables.

    Raises:
        ValueError: a table is not in the form that this module describes.
    """
    found = [trap for table in sorted(folder.glob("*.txt")) for trap in parsed(table)]
    names = [trap.name for trap in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two traps have one name: {', '.join(sorted(twice))}")
    return found


def parsed(table: Path) -> Iterator[Trap]:
    """The sections of one table, also those that only hold files."""
    text = table.read_text(encoding="utf-8")
    for section in re.split(r"(?m)^=== ", text)[1:]:
        name, _, rest = section.partition("\n")
        head, *files = re.split(r"(?m)^--- ", rest)
        keys = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in head.splitlines() if line.strip())}
        if unknown := set(keys) - {"what", "in", "ask", "expect", "cause"}:
            raise ValueError(f"{table.name}, {name}: unknown key {', '.join(sorted(unknown))}")
        yield _trap(table.stem, name.strip(), keys, files)


def _trap(language: str, name: str, keys: Mapping[str, str], sections: Sequence[str]) -> Trap:
    places: dict[str, list[Place]] = {SUBJECT: [], PLANTED: [], SOURCE: []}
    files: dict[str, str] = {}
    after: dict[str, str] = {}
    for section in sections:
        command, _, body = section.partition("\n")
        found = _COMMAND.fullmatch(command.strip())
        assert found is not None
        path, times = found["path"], int(found["times"] or 1)
        lines = body.rstrip("\n").split("\n")
        for number, line in enumerate(lines):
            for sign in places:
                if line.endswith(sign):
                    places[sign].append(Place(path, number + 1))
                    lines[number] = line = line.removesuffix(sign).rstrip()
        (after if command.startswith("after: ") else files)[path] = ("\n".join(lines) + "\n") * times if body.strip() else ""
    tool, *arguments = keys["ask"].split() if "ask" in keys else [""]
    expect = keys.get("expect", "said")
    if expect not in _EXPECTED:
        raise ValueError(f"{name}: expect is '{expect}', not one of {', '.join(_EXPECTED)}")
    if tool and expect != "complete" and not places[PLANTED]:
        raise ValueError(f"{name}: nothing is planted")
    return Trap(
        name=name,
        language=language,
        workspace=keys.get("in", language),
        what=keys.get("what", ""),
        tool=tool,
        arguments=dict(argument.split("=", 1) for argument in arguments),
        expect=expect,
        cause=keys.get("cause", ""),
        files=files,
        after=after,
        subject=next(iter(places[SUBJECT]), None),
        source=next(iter(places[SOURCE]), None),
        planted=tuple(places[PLANTED]),
    )


# ---- workspaces


class _Silent:
    def phase(self, name: str, total_documents: int) -> None: ...
    def advance(self, documents: int, tokens: int) -> None: ...
    def note(self, message: str) -> None: ...
    def expect(self, left_s: float | None, waits_for: str) -> None: ...


def build(traps: Sequence[Trap], folder: Path) -> Path:
    """The indexed tree of the traps of one workspace, in `folder`.

    A tree with a `.gitignore` becomes a repository of git, for that is who reads it.
    """
    root = folder / "".join(character if character.isalnum() else "-" for character in traps[0].workspace)
    _write(root, {path: text for trap in traps for path, text in trap.files.items()})
    if (root / ".gitignore").is_file():
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=root, check=True)
    config = load_config(root, flags={"jobs": 1}, environment={}, user_dir=folder)  # the tree's own settings, and nobody's beside them
    crawl(root, config, _Silent(), environment=_environment(traps))
    _write(root, {path: text for trap in traps for path, text in trap.after.items()})
    return root


def _environment(traps: Sequence[Trap]) -> Mapping[str, str] | None:
    """Python's servers see an empty one, so that no environment of the caller is taken for the tree's; other toolchains need theirs."""
    return {} if {trap.language for trap in traps} == {"python"} else None


def _write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            os.chmod(path, 0o755)


# ---- questions


def ask(trap: Trap, index: Index) -> Verdict:
    """Puts the trap's question to the index of its workspace.

    Raises:
        LspidxError: the question itself does not fit the tree.
    """
    arguments: dict[str, Any] = {key: _number(value) for key, value in trap.arguments.items()}
    if trap.tool == "why":
        assert trap.source is not None
        assert trap.subject is not None
        arguments |= {"source": _named(trap.source), "target": _named(trap.subject)}
    elif trap.subject is not None and trap.tool not in ("unreferenced", "untested", "get_diagnostics", "find_symbol"):
        if trap.tool == "list_symbols":
            arguments["file_path"] = trap.subject.path
        elif trap.tool == "safe_delete_symbol":
            arguments |= {"file_path": trap.subject.path}
        else:
            arguments["symbol"] = _named(trap.subject)
    try:
        answer = call(index, trap.tool, arguments)
    except EditRefused as error:
        return Verdict(trap, _judged_refusal(trap, str(error)), f"refused: {error}")
    return Verdict(trap, _judged(trap, answer), _told(answer))


def _number(value: str) -> Any:
    return {"true": True, "false": False}.get(value, int(value) if value.isdecimal() else value)


def _named(place: Place) -> str:
    return f"{place.path}:{place.line}"


def _judged_refusal(trap: Trap, message: str) -> Said:
    if not trap.is_trap:
        return Said.WOLF
    return Said.NAMED if _names(trap, message) else Said.PARTIAL


def _judged(trap: Trap, answer: Answer[Any]) -> Said:
    result = msgspec.to_builtins(answer.result)
    if not trap.is_trap:
        return Said.COMPLETE if answer.completeness.status == "complete" and all(_held(trap, result)) else Said.WOLF
    if trap.expect == "said" and any(_held(trap, result)):
        return Said.ROW
    reasons = [reason for reason in answer.completeness.reasons if reason.code not in _SELF_EVIDENT]
    if trap.tool == "unreferenced":
        listed = [row for row in result if trap.subject is not None and _is_at(row["symbol"], trap.subject, whole_file=False)]
        doubted = all(row["confidence"] == "maybe" and set(row["reasons"]) - _SELF_EVIDENT - {"no_uses"} for row in listed)
        return Said.ROW if not listed else Said.NAMED if doubted else Said.SILENT
    if any(_names(trap, f"{reason.code} {reason.detail} {' '.join(reason.paths)}") for reason in reasons):
        return Said.NAMED
    return Said.PARTIAL if reasons else Said.SILENT


def _names(trap: Trap, text: str) -> bool:
    """Whether a text names the planted file, or the cause that the trap would let count."""
    return any(place.path in text for place in trap.planted) or bool(trap.cause and re.search(trap.cause, text, re.IGNORECASE))


def _held(trap: Trap, result: Any) -> Iterator[bool]:
    """Of each planted use, whether it is a row."""
    records = list(_records(result))
    for place in trap.planted:
        yield any(_is_at(record, place, whole_file=trap.tool in _FILE_IS_ENOUGH) for record in records)


def _records(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = [*value.values()]
    if isinstance(value, list):
        for item in value:
            yield from _records(item)


def _is_at(record: Mapping[str, Any], place: Place, *, whole_file: bool) -> bool:
    path = str(record.get("path") or record.get("file") or "")
    if not path.startswith(place.path):
        return False
    return whole_file or place.path.endswith(_NO_LINES) or record.get("line") == place.line


def _told(answer: Answer[Any]) -> str:
    known = answer.completeness
    reasons = [f"{reason.code}: {reason.detail} ({', '.join(reason.paths[:3])})" for reason in known.reasons]
    return f"{known.status}, {answer.total} rows; {'; '.join(reasons)}"


# ---- all of them


def workspaces(traps: Sequence[Trap]) -> dict[str, list[Trap]]:
    """The traps by the name of their workspace."""
    found: dict[str, list[Trap]] = {}
    for trap in traps:
        found.setdefault(trap.workspace, []).append(trap)
    return found


def judge_all(folder: Path, tables: Path = TABLES) -> list[Verdict]:
    """Every trap and every harmless case, asked here; a workspace whose server is not on this machine is indexed without."""
    verdicts: list[Verdict] = []
    for group in workspaces(load_traps(tables)).values():
        with open_index(build(group, folder)) as index:
            verdicts += [ask(trap, index) for trap in group if trap.tool]
    return verdicts


def to_text(verdicts: Sequence[Verdict]) -> str:
    """A line for each, by language."""
    lines = [
        f"{verdict.trap.language:<11} {'trap' if verdict.trap.is_trap else 'harmless':<9} {verdict.trap.name:<34} {verdict.said.value}"
        for verdict in sorted(verdicts, key=lambda item: (item.trap.language, not item.trap.is_trap))
    ]
    return "\n".join(lines)
