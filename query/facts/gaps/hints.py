"""Why names of a document may be unresolved: what the index lacks around it, and what helps. Told once in an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from indexer.languages import record_of
from query.answers.envelope import Answer, Reason
from query.facts.families import languages_of
from query.facts.index import Index

FETCH = "lspidx index --fetch"

_TOLD = "hints told"
_SEPARATORS = re.compile(r"[-_.]+")

_IMPORTS = """
    SELECT DISTINCT o.doc_id, s.doc_id FROM occ o JOIN symbol s USING (sym_id)
    WHERE has_role(o.roles, 'import') AND s.doc_id <> o.doc_id AND NOT has_flag(s.flags, 'external')
"""


def hint(index: Index, paths: Collection[str], refused: Callable[[Collection[str]], Iterable[Reason]]) -> str:
    """Why names in these documents may be unresolved, and what helps; empty where nothing is known to be missing for them.

    Args:
        refused: gives what nobody allowed to be looked at, for some languages.
    """
    languages = {languages_of(index).get(path, "") for path in paths}
    lacking = [item for item in prerequisites(index) if item["language"] in languages and _is_behind(index, item, paths)]
    told = [f"; {item['detail']}, which may be why{': ' if (helps := remedy(index, item)) else ''}{helps}" for item in lacking]
    told += [f"; {reason.detail}" for reason in refused(languages)]  # a place outside, which may define what is unresolved
    if not told:
        return ""
    known: set[str] = index.keep(_TOLD, set)
    known.add(told[0])
    return told[0]


def prerequisites(index: Index) -> list[dict[str, Any]]:
    """What was missing when the index was made, as the manifest has it."""
    found: list[dict[str, Any]] = index.manifest().get("prerequisites", [])
    return found


def remedy(index: Index, item: Mapping[str, Any]) -> str:
    """What brings one of them, or more of them than one; empty where the index was made with all that is known to help."""
    return ", or ".join(ways(item, fetched=bool(index.home.flags().get("fetch"))))


def ways(item: Mapping[str, Any], *, fetched: bool) -> list[str]:
    """Commands that bring a prerequisite. `fetched`: `--fetch` has been tried, and did not."""
    commands = [item["remedy"], *[FETCH] * item["can_fetch"]]
    return [command for command in dict.fromkeys(commands) if not (fetched and command == FETCH)]


def told_once(answer: Answer[Any], index: Index) -> Answer[Any]:
    """Without the hints that an earlier reason of the same answer has."""
    reasons = without_repeated(index, answer.completeness.reasons)
    if reasons == answer.completeness.reasons:
        return answer
    return msgspec.structs.replace(answer, completeness=msgspec.structs.replace(answer.completeness, reasons=reasons))


def without_repeated(index: Index, reasons: Sequence[Reason]) -> list[Reason]:
    """The same reasons, each hint in the first one only that has it."""
    told: set[str] = index.keep(_TOLD, set)
    said: set[str] = set()
    found: list[Reason] = []
    for reason in reasons:
        detail = reason.detail
        for text in told:
            if text in detail:
                detail = detail.replace(text, "") if text in said else detail
                said.add(text)
        found.append(reason if detail == reason.detail else msgspec.structs.replace(reason, detail=detail))
    return found


# ---- whether what is missing can be why


def _is_behind(index: Index, item: Mapping[str, Any], paths: Collection[str]) -> bool:
    """Whether one of the documents, or what it imports, imports what nobody could resolve: in languages whose names have to be imported.

    Where the packages that are missing are few and each has an unresolved module of its name, only those modules count.
    """
    if not record_of(item["language"]).imports_names:
        return True
    opened = _with_unresolved(index, item)
    imported: dict[int, set[int]] = index.keep("imported documents", lambda: _imported(index))
    wanted = {doc_id for doc_id, path in _paths(index).items() if path in paths}
    seen: set[int] = set()
    while wanted:
        if wanted & opened:
            return True
        seen |= wanted
        wanted = {other for doc_id in wanted for other in imported.get(doc_id, ())} - seen
    return False


def _with_unresolved(index: Index, item: Mapping[str, Any]) -> set[int]:
    """Documents with an unresolved import that may be of what is missing."""
    rows: list[tuple[int, str]] = index.keep("unresolved imports", lambda: index.rows("SELECT doc_id, module FROM unresolved_import"))
    modules = {_normal(module.partition(".")[0]) for _, module in rows}
    packages = {_normal(name) for name in item.get("packages") or ()}
    only = packages if packages and packages <= modules else modules
    return {doc_id for doc_id, module in rows if _normal(module.partition(".")[0]) in only or module.startswith(".")}


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()


def _imported(index: Index) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for doc_id, other in index.rows(_IMPORTS):
        found.setdefault(doc_id, set()).add(other)
    return found


def _paths(index: Index) -> dict[int, str]:
    sql = "SELECT doc_id, path FROM document WHERE status <> 'external'"
    found: dict[int, str] = index.keep("paths of documents", lambda: dict(index.rows(sql)))
    return found
