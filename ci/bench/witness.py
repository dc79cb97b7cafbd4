"""A second witness of who calls whom: pyrefly's call graph (`pyrefly check --report-pysa`), held against an index and its answers.

pyrefly is a type checker with an engine of its own. Its report names, for each expression of a file, the functions that it calls, also
where no name stands at the call: operators, loops, with statements, f-strings, properties, constructors, decorators. An edge between two
functions of the project that the index lacks is missed. What `find_callers` says of its callee then is what counts: a reason that names
the file is honest, doubt without the file is vague, and "complete" is a silent miss.

pyrefly may be wrong too; the record has every missed edge, for reading.
"""

from __future__ import annotations

import bisect
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ci.bench.corpora import Bench, Corpus
from query.facts.index import Index, open_index
from query.surface.registry import call

PACKAGE = "pyrefly==1.4.1"
_CHECKED = (0, 1)
"""Statuses of a run that did its work: 1 where it found errors of types."""
_OPTIONS = ("--preset", "default", "--check-unannotated-defs=true", "--infer-return-types", "checked")
"""Without them it passes over functions that have no annotation, which are most of django's."""
_MOST_CALLERS = 5_000

_BY_SYNTAX = {
    "for-decorated-target": "decorator",
    "comparison": "comparison or `in`",
    "subscript-get-item": "subscript",
    "subscript-set-item": "subscript",
    "slice": "subscript",
    "for-iter": "loop",
    "for-next": "loop",
    "generator-iter": "loop",
    "generator-next": "loop",
    "with-enter": "with statement",
    "binary": "operator",
    "augmented-assign-dunder-call": "operator",
    "get-attr-constant-literal": "getattr with a literal",
}
"""What pyrefly calls an expression that calls without a name."""


class Edge(NamedTuple):
    """`path`, `first`, `last`: the file and the 1-based lines of the expression that calls; `callee` is a place of a definition."""

    path: str
    first: int
    last: int
    callee: tuple[str, int, int]
    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """An edge that the index lacks, and what `find_callers` said of its callee: named, vague or silent."""

    path: str
    line: int
    callee: str
    kind: str
    said: str
    reasons: Sequence[str] = ()


# ---- pyrefly's report


def install(bench: Bench) -> Path:
    """The program, in an environment of its own.

    Raises:
        subprocess.CalledProcessError: pip failed; its own message is on stderr.
    """
    place = bench.folder / "env-pyrefly"
    stamp = place / "requirements.txt"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != PACKAGE:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        pip = [str(place / bench.interpreter.relative_to(bench.environment)), "-m", "pip"]
        subprocess.run([*pip, "install", "-q", "--no-deps", PACKAGE], check=True, stdout=sys.stderr)
        stamp.write_text(PACKAGE, encoding="utf-8")
    return place / bench.interpreter.relative_to(bench.environment).with_name("pyrefly")


def report(bench: Bench, corpus: Corpus, pyrefly: Path) -> Path:
    """The folder of a new report on the files of the corpus, which is checked from where its imports start.

    Raises:
        RuntimeError: pyrefly failed; the message names its log.
    """
    folder = bench.folder / "pysa" / corpus.name.strip("/")
    started = corpus.root.parent if corpus.inside else corpus.root
    command = [str(pyrefly), "check", "--python-interpreter-path", str(bench.interpreter.absolute())]
    command += _OPTIONS
    command += ["--report-pysa", str(folder.absolute()), "--report-pysa-format", "json", corpus.inside or "."]
    log = bench.folder / "log" / f"pyrefly-{corpus.name.strip('/')}.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("w", encoding="utf-8") as said:
        status = subprocess.run(command, cwd=started, stdout=said, stderr=said, check=False).returncode
    if status not in _CHECKED:
        raise RuntimeError(f"pyrefly on {corpus.name} ended with status {status}; see {log}")
    return folder


