"""What the index could not see of the surroundings of the workspace's files.

That is: packages that are not installed, other builds, places that nobody allowed it to look at. What is missing was found when the index
was made (`indexer.prerequisites`), and touches a question only where it hides something: see `of_uses`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from typing import Any

from indexer.languages import PYTHON, record_of
from indexer.model import TYPE_KINDS
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.families import languages_of
from query.facts.gaps import hints
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.registration import private
from query.facts.scopes import scopes
from query.facts.type_graph import OpenBase, above, below, open_bases


def of_uses(index: Index, uses: Uses) -> list[Reason]:
    """What the surroundings hide of the uses of symbols."""
    folders = [] if uses.scope.is_bounded else of_refused(index, uses.family, "folders")  # a workspace folder may use what is here
    return _of_unknown_bases(index, uses) + _of_another_build(index, uses) + _of_another_branch(index, uses) + folders


def missing(index: Index, languages: Collection[str] | None = None) -> list[Reason]:
    """What is not installed, or not there, and hides what names of these languages mean; of all languages by default."""
    return [
        Reason(
            code="missing_environment",
            detail=f"{item['language']}: {item['detail']}{'; to get it: ' if (helps := hints.remedy(index, item)) else ''}{helps}",
            count=1,
        )
        for item in hints.prerequisites(index)
        if languages is None or item["language"] in languages
    ]


def hint(index: Index, paths: Collection[str]) -> str:
    """Why names in these documents may be unresolved, and what helps; empty where nothing is known to be missing for them."""
    return hints.hint(index, paths, lambda languages: of_refused(index, languages))


def _of_unknown_bases(index: Index, uses: Uses) -> list[Reason]:
    """A base that nobody could resolve may call the members of what inherits from it, as frameworks do."""
    members = [symbol.sym_id for symbol in uses.symbols if symbol.record.container.endswith("#")]
    if uses.question != "callers" or not members or not (bases := open_bases(index)):
        return []
    known = scopes(index, members)
    members = sorted({*members} - private(index, members))
    holders = {container for sym_id in members if (container := known[sym_id].container) is not None}
    own = above(index, {container for container in holders if known[container].kind in TYPE_KINDS})
    derived = {type_id for holder in holders for type_id in below(index, [holder]) if type_id != holder}
    of_own = [base for base in bases if base.class_id in own and not _is_known_to_call_others(index, uses, base)]
    beside = [base for base in bases if base.is_made and base.class_id in derived]
    paths = index.documents({base.doc_id for base in [*of_own, *beside]})
    found: list[Reason] = []
    if of_own:
        names = sorted({base.name for base in of_own})
        at = list(dict.fromkeys(path for _, path in sorted({(base.name, paths[base.doc_id][0]) for base in of_own})))
        detail = f"{listed(names)}, a base of its type, could not be resolved, and may call what inherits from it"
        helps = hint(index, at) or "; to resolve it, install the package that defines it, then: lspidx index"
        found.append(of_paths("unresolved_base", detail + helps, at, len(names)))
    if beside:
        classes = scopes(index, {base.class_id for base in beside})
        names = [f"'{name}' ('{base}')" for name, base in sorted({(classes[base.class_id].name, base.name) for base in beside})]
        detail = f"{listed(names)} has it from its type, and beside that a base that only the running program knows, which may call it"
        found.append(of_paths("unresolved_base", detail, sorted({paths[base.doc_id][0] for base in beside}), len(names)))
    return found


def _is_known_to_call_others(index: Index, uses: Uses, base: OpenBase) -> bool:
    """Whether the name of a base is that of one of which is known what it calls, and that is none of these members: `EventEmitter`."""
    hooks = record_of(languages_of(index).get(index.documents({base.doc_id})[base.doc_id][0], "")).hooks
    calls = dict(hooks.bases).get(base.name.rpartition(".")[2])
    return calls is not None and not any(fnmatchcase(symbol.record.name, call) for symbol in uses.symbols for call in calls)


def _of_another_build(index: Index, uses: Uses) -> list[Reason]:
    """Files that only another build takes in define what those of the default build define, too, and there its name means the other."""
    others: dict[str, str] = index.keep("other builds", lambda: json.loads(index.meta.get("other_builds", "{}")))
    asked = [symbol for symbol in uses.symbols if symbol.record.path in others]
    if not asked:
        return []
    twins = index.rows(
        """
        SELECT DISTINCT d.path FROM (SELECT unnest($ids::INTEGER[]) AS id) u
        JOIN symbol s ON s.sym_id = u.id JOIN document d USING (doc_id) LEFT JOIN symbol c ON c.sym_id = s.container_id
        JOIN symbol t ON t.name = s.name AND t.doc_id <> s.doc_id AND NOT has_flag(t.flags, 'local', 'parameter', 'external')
        JOIN document e ON e.doc_id = t.doc_id LEFT JOIN symbol k ON k.sym_id = t.container_id
        WHERE regexp_replace(d.path, '[^/]*$', '') = regexp_replace(e.path, '[^/]*$', '')
          AND (NOT is_type(c.kind) AND NOT is_type(k.kind) OR c.name = k.name AND is_type(c.kind))
        """,
        {"ids": [symbol.sym_id for symbol in asked]},
    )
    found = [path for (path,) in sorted(twins)]
    if not found:
        return []
    builds = ", ".join(dict.fromkeys(others[path] for path in found))
    said = f"'{found[0]}' belongs to the build '{builds}'" if len(found) == 1 else f"{len(found)} files belong to other builds ({builds})"
    detail = (
        f"{said}, and another file of {'its' if len(found) == 1 else 'the same'} folder defines the same for other builds: files of the "
        "default build were asked about in that one only; to ask about another: environment, with GOOS, GOARCH or GOFLAGS=-tags=…, below "
        "[language.go] in lspidx.toml"
    )
    return [of_paths("other_build", detail, found)]


_BRANCHES = "to read another build: a compile_commands.json of it, in the root"


def of_left_out(found: Mapping[str, int], named: str) -> list[Reason]:
    """Identifiers in parts of files that a preprocessor leaves out, by file. `named`: which, in words."""
    if not found:
        return []
    count = sum(found.values())
    stand = f"1 identifier {named} stands" if count == 1 else f"{count} identifiers {named} stand"
    detail = f"{stand} in parts of files that the build which was read leaves out, and may belong here; {_BRANCHES}"
    return [of_paths("other_build", detail, sorted(found), count)]


def _of_another_branch(index: Index, uses: Uses) -> list[Reason]:
    """What is defined only where a preprocessor leaves it out may be meant, in its build, by names that mean another here."""
    rows = index.rows(
        """
        SELECT e.path, s.name, count(*) FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        LEFT JOIN symbol c ON c.sym_id = s.container_id
        JOIN occ o ON o.name = s.name AND o.sym_id <> s.sym_id AND NOT has_role(o.roles, 'definition')
        JOIN symbol t ON t.sym_id = o.sym_id LEFT JOIN symbol k ON k.sym_id = t.container_id JOIN document e ON e.doc_id = o.doc_id
        WHERE has_flag(s.flags, 'left_out') AND language_has(e.language, 'preprocessed') AND NOT has_flag(t.flags, 'local', 'parameter')
          AND CASE WHEN coalesce(is_type(c.kind), false) THEN c.name = k.name ELSE NOT coalesce(is_type(k.kind), false) END
        GROUP BY ALL ORDER BY ALL
        """,
        {"ids": uses.ids},
    ) if _has_left_out(index, uses.ids) else []  # fmt: skip
    found = [(path, name, count) for path, name, count in rows if uses.scope.is_visible(path)]
    if not found:
        return []
    count, name = sum(number for *_, number in found), found[0][1]
    times = "once" if count == 1 else f"{count} times"
    detail = f"the build which was read leaves '{name}' out; in another, what has its name ({times}) may mean it; {_BRANCHES}"
    return [of_paths("other_build", detail, sorted({path for path, *_ in found}), count)]


def _has_left_out(index: Index, ids: Collection[int]) -> bool:
    there: bool = index.keep("left out", lambda: index.row("SELECT 1 FROM symbol WHERE has_flag(flags, 'left_out') LIMIT 1") is not None)
    sql = "SELECT 1 FROM symbol WHERE sym_id IN (SELECT unnest($ids::INTEGER[])) AND has_flag(flags, 'left_out') LIMIT 1"
    return there and index.row(sql, {"ids": list(ids)}) is not None


def of_refused(index: Index, family: Collection[str], setting: str = "") -> list[Reason]:
    """Places that the settings of the project name and that the user has not allowed: what lies there is unknown.

    Args:
        setting: the only one that was asked about.
    """
    text = index.meta.get("refused")
    refused: list[dict[str, Any]] = index.keep("refused", lambda: json.loads(text)) if text else []
    return [
        Reason(code="not_allowed", detail=f"{item['sentence']}{': ' if item['remedy'] else ''}{item['remedy']}", count=1)
        for item in refused
        if setting in ("", item["setting"])
        if not family or not (concerned := _concerned(item)) or not concerned.isdisjoint(family)
    ]


def _concerned(refused: Mapping[str, Any]) -> set[str]:
    """The languages that may lack something for a place that was not looked at; empty for all."""
    return {PYTHON.name} if refused["setting"] in ("python", "source_roots") else set(refused.get("languages") or ())
