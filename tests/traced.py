"""Small programs in files of cases (`=== name`, then the source), what calls what when they run, and what answers say of that."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from query.answers.envelope import Answer
from query.facts.index import Index
from query.surface.registry import call

Edges = set[tuple[str, str]]
Direction = Literal["incoming", "outgoing"]


class Differs(NamedTuple):
    """A case in which the index and the run differ, with the reason; the test fails where that gets worse or better."""

    why: str
    missing: Edges = set()
    wrong: Edges = set()


@dataclass(frozen=True)
class Ran:
    """Who called whom in a case. `by_library`: those of them between which something stands that is not written in the case."""

    edges: Edges = field(default_factory=set)
    by_library: Edges = field(default_factory=set)


Said = tuple[set[str], bool]
"""Whom an answer lists, and whether it is said to be complete."""


class Told(NamedTuple):
    """The index of all cases, and by case and name the moniker of each symbol."""

    index: Index
    symbols: dict[tuple[str, str], str]

    def ask(self, case: str, symbol: str, direction: Direction, **more: Any) -> Answer[Any]:
        return call(self.index, "find_callers", {"symbol": self.symbols[case, symbol], "direction": direction, **more})

    def names(self, case: str, answer: Answer[Any]) -> set[str]:
        own = {moniker: name for (of, name), moniker in self.symbols.items() if of == case}
        return {own.get(edge.symbol.symbol, edge.symbol.qualified_name) for edge in answer.result}

    def said(self, case: str, symbol: str, direction: Direction) -> Said:
        answer = self.ask(case, symbol, direction)
        return self.names(case, answer), answer.completeness.status == "complete"


def cases_in(folder: Path, pattern: str = "*.txt") -> dict[str, str]:
    """By the name of the file and of the case: its source."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob(pattern)):
        for part in path.read_text(encoding="utf-8").split("=== ")[1:]:
            name, _, source = part.partition("\n")
            assert f"{path.stem}_{name}" not in found
            found[f"{path.stem}_{name}"] = source.rstrip() + "\n"
    return found


def python_edges(cases: Mapping[str, str | Mapping[str, str]], folder: Path) -> dict[str, Edges]:
    """By case (a source, or the files of a package): who called whom when it ran, by dotted names within the case."""
    listed = folder / "cases.json"
    listed.write_text(json.dumps(cases), encoding="utf-8")
    command = [sys.executable, "-I", str(Path(__file__).with_name("flow_run.py")), str(listed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return {name: {(caller, callee) for caller, callee in edges} for name, edges in json.loads(done.stdout).items()}


def told_at(index: Index, names: Mapping[tuple[str, int, int], tuple[str, str]]) -> Told:
    """By the places (path, line, column) of the cases' names."""
    symbols: dict[tuple[str, str], str] = {}
    for moniker, *place in index.rows("SELECT symbol, path, sel_line, sel_col FROM symbols WHERE NOT is_external ORDER BY ALL"):
        if (where := tuple(place)) in names:
            symbols.setdefault(names[where], moniker)
    return Told(index, symbols)


def said_of_callers(told: Told, ran: Mapping[str, Ran]) -> dict[tuple[str, str], Said]:
    """By case and function that called something: whom it is said to call."""
    callers = sorted({(case, caller) for case, edges in ran.items() for caller, _ in edges.edges})
    return {(case, caller): told.said(case, caller, "outgoing") for case, caller in callers}


def silent_callees(ran: Mapping[str, Ran], callees: Mapping[tuple[str, str], Said]) -> dict[str, Any]:
    """By case what ran and is missing in a list of callees that is said to be complete; not what libraries run."""
    asked = {case: edges.edges - edges.by_library for case, edges in ran.items()}
    return _silent_in(asked, "outgoing", lambda case, symbol: callees[case, symbol])


def silent_callers(told: Told, ran: Mapping[str, Ran], callees: Mapping[tuple[str, str], Said]) -> dict[str, Any]:
    """The same of lists of callers. Rows are the same both ways, so that those are asked that no list of callees has."""
    asked = {case: {edge for edge in edges.edges if edge[1] not in callees[case, edge[0]][0]} for case, edges in ran.items()}
    return _silent_in(asked, "incoming", lambda case, symbol: told.said(case, symbol, "incoming"))


def _silent_in(asked: Mapping[str, Edges], direction: Direction, said: Callable[[str, str], Said]) -> dict[str, Any]:
    found = {case: silent(edges, direction, lambda symbol, case=case: said(case, symbol)) for case, edges in asked.items()}
    return {case: missing for case, missing in found.items() if missing}


def silent(edges: Edges, direction: Direction, told: Callable[[str], Said]) -> dict[str, set[str]]:
    """By function: what ran and is missing in an answer that is said to be complete.

    Args:
        told: gives of a function whom the answer lists, and whether it is said to be complete.
    """
    of, other = (0, 1) if direction == "outgoing" else (1, 0)
    found: dict[str, set[str]] = {}
    for symbol in sorted({edge[of] for edge in edges} - {""}):
        listed, is_complete = told(symbol)
        missing = {edge[other] for edge in edges if edge[of] == symbol} - listed
        if missing and is_complete:
            found[symbol] = missing
    return found
