"""`request.instance` in a fixture: the object of the test class whose test asks for it. What a fixture sets of it, all these objects have.

Each fixture that names it gets a class of its own, which stands behind the bases of every class of tests that the fixture is for: those
below its folder where it is in a `conftest.py`, else those of its file, or the class that it is a method of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indexer.model import SymbolFlag, SymbolKind
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.text.program import Program

_FIXTURE, _PARAMETER = int(SymbolFlag.FIXTURE), int(SymbolFlag.PARAMETER)
_REQUEST = "request"
_OF_REQUEST = ("instance", "cls")
_EVERYWHERE = "conftest.py"
_OF_TESTS = ("test", "setup", "teardown")
"""How methods of classes of tests begin, in lower case."""


def find(program: Program, rows: Sequence[int]) -> dict[int, tuple[int, bool]]:
    """Adds those classes to a program; by row of `request.instance`, or of `request.cls`, the class, and whether it is that itself."""
    at: dict[int, list[int]] = {}
    for row in rows:
        if program.kind[row] == Kind.ATTRIBUTE and program.name[row] in _OF_REQUEST:
            fixture = _fixture_of(program, row)
            if fixture >= 0:
                at.setdefault(fixture, []).append(row)
    if not at:
        return {}
    classes = _classes(program, rows)
    found: dict[int, tuple[int, bool]] = {}
    for fixture, places in at.items():
        made = program.add_class(program.names[fixture])
        for owner in _asking(program, fixture, program.doc[places[0]], classes):
            program.add_base(owner, made)
        found.update({row: (made, program.name[row] == "cls") for row in places})
    return found


def _fixture_of(program: Program, row: int) -> int:
    """The fixture whose parameter `request` an attribute is taken of, or -1."""
    child = row + 1
    if child >= len(program.parent) or program.parent[child] != row or program.kind[child] != Kind.NAME:
        return -1
    for sym_id in program.means.get(child, ()):
        function = program.containers[sym_id]
        if (
            program.flags[sym_id] & _PARAMETER
            and program.names[sym_id] == _REQUEST
            and function >= 0
            and program.flags[function] & _FIXTURE
        ):
            return function
    return -1


def _classes(program: Program, rows: Iterable[int]) -> dict[int, int]:
    """Classes of tests and those that they inherit from, each with its file."""
    docs = {
        sym_id: program.doc[row]
        for row in rows
        if program.kind[row] == Kind.DEFINE and program.part[row] == 1
        for sym_id in program.means.get(row, ())
        if program.kinds[sym_id] == SymbolKind.CLASS
    }
    of_tests = [owner for owner in docs if any(name.lower().startswith(_OF_TESTS) for name in program.members.get(owner, ()))]
    return {base: docs[base] for owner in of_tests for base in program.order(owner) if base in docs}


def _asking(program: Program, fixture: int, doc: int, classes: dict[int, int]) -> list[int]:
    """The classes that a fixture is for; where one inherits from another, the latter alone."""
    owner = program.class_of(fixture)
    if owner >= 0:
        return [owner]
    folder, _, name = program.paths.get(doc, "").rpartition("/")
    if name == _EVERYWHERE:
        inside = {each for each, at in classes.items() if not folder or program.paths.get(at, "").startswith(f"{folder}/")}
    else:
        inside = {each for each, at in classes.items() if at == doc}
    return sorted(each for each in inside if not inside.intersection(program.order(each)[1:]))
