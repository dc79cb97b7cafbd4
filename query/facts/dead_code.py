"""Dead code and how certain that is: symbols without uses, less what a language, a runner or a manifest calls by its name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from indexer.languages import PYTHON, record_of
from indexer.model import TYPE_KINDS, SymbolKind
from query.facts import components
from query.facts.built_names import families, is_of, literals
from query.facts.decorators import decorators_of
from query.facts.documents import documents
from query.facts.families import family_of
from query.facts.freshness import Drift
from query.facts.gaps import (
    by_values,
    called_strings,
    carried_names,
    handed_modules,
    handed_objects,
    kept_fields,
    library_names,
    made_above,
    other_languages,
    read_in_text,
    reflection,
    shell_words,
    spelled_members,
    unions,
    unsaid,
)
from query.facts.gaps.strings import with_gaps
from query.facts.gaps.unread import named_in_unread
from query.facts.index import Index
from query.facts.inline_tests import test_symbols
from query.facts.registration import is_called_by_name, registered
from query.facts.scopes import scopes
from query.facts.symbols import symbols_by_id
from query.facts.unresolved_names import unresolved_names
from query.facts.unused import (
    Candidate,
    below_unknown_base,
    candidates,
    fitting_by_structure,
    with_listed_base,
    with_twins,
    with_used_kin,
)

Confidence = Literal["certain", "maybe"]

SURE: Mapping[str, str] = {
    "no_uses": "nothing names it",
    "only_itself": "only its own text does, as recursion does",
}
"""What each reason of `certain` says."""

DOUBTS: Mapping[str, str] = {
    "exported": "its name is public, and the outside may use it",
    "unresolved_same_name": "identifiers of its name could not be resolved",
    "built_name": "code that uses getattr, mock.patch or the like has a string like it, or methods that nobody names begin alike",
    "string": "a string may name it where something looks names up",
    "structural": "a protocol or an interface has a member of its name, and whoever has that calls what fits",
    "twin": "another symbol of its name may stand for it: in a base, beside it in a subclass, under another build constraint, "
    "outside as a type that it adds to, or as a name of the library that a script takes for itself",
    "subclass": "its base may keep a list of what inherits from it",
    "unknown_base": "its type has a base outside the workspace or an unresolved one, which may call it",
    "handed_over": "a public member, which whoever is handed an object may run by its name, or of a module that is handed over",
    "other_language": "a file of another language that has an interface to this one has its name",
    "string_called": "a string is its name, in a language that calls strings",
    "shell_word": "a word of a shell that may be run is its name",
    "nameless_calls": "its language, or a library that looks at types, may run it without naming it",
    "not_read": "a file that is not read, such as a template or a notebook of another language, seems to name it",
    "partial_coverage": "a file that may refer to it was not read as it is",
}
"""What each reason of `maybe` says."""


class Wanted(NamedTuple):
    """What is looked for.

    kinds: numbers of `SymbolKind`. path: a glob or what paths begin with, as the index has them; empty for any.
    exported: also what the outside may use. tests: whether symbols defined in tests count.
    """

    kinds: Sequence[int]
    path: str = ""
    exported: bool = False
    tests: Literal["include", "exclude", "only"] = "exclude"


class Dead(NamedTuple):
    """A symbol that nothing refers to. `reasons` are codes of the tool `unreferenced`; `same_name`: unresolved identifiers of its name."""

    candidate: Candidate
    confidence: Confidence
    reasons: list[str]
    same_name: int


def dead_code(index: Index, wanted: Wanted, *, drift: Drift, uncertain: Callable[[Collection[int]], Collection[int]]) -> list[Dead]:
    """Symbols that nothing refers to, certain ones first, then the longest.

    Args:
        drift: how far the work tree has moved on.
        uncertain: gives those symbols of which uses may stand in files that were not read as they are.
    """
    found = _candidates(index, wanted)
    ids = [candidate.sym_id for candidate in found]
    known = registered(index, ids)
    alive = with_used_kin(index, ids) | {sym_id for sym_id, found in known.items() if found.is_certain}
    listed = set(ids) - alive
    same_name = unresolved_names(index, _named(index, found))
    by_code = {
        "exported": {candidate.sym_id for candidate in found if candidate.is_exported},
        "unresolved_same_name": same_name,
        "built_name": _with_built_names(index, found),
        "string": with_gaps(index, [(candidate.sym_id, candidate.name) for candidate in found])
        | carried_names.concerned(index, ids, drift)
        | spelled_members.concerned(index, ids, drift)
        | kept_fields.concerned(index, ids),
        "structural": fitting_by_structure(index, ids),
        "twin": with_twins(index, ids) | _named_as_library(index, found),
        "subclass": with_listed_base(index, ids),
        "unknown_base": _with_unknown_bases(index, found),
        "handed_over": _public_members(index, found) | handed_modules.concerned(index, ids) | handed_objects.handed(index, ids).keys(),
        "other_language": other_languages.concerned(index, ids, drift),
        "string_called": called_strings.concerned(index, ids, drift),
        "shell_word": shell_words.concerned(index, ids, drift),
        "nameless_calls": _run_by_language(index, found)
        | unsaid.concerned(index, ids)
        | reflection.concerned(index, ids)
        | made_above.concerned(index, ids)
        | by_values.concerned(index, ids)
        | unions.concerned(index, ids)
        | read_in_text.concerned(index, ids),
        "not_read": named_in_unread(index, ids, drift, lambda path: family_of(index, path)),
    }
    # Many are looked at together, which says `uncertain` of more: those that nothing else speaks for are few, and are asked about alone.
    doubted = {sym_id for of_code in by_code.values() for sym_id in of_code}
    by_code["partial_coverage"] = {*uncertain([i for i in ids if i not in doubted]), *uncertain([i for i in ids if i in doubted])}
    rows: list[Dead] = []
    for candidate in found:
        if candidate.sym_id in alive or candidate.container in listed:
            continue
        doubts = [code for code, doubted in by_code.items() if candidate.sym_id in doubted]
        reasons = doubts or ["only_itself" if candidate.self_uses else "no_uses"]
        rows.append(Dead(candidate, "maybe" if doubts else "certain", reasons, same_name.get(candidate.sym_id, 0)))
    rows.sort(key=lambda row: (row.confidence != "certain", -row.candidate.lines, row.candidate.doc_id, row.candidate.sym_id))
    return rows


def _named(index: Index, found: Sequence[Candidate]) -> list[tuple[int, int, str]]:
    """Symbol, document, name; those that components export under each of the names that markup has for them."""
    named = [(candidate.sym_id, candidate.doc_id, candidate.name) for candidate in found]
    exported = [candidate.sym_id for candidate in found if candidate.name == components.DEFAULT]
    doc_of = {candidate.sym_id: candidate.doc_id for candidate in found}
    for sym_id, symbol in symbols_by_id(index, exported).items():
        named += [(sym_id, doc_of[sym_id], name) for name in sorted(components.names_of(symbol))]
    return named


def _candidates(index: Index, wanted: Wanted) -> list[Candidate]:
    found = candidates(index, wanted.kinds, wanted.path, exported=wanted.exported)
    docs = documents(index, {candidate.doc_id for candidate in found})
    inline = test_symbols(index, [candidate.sym_id for candidate in found])
    kept: list[Candidate] = []
    for candidate in found:
        document = docs[candidate.doc_id]
        is_test = document.is_test or candidate.sym_id in inline
        if wanted.tests != "include" and is_test != (wanted.tests == "only"):
            continue
        if is_called_by_name(candidate.name, document.language, is_test=is_test):
            continue
        kept.append(candidate)
    run = _run_by_runners(index, kept)
    return [candidate for candidate in kept if candidate.sym_id not in run]


def _run_by_language(index: Index, found: Sequence[Candidate]) -> set[int]:
    """Members that the language or its library runs by their names where nothing names them: `readObject`."""
    docs = documents(index, {candidate.doc_id for candidate in found})
    methods = [candidate for candidate in found if candidate.kind == SymbolKind.METHOD]
    return {candidate.sym_id for candidate in methods if record_of(docs[candidate.doc_id].language).runs(candidate.name)}


def _run_by_runners(index: Index, found: Sequence[Candidate]) -> set[int]:
    """Tests, and what prepares them, by their annotations."""
    docs = documents(index, {candidate.doc_id for candidate in found})
    running = {candidate.sym_id: names for candidate in found if (names := record_of(docs[candidate.doc_id].language).hooks.running)}
    return {item.of for item in decorators_of(index, sorted(running)) if item.name in running[item.of]} if running else set()


def _with_built_names(index: Index, found: Sequence[Candidate]) -> set[int]:
    """Those whose name is a string of a Python document, or may be made from one in a document that looks attributes up by name."""
    docs = documents(index, {candidate.doc_id for candidate in found})
    of_python = [candidate for candidate in found if docs[candidate.doc_id].language == PYTHON.name]
    if not of_python:
        return set()
    built = families(candidate.name for candidate in of_python if candidate.kind == SymbolKind.METHOD)
    strings = literals(index)
    return {
        candidate.sym_id
        for candidate in of_python
        if strings.fit(candidate.name) or (candidate.kind == SymbolKind.METHOD and is_of(candidate.name, built))
    }


def _named_as_library(index: Index, found: Sequence[Candidate]) -> set[int]:
    """Those with a name of their language's library that is used somewhere: by scripts, which may be loaded together."""
    docs = documents(index, {candidate.doc_id for candidate in found})
    named = [(docs[candidate.doc_id].language, candidate.name) for candidate in found]
    concerned = library_names.concerned(index, named)
    return {candidate.sym_id for candidate, pair in zip(found, named, strict=True) if pair in concerned}


def _public_members(index: Index, found: Sequence[Candidate]) -> set[int]:
    """Methods and properties that whoever is handed an object, as a library, may run by their names alone, whatever its type is called."""
    docs = documents(index, {candidate.doc_id for candidate in found})
    known = scopes(index, {candidate.container for candidate in found if candidate.container is not None})
    return {
        candidate.sym_id
        for candidate in found
        if candidate.kind in (SymbolKind.METHOD, SymbolKind.PROPERTY)
        and not candidate.name.startswith(("_", "#"))
        and candidate.container is not None
        and known[candidate.container].kind in TYPE_KINDS
        and record_of(docs[candidate.doc_id].language).satisfies in ("shape", "protocol")
    }


def _with_unknown_bases(index: Index, found: Sequence[Candidate]) -> set[int]:
    """Members of types that have a base of which the index does not say what it calls."""
    types = below_unknown_base(index, {candidate.container for candidate in found if candidate.container is not None})
    return {candidate.sym_id for candidate in found if candidate.container in types}