def edges(folder: Path, root: Path) -> list[Edge]:
    """The edges of a report between functions below `root`, each once for each expression."""
    modules = json.loads((folder / "pyrefly.pysa.json").read_text(encoding="utf-8"))["modules"].values()
    ours: dict[int, str] = {}
    defined: dict[tuple[int, str], tuple[str, int, int]] = {}
    for module in modules:
        path = Path(module["source_path"].get("FileSystem", "/"))
        if path.is_relative_to(root):
            ours[module["module_id"]] = path.relative_to(root).as_posix()
            told = json.loads((folder / "definitions" / module["info_filename"]).read_text(encoding="utf-8"))
            for function, definition in told["function_definitions"].items():
                if "name_location" in definition:  # else it is generated
                    line, col = map(int, definition["name_location"].partition("-")[0].split(":"))
                    defined[module["module_id"], function] = (ours[module["module_id"]], line, col)
    found: set[Edge] = set()
    for module in modules:
        if module["module_id"] not in ours:
            continue
        told = json.loads((folder / "call_graphs" / module["info_filename"]).read_text(encoding="utf-8"))
        for caller, sites in told["call_graphs"].items():
            for place, callees in sites.items():
                span, _, syntax = place.partition("|")
                start, end = span.split("-")
                for kind, target in _targets(caller, syntax, callees):
                    callee = defined.get((target["module_id"], target["function_id"]))
                    if callee is not None:
                        lines = (int(start.partition(":")[0]), int(end.partition(":")[0]))
                        found.add(Edge(ours[module["module_id"]], *lines, callee, target["function_name"], kind))
    return sorted(found)


