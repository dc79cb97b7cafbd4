"""Why identifiers of a language are unresolved, where many are: in which folder, and as what they stand in the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from indexer.languages import record_of
from indexer.model import Role
from indexer.text import utf16_to_index
from query.facts.index import Index
from query.facts.sources import Sources

MANY = 0.08
"""Share of a language's identifiers above which the reasons are told."""

_LEAST = 50
_SAMPLE = 400
"""Unresolved identifiers that are looked at in the text, the same in every run."""

_FOLDER_SHARE = 0.3
"""Of all unresolved ones, the part that a folder has that is named."""

_IMPORTED, _KEYWORD = int(Role.IMPORT), int(Role.KEYWORD)
_MEMBER = "members of values whose type is unknown"
_PATH = "names below a module or type that is unknown"
_MACRO = "in macros and attributes"
_IMPORT = "imported names"
_KEY = "names of arguments and fields"
_OTHER = "names without a definition"
_BRANCH = "in branches of #if"
_DIRECTIVE = re.compile(rb"\s*#\s*(if|ifdef|ifndef|endif|define)\b")


def reasons(index: Index) -> list[dict[str, Any]]:
    """One record for each language with many: `language`, `share` and `count` of what is unresolved, `behind_imports` (the share that
    begins at an unresolved import), `folder` and `in_folder` (a part of the tree that has much of it), and `kinds`: shares of a sample.
    """
    found: list[dict[str, Any]] = []
    resolution: dict[str, dict[str, int]] = index.manifest().get("resolution") or {}
    for language, counts in sorted(resolution.items(), key=lambda item: -item[1]["unresolved"]):
        unresolved, identifiers = counts["unresolved"], counts["identifiers"]
        if unresolved < _LEAST or unresolved < MANY * identifiers:
            continue
        folder, in_folder = _folder(index, language)
        found.append(
            {
                "language": language,
                "share": unresolved / identifiers,
                "count": unresolved,
                "behind_imports": counts.get("unresolved_behind_imports", 0) / unresolved,
                "folder": folder,
                "in_folder": in_folder,
                "kinds": _kinds(index, language),
            }
        )
    return found


def lines(found: list[dict[str, Any]]) -> list[str]:
    """What a person reads of it, the largest part first."""
    said: list[str] = []
    for item in found:
        parts = [f"{share:.0%} {kind}" for kind, share in item["kinds"].items()]
        if item["behind_imports"] >= 0.01:
            parts.append(f"{item['behind_imports']:.0%} behind unresolved imports")
        if item["folder"]:
            parts.append(f"{item['in_folder']:.0%} in {item['folder']}")
        said.append(f"{item['language']}: {item['share']:.1%} of its identifiers; of these {', '.join(parts)}")
    return said


_UNRESOLVED = "FROM unresolved_name u JOIN document d USING (doc_id) WHERE d.language = $language AND d.status <> 'external'"


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


def _kinds(index: Index, language: str) -> dict[str, float]:
    """By how they stand in the text; without what lies in files that have changed."""
    sample = index.rows(
        f"SELECT d.path, u.line, u.col, u.end_col, u.roles {_UNRESOLVED} ORDER BY md5(d.path || ':' || u.line || ':' || u.col) LIMIT $most",
        {"language": language, "most": _SAMPLE},
    )
    sources = Sources(index)
    counted = Counter[str]()
    is_preprocessed = record_of(language).preprocessed
    directed: dict[str, dict[int, str]] = {}
    for path, line, col, end_col, roles in sample:
        text = sources.lines(path)
        if text is not None and line < len(text):
            if is_preprocessed and path not in directed:
                directed[path] = by_directives(text)
            kind = directed.get(path, {}).get(line) or _kind(text[line].decode("utf-8", "replace"), col, end_col, roles)
            counted[kind] += 1
    total = sum(counted.values())
    return {kind: count / total for kind, count in sorted(counted.items(), key=lambda item: (-item[1], item[0]))}


def by_directives(lines: Sequence[bytes]) -> dict[int, str]:
    """Lines that a preprocessor may leave out or puts elsewhere, with what is to be said of them; a guard of a whole file is neither."""
    found: dict[int, str] = {}
    begun: list[int] = []
    groups: list[tuple[int, int]] = []
    directives: list[int] = []
    is_continued = False
    for number, line in enumerate(lines):
        match = _DIRECTIVE.match(line)
        if is_continued or (match is not None and match[1] == b"define"):
            found[number] = _MACRO
            is_continued = line.rstrip().endswith(b"\\")
        if match is None:
            continue
        directives.append(number)
        if match[1].startswith(b"if"):
            begun.append(number)
        elif match[1] == b"endif" and begun:
            groups.append((begun.pop(), number))
    for start, end in groups:
        if (start, end) != (directives[0], directives[-1]):
            found.update(dict.fromkeys(range(start, end), _BRANCH))
    return found


def _kind(text: str, col: int, end_col: int, roles: int) -> str:
    before, after = text[: utf16_to_index(text, col)].rstrip(), text[utf16_to_index(text, end_col) :].lstrip()
    if roles & _IMPORTED:
        return _IMPORT
    if roles & _KEYWORD:
        return _KEY
    if before.endswith((".", "->")) and not before.endswith(".."):
        return _MEMBER
    if before.endswith("::"):
        return _PATH
    if (after.startswith("!") and not after.startswith("!=")) or text.lstrip().startswith(("#[", "#![")):
        return _MACRO
    return _OTHER
