"""Calls that ran, held against an index: which it has, which it lacks and why, and which of its edges a call that ran contradicts.

An edge is a pair of functions of which the second is the package's; it is counted once, however often it ran. Those that a library makes,
or code that is generated while the tests run, are counted apart: they are of no text. Of the rest one is `named` where the index has the
pair (a call of a class counts for its constructor), `overridden` where the index has a call of what the function overrides, `possible`
where it is only among the possible calls, `gap` where the index says that so much may be called there that it tells nothing. What is left
is missed. Generators and coroutines are left out: Python tells who resumes them, not who calls.

An edge of the index is judged where its call ran: true if it led to that function at least once, or to what a decorator made of it,
contradicted if only elsewhere. A call that ran a few times only need not show all that it may lead to, so a contradicted edge may be true
in another run: precision is a lower bound.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ci.bench.trace_causes import Callee, Place, Text, by_count, plain_name
from query.facts.index import Index, open_index

_FUNCTIONS = ("function", "method", "constructor", "property")


class Function(NamedTuple):
    """`path` below the root; `name`: qualified, as code objects have it; `line`: the first one, of decorators too, from 1."""

    path: str
    name: str
    line: int
    is_later: bool


class Ran(NamedTuple):
    """A call that led from one function of the repository to another. `between`: "", "library" or "generated" (code of no file)."""

    caller: Function
    place: Place
    callee: Function
    between: str


class Trace(NamedTuple):
    """`calls`: those that led to functions of the repository. `out`: by path, places whose calls led out of it."""

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
    """Of one package, within it, or from its tests. Counts of pairs; `judged`: by evidence, edges that are true and contradicted."""

    pairs: int = 0  # but for those between which something else was
    named: int = 0
    overridden: int = 0
    possible: int = 0
    gap: int = 0
    between: int = 0  # by a library, or generated code
    between_named: int = 0
    unknown: int = 0  # functions that the index has no symbol of
    missed: list[Missed] = field(default_factory=list[Missed])
    judged: dict[str, tuple[int, int]] = field(default_factory=dict[str, "tuple[int, int]"])
    contradicted: list[Contradicted] = field(default_factory=list[Contradicted])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def recall(self) -> float:
        """Percent of the pairs that the index has, itself or as a call of what is overridden."""
        return 100 * (self.named + self.overridden) / self.pairs if self.pairs else 100.0


def read(path: Path) -> Trace:
    """What `ci.bench.trace_run` wrote."""
    told = json.loads(path.read_text(encoding="utf-8"))
    functions = [Function(*row) for row in told["functions"]]
    places = [Place(*row) for row in told["places"]]
    calls = [Ran(functions[a], places[place], functions[b], through) for a, place, b, through in told["edges"]]
    return Trace(calls, frozenset((functions[caller].path, places[place]) for caller, place in told["ran"]))


class Known:
    """The symbols and calls of an index, by place."""

    def __init__(self, index: Index, without: Collection[str] = ()) -> None:
        """`without`: evidence of which no call counts."""
        self._named: dict[tuple[str, str], list[tuple[int, str]]] = {}
        self.kinds: dict[str, str] = {}
        self.owner: dict[str, str] = {}
        self.paths: dict[str, str] = {}
        self.names: dict[str, str] = {}
        module = dict(index.rows("SELECT path, module FROM documents WHERE module IS NOT NULL"))
        for symbol, name, kind, path, line, container in index.rows(
            "SELECT symbol, qualified_name, kind, path, sel_line, container FROM symbols WHERE NOT is_external"
            " ORDER BY path, sel_line, symbol"
        ):
            self.kinds[symbol], self.owner[symbol], self.paths[symbol] = kind, container or "", path
            self.names[symbol] = name.rpartition(".")[2]
            if kind in _FUNCTIONS or kind in ("class", "module"):
                inner = name.removeprefix(module.get(path, "")).lstrip(".")
                self._named.setdefault((path, inner), []).append((line + 1, symbol))
        not_these = "WHERE evidence NOT IN (SELECT unnest($without::VARCHAR[]))"
        given = {"without": sorted(without)}
        self.pairs = set(index.rows(f"SELECT caller, callee FROM calls {not_these}", given))
        self.possible = set(index.rows(f"SELECT caller, callee FROM possible_calls {not_these}", given))
        self.at: dict[tuple[str, int, int], list[tuple[str, str, str]]] = {}  # by place: callee, evidence, via
        for table in ("calls", "possible_calls"):
            for path, line, col, *told in index.rows(
                f"SELECT path, line, col, callee, evidence, via FROM {table} {not_these} ORDER BY ALL", given
            ):
                self.at.setdefault((path, line + 1, col), []).append((told[0], told[1], told[2]))
        self.gaps = {(path, line + 1) for path, line in index.rows("SELECT path, line FROM flow_gaps WHERE reason = 'megamorphic'")}
        self._overridden: dict[str, list[str]] = {}
        for member, overridden in index.rows("SELECT member, overridden FROM overrides ORDER BY ALL"):
            self._overridden.setdefault(member, []).append(overridden)

    def symbol(self, function: Function) -> str:
        """Of several definitions of one name the one at the line, or right below its decorators; "" for none."""
        found = self._named.get((function.path, plain_name(function.name)), [])
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


def compare(root: Path, sources: str, trace: Trace, without: Collection[str] = ()) -> dict[str, Compared]:
    """The index of `root` against what ran of its files: of calls "within" the files below the folder `sources`, and "from tests" there.

    Args:
        without: evidence of which no call of the index counts.
    """
    texts: dict[str, Text] = {}

    def text(path: str) -> Text:
        if path not in texts:
            texts[path] = Text((root / path).read_bytes())
        return texts[path]

    with open_index(root) as index:
        known = Known(index, without)
    inside = f"{sources}/"
    made = {"within": Compared(), "from tests": Compared()}
    done: set[tuple[str, str]] = set()
    for ran in sorted(trace.calls, key=lambda ran: ran.between != ""):  # of a pair with and without a library it is the direct call
        callee, caller = known.symbol(ran.callee), known.symbol(ran.caller)
        if ran.callee.is_later or not ran.callee.path.startswith(inside) or (callee, caller) in done:
            continue
        done.add((callee, caller))
        group = made["within" if ran.caller.path.startswith(inside) else "from tests"]
        if callee and caller:
            _count(group, known, text(ran.caller.path), ran, caller, callee)
        else:
            group.unknown += 1
    _judge(made, known, trace, text, inside)
    return made


def _count(made: Compared, known: Known, text: Text, ran: Ran, caller: str, callee: str) -> None:
    callers = [caller, known.owner.get(caller, "")] if known.kinds.get(caller) == "class" else [caller]
    callees = known.meant(callee, Callee(ran.callee.name).last)
    is_named = known.told(callers, callees, known.pairs)
    if ran.between:
        made.between += 1
        made.between_named += is_named
        return
    made.pairs += 1
    if is_named:
        made.named += 1
    elif known.told(callers, known.above(callee), known.pairs):
        made.overridden += 1
    elif known.told(callers, callees, known.possible):
        made.possible += 1
    elif any((ran.caller.path, line) in known.gaps for line in range(ran.place.line, ran.place.end_line + 1)):
        made.gap += 1
    else:
        cause = text.cause(ran.place, Callee(ran.callee.name))
        names = (f"{item.path}:{plain_name(item.name)}" for item in (ran.caller, ran.callee))
        told = dict(zip(("caller", "callee"), names, strict=True))
        made.missed.append(Missed(**told, path=ran.caller.path, line=ran.place.line, cause=cause))


def _judge(made: Mapping[str, Compared], known: Known, trace: Trace, text: Callable[[str], Text], inside: str) -> None:
    """Edges of the index at calls that ran: of functions of the package that run when they are called, by the name that is called."""
    led: dict[tuple[str, int, int], set[str]] = {}
    for ran in trace.calls:
        where = text(ran.caller.path).called_name(ran.place)
        if where is not None and not ran.between:
            led.setdefault((ran.caller.path, *where), set()).add(known.symbol(ran.callee) if not ran.callee.is_later else "")
    for path, place in trace.out:
        where = text(path).called_name(place)
        if where is not None:
            led.setdefault((path, *where), set())
    later = {known.symbol(ran.callee) for ran in trace.calls if ran.callee.is_later}
    for (path, line, col), ran_there in sorted(led.items()):
        if "" in ran_there:  # a generator began there, or what has no symbol
            continue
        group = made["within" if path.startswith(inside) else "from tests"]
        told = known.at.get((path, line, col), ())
        name = text(path).name_at(line, col)
        is_remade = any(via == "decorated" and callee in ran_there for callee, _, via in told)
        for callee, evidence, via in told:
            is_ours = known.kinds.get(callee) in ("function", "method") and known.paths[callee].startswith(inside)
            if not is_ours or callee in later or _runs_by_itself(callee):
                continue
            is_of_name = via == "none" or known.names.get(callee) == name
            is_true = (is_remade and is_of_name) or any(callee in (other, *known.above(other)) for other in ran_there)
            true, false = group.judged.get(evidence, (0, 0))
            group.judged[evidence] = (true + is_true, false + (not is_true))
            if not is_true:
                group.contradicted.append(Contradicted(callee=callee, path=path, line=line, evidence=evidence, ran=sorted(ran_there)))


def _runs_by_itself(callee: str) -> bool:
    """Whether it runs without its name, so that another expression at the same place may have run it: `with f() as x`."""
    return callee.removesuffix("().").endswith("__")


# ---- the tables

_HEAD = "| package | calls | pairs | named | by what is overridden | possible | a gap says so | missed | recall % | by a library, named |"


def to_markdown(found: Mapping[str, Mapping[str, Compared]], held_out: Sequence[str]) -> str:
    """A line for each package and group of callers; then one for each evidence; then one for each cause of what is missed."""
    lines = [_HEAD, f"|---|---|{'---:|' * 8}"]
    for name, groups in found.items():
        for group, item in groups.items():
            cells = (item.pairs, item.named, item.overridden, item.possible, item.gap, len(item.missed))
            told = f"{item.recall:.1f} | {item.between_named:,} of {item.between:,} |"
            title = f"{name}{' (held out)' if name in held_out else ''}"
            lines.append(f"| {title} | {group} | {' | '.join(f'{cell:,}' for cell in cells)} | {told}")
    all_groups = [item for groups in found.values() for item in groups.values()]
    lines += ["", "| evidence | true when it ran | led elsewhere | precision % |", "|---|---:|---:|---:|"]
    for evidence in sorted({word for item in all_groups for word in item.judged}):
        true, false = (sum(item.judged.get(evidence, (0, 0))[side] for item in all_groups) for side in (0, 1))
        lines.append(f"| {evidence} | {true:,} | {false:,} | {100 * true / (true + false):.1f} |")
    lines += ["", f"| what is missed leads by | pairs | {' | '.join(found)} |", f"|---|---:|{'---:|' * len(found)}"]
    for cause, count in by_count(missed.cause for item in all_groups for missed in item.missed):
        each = (sum(missed.cause == cause for item in groups.values() for missed in item.missed) for groups in found.values())
        lines.append(f"| {cause} | {count} | {' | '.join(map(str, each))} |")
    return "\n".join(lines)
