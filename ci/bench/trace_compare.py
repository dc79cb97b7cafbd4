"""Calls that ran, held against an index: which it has, which it lacks and why, and which of its edges a call that ran contradicts.

An edge is a pair of functions of the package; it is counted once, however often it ran. It is `named` where the index has the pair (a call
of a class counts for its constructor), `overridden` where the index has a call of what the function overrides, `possible` where it is only
among the possible calls. What is left is missed. Generators and coroutines are left out: Python tells who resumes them, not who calls.

An edge of the index is judged where its call ran: true if it led to that function at least once, contradicted if only elsewhere. A call
that ran a few times only need not show all that it may lead to, so a contradicted edge may be true in another run: precision is a lower
bound.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ci.bench.trace_causes import Callee, Place, Text, by_count, plain_name
from query.facts.index import Index, open_index

_FUNCTIONS = ("function", "method", "constructor", "property")
_SHOWN = 12


class Function(NamedTuple):
    """`path` below the sources; `name`: qualified, as code objects have it; `line`: the first one, of decorators too, from 1."""

    path: str
    name: str
    line: int
    is_later: bool


class Ran(NamedTuple):
    """A call that led from one function of the package to another; `by_library`: by way of a library."""

    caller: Function
    place: Place
    callee: Function
    by_library: bool


class Trace(NamedTuple):
    """`calls`: those that led to functions of the package. `out`: by path, places whose calls led out of it."""

    calls: Sequence[Ran]
    out: frozenset[tuple[str, Place]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A pair that the index lacks, at one of its places."""

    caller: str
    callee: str
    path: str
    line: int
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradicted:
    """An edge of the index whose call led elsewhere whenever it ran."""

    callee: str
    path: str
    line: int
    evidence: str
    ran: Sequence[str]


@dataclass(slots=True)
class Compared:
    """Of one package. Counts of pairs; `judged`: by evidence, edges that are true and that are contradicted."""

    pairs: int = 0
    named: int = 0
    overridden: int = 0
    possible: int = 0
    unknown: int = 0  # functions that the index has no symbol of
    missed: list[Missed] = field(default_factory=list[Missed])
    judged: dict[str, tuple[int, int]] = field(default_factory=dict[str, "tuple[int, int]"])
    contradicted: list[Contradicted] = field(default_factory=list[Contradicted])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def read(path: Path) -> Trace:
    """What `ci.bench.trace_run` wrote."""
    told = json.loads(path.read_text(encoding="utf-8"))
    functions = [Function(*row) for row in told["functions"]]
    places = [Place(*row) for row in told["places"]]
    calls = [Ran(functions[a], places[place], functions[b], through) for a, place, b, through in told["edges"]]
    return Trace(calls, frozenset((functions[caller].path, places[place]) for caller, place in told["ran"]))


class _Known:
    """The symbols and calls of an index, by place."""

    def __init__(self, index: Index, sources: str) -> None:
        self._sources = sources
        self._named: dict[tuple[str, str], list[tuple[int, str]]] = {}
        self.kinds: dict[str, str] = {}
        self.owner: dict[str, str] = {}
        self.paths: dict[str, str] = {}
        module = dict(index.rows("SELECT path, module FROM documents WHERE module IS NOT NULL"))
        for symbol, name, kind, path, line, container in index.rows(
            "SELECT symbol, qualified_name, kind, path, sel_line, container FROM symbols WHERE NOT is_external ORDER BY path, sel_line, symbol"
        ):
            self.kinds[symbol], self.owner[symbol], self.paths[symbol] = kind, container or "", path
            if kind in _FUNCTIONS or kind in ("class", "module"):
                inner = name.removeprefix(module.get(path, "")).lstrip(".")
                self._named.setdefault((path, inner), []).append((line + 1, symbol))
        self.calls: dict[tuple[str, str], list[tuple[int, int, str]]] = {}  # by path and callee: line, column, evidence
        self.pairs = set(index.rows("SELECT caller, callee FROM calls"))
        self.possible = set(index.rows("SELECT caller, callee FROM possible_calls"))
        self.at: dict[tuple[str, int, int], list[tuple[str, str]]] = {}
        for table in ("calls", "possible_calls"):
            for callee, path, line, col, evidence in index.rows(f"SELECT callee, path, line, col, evidence FROM {table} ORDER BY ALL"):
                self.at.setdefault((path, line + 1, col), []).append((callee, evidence))
        self._overridden: dict[str, list[str]] = {}
        for member, overridden in index.rows("SELECT member, overridden FROM overrides ORDER BY ALL"):
            self._overridden.setdefault(member, []).append(overridden)

    def path(self, function: Function) -> str:
        return f"{self._sources}/{function.path}"

    def symbol(self, function: Function) -> str:
        """Of several definitions of one name the one at the line, or right below its decorators; "" for none."""
        found = self._named.get((self.path(function), plain_name(function.name)), [])
        below = [symbol for line, symbol in found if line >= function.line]
        return below[0] if below else found[-1][1] if found else ""

    def told(self, callers: Iterable[str], callees: Iterable[str], pairs: set[tuple[str, str]]) -> bool:
        return any((caller, callee) in pairs for caller in callers for callee in callees)

    def meant(self, callee: str, name: str) -> list[str]:
        """What a call of a function may be told as: of a constructor as one of its class."""
        return [callee, self.owner.get(callee, "")] if name in ("__init__", "__new__") else [callee]

    def above(self, callee: str) -> list[str]:
        found = [callee]
        for member in found:
            found += [item for item in self._overridden.get(member, ()) if item not in found]
        return found[1:]


