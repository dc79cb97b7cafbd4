"""Tests of Java: methods with an annotation of JUnit or of one like it, methods named `test…` of classes below another; and their names.

A test is named as Surefire takes it, `shop.ItemTest$Inner#works`, by the class that runs it: a class below runs what it inherits, and an
abstract one runs nothing. A test class in which nobody finds a test (an annotation of a library) is one test as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from indexer.model import TYPE_KINDS
from query.facts.declarations import signatures
from query.facts.decorators import decorators_of
from query.facts.hierarchy import all_subtypes, reachable
from query.facts.index import Index
from query.facts.registration import above_types
from query.facts.scopes import around, scopes
from query.facts.symbols import symbols_by_id
from query.facts.test_functions import java_test_members

_ANNOTATIONS = frozenset(("Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory", "Property", "Example"))
_RUN_BY_NAME = re.compile(r"Test\w*|\w*Tests?|\w*TestCase|\w*IT")
_ABSTRACT = re.compile(r"\babstract\b[^{(]*\bclass\b")


class Junit(NamedTuple):
    """tests: methods that are run. wholes: classes that are run as one. of: by class what runs with it: its tests and those within it."""

    tests: frozenset[int]
    wholes: frozenset[int]
    of: Mapping[int, tuple[int, ...]]


def junit_tests(index: Index) -> Junit:
    """All of an index; read once."""
    found: Junit = index.keep("tests of junit", lambda: _read(index))
    return found


def _read(index: Index) -> Junit:
    members = java_test_members(index)
    if not members:
        return Junit(frozenset(), frozenset(), {})
    methods = [member.sym_id for member in members if not member.is_type]
    types = [member.sym_id for member in members if member.is_type]
    names: dict[int, set[str]] = {}
    for item in decorators_of(index, sorted({*methods, *types})):
        names.setdefault(item.of, set()).add(item.name)
    known = scopes(index, [*methods, *types])
    own = _ANNOTATIONS | {known[sym_id].name for sym_id in types if names.get(sym_id, set()) & _ANNOTATIONS}
    above = above_types(index)
    tests: set[int] = set()
    for sym_id in methods:
        container = known[sym_id].container
        is_annotated = any(name in own or name.endswith("Test") for name in names.get(sym_id, ()))
        is_below = container is not None and bool(above.bases(container))
        if is_annotated or (known[sym_id].name.startswith("test") and is_below and not names.get(sym_id)):
            tests.add(sym_id)
    of: dict[int, list[int]] = {}
    for sym_id in sorted(tests):
        for holder in _types_around(index, sym_id):
            of.setdefault(holder, []).append(sym_id)
    with_tests = {known[sym_id].doc_id for sym_id in tests}
    heirs = _below(index, of.keys() & set(types))
    wholes = {
        sym_id
        for sym_id in types
        if known[sym_id].doc_id not in with_tests
        and sym_id not in heirs
        and len(_types_around(index, sym_id)) == 1
        and _RUN_BY_NAME.fullmatch(known[sym_id].name)
    }
    return Junit(frozenset(tests), frozenset(wholes), {holder: tuple(found) for holder, found in of.items()})


def _types_around(index: Index, sym_id: int) -> list[int]:
    """The types that a symbol is or lies in, from the inside out."""
    chain = list(around(index, sym_id))
    known = scopes(index, chain)
    return [step for step in chain if known[step].kind in TYPE_KINDS]


def _below(index: Index, types: Collection[int]) -> set[int]:
    edges = all_subtypes(index, types)
    return {sub_id for type_id in types for sub_id in reachable(edges, type_id)}


def runs_nothing(index: Index, types: Collection[int]) -> set[int]:
    """Those of the types that are abstract, so that no runner makes one."""
    return {sym_id for sym_id, signature in signatures(index, types).items() if _ABSTRACT.search(signature)}


def selector(index: Index, owner: int, name: str = "") -> str:
    """A test as the class that runs it has it; without a name the class."""
    chain = _types_around(index, owner)[::-1]
    known = scopes(index, chain)
    outermost = symbols_by_id(index, chain[:1])[chain[0]].record.qualified_name
    of_class = "$".join([outermost, *(known[step].name for step in chain[1:])])
    return f"{of_class}#{name}" if name else of_class
