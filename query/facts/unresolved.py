"""Why identifiers of a language are unresolved, where many are: by kind, in which folder, and behind which imports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from indexer.languages import record_of
from query.facts.index import Index
from query.facts.open_names import NAMING_NOTHING, Around, Kind, Open, kinds
from query.facts.sources import Sources

MANY = 0.08
"""Share of a language's identifiers above which the reasons are told."""

_LEAST = 50
_MOST = 60_000
"""Unresolved identifiers that are looked at in the text, the same in every run: whole files, until there are so many."""

_FOLDER_SHARE = 0.3
"""Of all unresolved ones, the part that a folder has that is named."""

_TOLD = 0.005
"""A kind with a smaller part is not told to people."""


def reasons(index: Index) -> list[dict[str, Any]]:
    """One record for each language with many.

    `language`; `share` and `count` of what is unresolved; `naming_nothing`: the part of it that names nothing that was to be found, since
    the build leaves it out or its file binds it nowhere; `behind_imports`: the part that lies in files with unresolved imports; `folder`
    and `in_folder`: a part of the tree that has much of it; `kinds`: shares of what was looked at, which is all (`looked_at`) up to a
    number, but for files that have changed.
    """
    found: list[dict[str, Any]] = []
    resolution: dict[str, dict[str, int]] = index.manifest().get("resolution") or {}
    for language, counts in sorted(resolution.items(), key=lambda item: -item[1]["unresolved"]):
        unresolved, identifiers = counts["unresolved"], counts["identifiers"]
        if unresolved < _LEAST or unresolved < MANY * identifiers:
            continue
        folder, in_folder = _folder(index, language)
        counted = _kinds(index, language)
        total = counted.total()
        found.append(
            {
                "language": language,
                "share": unresolved / identifiers,
                "count": unresolved,
                "looked_at": total,
                "naming_nothing": sum(counted[kind] for kind in NAMING_NOTHING) / total if total else 0.0,
                "behind_imports": counts.get("unresolved_behind_imports", 0) / unresolved,
                "folder": folder,
                "in_folder": in_folder,
                "kinds": {str(kind): number / total for kind, number in sorted(counted.items(), key=lambda item: (-item[1], item[0]))},
            }
        )
    return found


def lines(found: list[dict[str, Any]]) -> list[str]:
    """What a person reads of it, the largest part first."""
    said: list[str] = []
    for item in found:
        parts = [f"{share:.0%} {kind}" for kind, share in item["kinds"].items() if share >= _TOLD]
        if item["behind_imports"] >= 0.01:
            parts.append(f"{item['behind_imports']:.0%} in files with unresolved imports")
        if item["folder"]:
            parts.append(f"{item['in_folder']:.0%} in {item['folder']}")
        rest = item["share"] * (1 - item["naming_nothing"])
        but = f", {rest:.1%} but for what names nothing here" if item["naming_nothing"] >= _TOLD else ""
        said.append(f"{item['language']}: {item['share']:.1%} of its identifiers{but}; of these {', '.join(parts)}")
    return said


_UNRESOLVED = """
    FROM occ u JOIN document d USING (doc_id) WHERE u.sym_id IS NULL AND d.language = $language AND d.status NOT IN ('external', 'manifest')
"""


def _folder(index: Index, language: str) -> tuple[str, float]:
    """The deepest folder that has a large part of all, and is not all there is."""
    rows: list[tuple[str, int]] = index.rows(f"SELECT d.path, count(*) {_UNRESOLVED} GROUP BY 1 ORDER BY 1", {"language": language})
    whole = {path for (path,) in index.rows("SELECT path FROM document WHERE language = $language", {"language": language})}
    total = sum(count for _, count in rows)
    sums, files = Counter[str](), Counter[str]()
    for path, count in rows:
        for folder in _above(path):
            sums[folder] += count
    for path in whole:
        files.update(_above(path))
    large = [
        folder for folder, count in sums.items() if count >= _FOLDER_SHARE * total and count / total > 1.3 * files[folder] / len(whole)
    ]
    best = max(large, key=lambda folder: (folder.count("/"), sums[folder], folder), default="")
    return best, sums[best] / total if best else 0.0


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]


_OPEN = f"""
    WITH looked_at AS (
        SELECT doc_id FROM (SELECT u.doc_id, count(*) AS number, md5(d.path) AS draw {_UNRESOLVED} GROUP BY ALL)
        QUALIFY sum(number) OVER (ORDER BY draw, doc_id) - number < $most
    ), bound AS (
        SELECT doc_id, name, bool_or(has_role(roles, 'import') AND sym_id IS NULL) AS is_imported,
               bool_or(NOT has_role(roles, 'import')) AS is_bound
        FROM occ SEMI JOIN looked_at USING (doc_id)
        WHERE has_role(roles, 'definition', 'write', 'import', 'delete') GROUP BY ALL
    )
    SELECT d.path, d.is_test, u.line, u.col, u.end_col, u.name, u.roles, b.name IS NOT NULL,
           coalesce(b.is_imported AND NOT b.is_bound, false), d.doc_id IN (SELECT doc_id FROM occ WHERE has_role(roles, 'star'))
    FROM occ u JOIN document d USING (doc_id) SEMI JOIN looked_at l ON l.doc_id = u.doc_id
    LEFT JOIN bound b ON b.doc_id = u.doc_id AND b.name = u.name
    WHERE u.sym_id IS NULL ORDER BY d.path, u.line, u.col
"""


def _kinds(index: Index, language: str) -> Counter[Kind]:
    """How many of each; without what lies in files that have changed."""
    record, sources, counted = record_of(language), Sources(index), Counter[Kind]()
    for path, is_test, has_star, found in open_in_files(index, language):
        text = sources.lines(path)
        if text is not None:
            around = Around(
                binds=record.binds_in_file and not has_star,
                is_preprocessed=record.preprocessed,
                is_script_test=is_test and record.grammar is not None and record.grammar.flow == "ecmascript",
            )
            counted.update(kinds(found, text, around))
    return counted


def open_in_files(index: Index, language: str) -> Iterator[tuple[str, bool, bool, list[Open]]]:
    """Path, whether it is a test's, whether it imports all names of a module, what is open in it."""
    rows = index.rows(_OPEN, {"language": language, "most": _MOST})
    for (path, is_test, has_star), group in groupby(rows, key=lambda row: (row[0], row[1], row[9])):
        yield path, is_test, has_star, [Open(*row[2:9]) for row in group]