def compare(root: Path, sources: str, trace: Trace) -> Compared:
    """The index of `root` against what ran of its files below the folder `sources`."""
    texts: dict[str, Text] = {}

    def text(path: str) -> Text:
        if path not in texts:
            texts[path] = Text((root / path).read_bytes())
        return texts[path]

    with open_index(root) as index:
        known = _Known(index, sources)
    made = Compared()
    done: set[tuple[str, str]] = set()
    for ran in _first_direct(trace.calls):
        callee, caller = known.symbol(ran.callee), known.symbol(ran.caller)
        if (callee, caller) in done:
            continue
        done.add((callee, caller))
        if not callee or not caller:
            made.unknown += 1
            continue
        made.pairs += 1
        _count(made, known, text(known.path(ran.caller)), ran, caller, callee)
    _judge(made, known, trace, text)
    return made


def _first_direct(calls: Sequence[Ran]) -> Iterator[Ran]:
    """Of a pair that also went without a library the direct call, so that it counts as one."""
    yield from (ran for ran in sorted(calls, key=lambda ran: ran.by_library) if not ran.callee.is_later and plain_name(ran.callee.name))


def _count(made: Compared, known: _Known, text: Text, ran: Ran, caller: str, callee: str) -> None:
    callers = [caller, known.owner.get(caller, "")] if known.kinds.get(caller) == "class" else [caller]
    callees = known.meant(callee, Callee(ran.callee.name).last)
    if known.told(callers, callees, known.pairs):
        made.named += 1
    elif known.told(callers, known.above(callee), known.pairs):
        made.overridden += 1
    elif known.told(callers, callees, known.possible):
        made.possible += 1
    else:
        cause = text.cause(ran.place, Callee(ran.callee.name, ran.by_library))
        names = (f"{item.path}:{plain_name(item.name)}" for item in (ran.caller, ran.callee))
        told = dict(zip(("caller", "callee"), names, strict=True))
        made.missed.append(Missed(**told, path=known.path(ran.caller), line=ran.place.line, cause=cause))


def _judge(made: Compared, known: _Known, trace: Trace, text: Any) -> None:
    """Edges of the index at calls that ran: of functions of the package that run when they are called, by the name that is called."""
    led: dict[tuple[str, int, int], set[str]] = {}
    for ran in trace.calls:
        where = text(known.path(ran.caller)).called_name(ran.place)
        if where is not None:
            led.setdefault((known.path(ran.caller), *where), set()).add(known.symbol(ran.callee) if not ran.callee.is_later else "")
    for below, place in trace.out:
        path = known.path(Function(below, "", 0, is_later=False))
        where = text(path).called_name(place)
        if where is not None:
            led.setdefault((path, *where), set())
    later = {known.symbol(ran.callee) for ran in trace.calls if ran.callee.is_later}
    true: Counter[str] = Counter()
    false: Counter[str] = Counter()
    for (path, line, col), ran_there in sorted(led.items()):
        if "" in ran_there:  # a generator began there, or what has no symbol
            continue
        for callee, evidence in known.at.get((path, line, col), ()):
            is_ours = known.paths.get(callee, "").startswith(known.path(Function("", "", 0, is_later=False)))
            if known.kinds.get(callee) not in ("function", "method") or not is_ours or callee in later:
                continue
            if callee in ran_there or any(callee in known.above(other) for other in ran_there):
                true[evidence] += 1
            else:
                false[evidence] += 1
                made.contradicted.append(
                    Contradicted(callee=callee, path=path, line=line, evidence=evidence, ran=sorted(ran_there))
                )
    made.judged = {evidence: (true[evidence], false[evidence]) for evidence in sorted({*true, *false})}


# ---- the tables


def to_markdown(found: Mapping[str, Compared], held_out: Sequence[str]) -> str:
    """A line for each package; then one for each evidence; then one for each cause of what is missed."""
    lines = ["| package | pairs that ran | named | by what is overridden | possible | missed | recall % |", "|---|---:|---:|---:|---:|---:|---:|"]
    for name, item in found.items():
        cells = (item.pairs, item.named, item.overridden, item.possible, len(item.missed))
        told = f"{100 * (item.named + item.overridden) / item.pairs:.1f}" if item.pairs else ""
        lines.append(f"| {name}{' (held out)' if name in held_out else ''} | {' | '.join(f'{cell:,}' for cell in cells)} | {told} |")
    lines += ["", "| evidence | true when it ran | led elsewhere | precision % |", "|---|---:|---:|---:|"]
    for evidence in sorted({word for item in found.values() for word in item.judged}):
        true, false = (sum(item.judged.get(evidence, (0, 0))[side] for item in found.values()) for side in (0, 1))
        lines.append(f"| {evidence} | {true:,} | {false:,} | {100 * true / (true + false):.1f} |")
    lines += ["", f"| what is missed leads by | pairs | {' | '.join(found)} |", f"|---|---:|{'---:|' * len(found)}"]
    for cause, count in by_count(missed.cause for item in found.values() for missed in item.missed):
        each = (sum(missed.cause == cause for missed in item.missed) for item in found.values())
        lines.append(f"| {cause} | {count} | {' | '.join(map(str, each))} |")
    return "\n".join(lines)
