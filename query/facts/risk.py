"""How far a change of a symbol reaches: a ladder from nobody to several packages, and whether that is known."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

import msgspec

from query.facts.completeness import DEFINITION, Certificate
from query.facts.documents import documents
from query.facts.hierarchy import overridden
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.unresolved_names import unresolved_names
from query.facts.uses import Use

Level = Literal["high", "medium", "low", "unknown"]


class Risk(msgspec.Struct, frozen=True, kw_only=True):
    """How far a change reaches, by symbol identity.

    high: callers outside tests in more than one package, or in a package other than the symbol's own (`other_package`: one that is not
    its own is never "the same package only"). medium: in the symbol's own package only. low: no caller outside tests. unknown: none was
    found, but there may be some, see reasons. Reason codes: several_packages, other_package, same_package, no_callers, tests_only,
    imported_only (imports outside tests, no other use), dispatch (callers of what it overrides count), unresolved_same_name,
    overrides_external (something outside the workspace may call it), partial_coverage.
    """

    level: Level
    reasons: tuple[str, ...]
    packages: tuple[str, ...] = ()


def risks(
    index: Index, certificate: Certificate, ids: Collection[int], uses: Iterable[Use], *, uncertain: Collection[int] | None = None
) -> dict[int, Risk]:
    """The ladder of `Risk` for each of the symbols.

    Args:
        uses: of these symbols, as `uses_of(..., dispatch=True)` gives them.
        uncertain: those of which uses may stand in files that were not read as they are; from the certificate by default.
    """
    asked = sorted(set(ids))
    if not asked:
        return {}
    known = scopes(index, asked)
    own = {sym_id: known[sym_id] for sym_id in asked if sym_id in known}
    docs = documents(index, {scope.doc_id for scope in own.values()})
    callers: dict[int, set[str]] = {}
    marks: dict[int, set[str]] = {}
    for use in uses:
        mark = marks.setdefault(use.sym_id, set())
        if use.is_test:
            mark.add("test")
        elif use.relation == "import":
            mark.add("import")
        else:
            callers.setdefault(use.sym_id, set()).add(docs[use.doc_id].package)
            mark.add("dispatch" if use.dispatch else "direct")
    outside = {sym_id for sym_id, _, external in overridden(index, asked) if external}
    silent = [(sym_id, scope.doc_id, scope.name) for sym_id, scope in own.items() if sym_id not in callers]
    unresolved = unresolved_names(index, silent)
    if uncertain is None:
        uncertain = certificate.uncertain([sym_id for sym_id, *_ in silent], DEFINITION)
    found: dict[int, Risk] = {}
    for sym_id, scope in own.items():
        packages, mark = callers.get(sym_id, set()), marks.get(sym_id, set())
        home = docs[scope.doc_id]
        if packages:
            more = ("dispatch",) if "direct" not in mark else ()
            found[sym_id] = _of_called(packages, home.package, more)
            continue
        doubts = [
            code
            for code, there in (
                ("unresolved_same_name", sym_id in unresolved),
                ("overrides_external", sym_id in outside),
                ("partial_coverage", sym_id in uncertain),
            )
            if there
        ]
        reason = "imported_only" if "import" in mark else "tests_only" if "test" in mark else "no_callers"
        found[sym_id] = Risk(level="unknown" if doubts else "low", reasons=(reason, *doubts))
    return found


def _of_called(packages: Collection[str], home: str, more: tuple[str, ...]) -> Risk:
    """The risk of what has callers outside tests, in these packages."""
    if len(packages) > 1:
        level, reason = "high", "several_packages"
    elif home not in packages:
        level, reason = "high", "other_package"
    else:
        level, reason = "medium", "same_package"
    return Risk(level=level, reasons=(reason, *more), packages=tuple(sorted(packages)))