def _targets(caller: str, syntax: str, callees: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What an expression calls, with the kind of syntax.

    What it would call if somebody called its value is none of it, and neither is the `__call__` of an object that is handed over: pyrefly
    lists that at each argument (`isinstance(app, Flask)`), called or not.
    """
    what = syntax.rpartition("|")[2]
    for sort, told in callees.items():
        for role, value in told.items():
            if role == "higher_order_parameters":
                groups = [("passed as an argument", targets) for given in value.values() for targets in given.values()]
            elif role in ("init_targets", "new_targets"):
                groups = [("constructor", value)]
            elif role in ("property_getters", "property_setters"):
                groups = [("property", value)]
            elif sort.startswith("FormatString"):
                groups = [("f-string", value)]
            elif role == "call_targets":
                groups = [(_kind_of_call(caller, what), value)]
            else:
                continue
            for kind, targets in groups:
                for item in targets if isinstance(targets, list) else ():
                    implicit = bool(item.get("implicit_dunder_call"))
                    if implicit and role == "higher_order_parameters":
                        continue
                    for target in item["target"].values() if isinstance(item["target"], dict) else ():
                        if "function_id" in target:
                            yield "call of an object" if implicit and kind == "call by name" else kind, target


def _kind_of_call(caller: str, what: str) -> str:
    if what in _BY_SYNTAX:
        return _BY_SYNTAX[what]
    if what:
        return f"built-in function ({what.removesuffix('-call').removesuffix('-call-to-dunder-method')})"
    return "decorator" if caller.startswith("FDT") else "call by name"


# ---- held against the index


class _Known:
    """The calls of an index by callee, and its symbols by the place of their name."""

    def __init__(self, index: Index) -> None:
        self._symbols: dict[tuple[str, int, int], str] = {
            (path, line + 1, col + 1): symbol
            for path, line, col, symbol in index.rows(
                "SELECT path, line, col, symbol FROM occurrences WHERE list_contains(roles, 'definition') AND symbol IS NOT NULL"
            )
        }
        self._sites: dict[tuple[str, str], list[int]] = {}
        for callee, path, line in index.rows(
            "SELECT callee, path, line FROM calls UNION"
            " SELECT o.member, c.path, c.line FROM calls c JOIN overrides o ON o.overridden = c.callee ORDER BY ALL"
        ):
            self._sites.setdefault((callee, path), []).append(line + 1)
        self._owner: dict[str, str] = dict(index.rows("SELECT symbol, container FROM symbols WHERE kind IN ('constructor', 'method')"))

    def callee(self, edge: Edge) -> str:
        return self._symbols.get(edge.callee, "")

    def has(self, edge: Edge, callee: str) -> bool:
        """Whether a call of it lies in the lines of the expression; where a class constructs, a call of the class is one."""
        names = [callee, self._owner.get(callee, "")] if edge.kind == "constructor" else [callee]
        return any(_between(self._sites.get((name, edge.path), []), edge.first, edge.last) for name in names)


def _between(lines: Sequence[int], first: int, last: int) -> bool:
    at = bisect.bisect_left(lines, first)
    return at < len(lines) and lines[at] <= last


def compare(found: Sequence[Edge], root: Path) -> dict[str, Any]:
    """How many edges the index of `root` has and lacks, by kind of syntax, and what `find_callers` says of each that it lacks."""
    with open_index(root) as index:
        return _compared(found, _Known(index), index)


def _compared(found: Sequence[Edge], known: _Known, index: Index) -> dict[str, Any]:
    total: Counter[str] = Counter()
    missed: list[Missed] = []
    unknown = 0
    answers: dict[str, dict[str, Any]] = {}
    for edge in found:
        callee = known.callee(edge)
        if not callee:
            unknown += 1
            continue
        total[edge.kind] += 1
        if known.has(edge, callee):
            continue
        if callee not in answers:
            told = call(index, "find_callers", {"symbol": callee, "direction": "incoming", "limit": _MOST_CALLERS})
            answers[callee] = msgspec.to_builtins(told)
        said = _said(answers[callee], edge)
        if said != "shown":
            reasons = [reason["code"] for reason in answers[callee]["completeness"].get("reasons", [])]
            missed.append(Missed(path=edge.path, line=edge.first, callee=callee, kind=edge.kind, said=said, reasons=reasons))
    return {
        "edges": dict(total),
        "not_in_index": unknown,
        "missed": [asdict(item) for item in missed],
        "said": {kind: dict(Counter(item.said for item in missed if item.kind == kind)) for kind in sorted({item.kind for item in missed})},
    }


def _said(answer: Mapping[str, Any], edge: Edge) -> str:
    """shown: its place is in the answer all the same, as a use of another sort. named: a reason names the file."""
    if any(edge.path == record.get("path") and edge.first <= record.get("line", 0) <= edge.last for record in _records(answer["result"])):
        return "shown"
    known = answer["completeness"]
    if known["status"] == "complete":
        return "silent"
    named = any(edge.path in reason.get("paths", []) or edge.path in reason["detail"] for reason in known["reasons"])
    return "named" if named else "vague"


def _records(value: Any) -> Iterator[Mapping[str, Any]]:
    """All records of an answer but those of symbols, whose place is that of a definition."""
    if isinstance(value, dict):
        yield value
        value = [item for key, item in value.items() if key != "symbol"]
    for item in value if isinstance(value, list) else ():
        yield from _records(item)


# ---- the tables


def to_markdown(witnessed: Mapping[str, Mapping[str, Any]]) -> str:
    """A line for each corpus, then one for each kind of syntax of which an edge is missed."""
    lines = [
        '| corpus | edges | missed | a reason names the file | partial, file not named | "complete" | silent % of missed |',
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for corpus, found in witnessed.items():
        lines.append(f"| {corpus} | {sum(found['edges'].values()):,} | {_cells([item['said'] for item in found['missed']])} |")
    lines += ["", lines[0].replace("| corpus |", "| corpus | syntax |"), f"|---{lines[1]}"]
    for corpus, found in witnessed.items():
        for kind in found["said"]:
            said = [item["said"] for item in found["missed"] if item["kind"] == kind]
            lines.append(f"| {corpus} | {kind} | {found['edges'][kind]:,} | {_cells(said)} |")
    return "\n".join(lines)


def _cells(said: Sequence[str]) -> str:
    silent = said.count("silent")
    share = f"{100 * silent / len(said):.1f}" if said else "0.0"
    return " | ".join([f"{len(said):,}", *(f"{said.count(what):,}" for what in ("named", "vague", "silent")), share])
