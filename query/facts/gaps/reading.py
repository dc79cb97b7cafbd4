"""Files whose text was not read at its present content, or not asked about: changed, lost, cut, skipped (condition a)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence

from indexer.model import FOREIGN, SkipReason
from indexer.text import word_digest
from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts.folders import index_command
from query.facts.index import Index

SUPERTYPES = "typeHierarchy/supertypes"

_HARMLESS_SKIPS = frozenset(
    {
        SkipReason.EXCLUDED,  # the user said so
        SkipReason.SYMLINK,  # reachable under another path
        SkipReason.VENDORED,  # other people's code, unless it was searched and has the name that was asked about
        SkipReason.BUILT, SkipReason.BUNDLED, SkipReason.MINIFIED,  # copies of what is read, or of what others wrote
        # other repositories may be used by this one, and do not use it
        SkipReason.NESTED_REPOSITORY, SkipReason.WORK_TREE, SkipReason.SUBMODULE, SkipReason.HIDDEN_FOLDER,
    }
)  # fmt: skip

_SENTENCES = {
    "too_large": "larger than max_file_bytes",
    "too_deep": "nested more deeply than max_file_depth",
    "binary": "with NUL bytes in them",
    "not_decodable": "that are not UTF-8",
    "lfs_pointer": "whose content git-lfs keeps elsewhere",
    "generated": "written by a generator",
    "vendored": "copied from other projects",
    "unreadable": "that could not be read",
    "name_not_utf8": "whose names are not UTF-8",
    "no_server": "of a language that has no server here",
    "not_regular": "that are no regular files",
    "unlisted_link": "that are links to what is no file of the workspace",
}

_GAPS = """
    SELECT d.path, d.language, c.method, c.status, split_part(c.reason, ':', 1)
    FROM document_coverage c JOIN document d USING (doc_id)
    WHERE c.status IN ('lost', 'unsupported') OR c.reason = 'no_server' OR starts_with(c.reason, 'targets_cut')
       OR starts_with(c.reason, 'not_in_build') OR starts_with(c.reason, 'questions_cut')
       OR starts_with(c.reason, 'too_deep')
       OR (c.method = 'syntax' AND c.reason <> '')
    ORDER BY c.method, c.status, c.reason, d.path
"""

_SKIPPED = "SELECT k.reason, k.path, k.language, w.path IS NOT NULL FROM skipped k LEFT JOIN skipped_word w USING (path) ORDER BY ALL"


def stale(index: Index, paths: list[str]) -> list[Reason]:
    if not paths:
        return []
    plural = "s have" if len(paths) > 1 else " has"
    detail = f"{len(paths)} file{plural} changed since the index was made; to bring it up to date: {index_command(index)}"
    return [of_paths("stale", detail, paths)]


def coverage(index: Index, methods: Sequence[str], holds: Callable[[str], bool] | None, family: Collection[str] = ()) -> list[Reason]:
    """Documents that one of these methods was not asked about, or did not answer."""
    gaps: list[tuple[str, str, str, str, str]] = index.keep("gaps", lambda: index.rows(_GAPS))
    groups: dict[tuple[str, str, str], list[str]] = {}
    for path, language, method, status, reason in gaps:
        if method in methods and (holds is None or holds(path)) and (not family or language in family):
            groups.setdefault((method, status, reason), []).append(path)
    extent = index.meta.get("partial")
    cut_off = not_crawled(extent, index) if extent else ""
    reasons: list[Reason] = []
    for (method, status, reason), paths in groups.items():
        code, detail = _gap(method, status, reason, len(paths), cut_off)
        reasons.append(of_paths(code, detail, [] if code == "unsupported" else paths, len(paths)))
    return reasons


def skipped(index: Index, family: Collection[str] = (), holds: Callable[[str], bool] | None = None, name: str = "") -> list[Reason]:
    """Files that were not read and may hold what was asked about.

    Args:
        name: where given, a file that was searched for words counts only if it has this one.
    """
    rows: list[tuple[str, str, str, bool]] = index.keep("skipped files", lambda: index.rows(_SKIPPED))
    having: set[str] = set()
    if name and any(is_searched for *_, is_searched in rows):
        sql = "SELECT path FROM skipped_word WHERE list_contains(words, ?::UINTEGER)"
        having = {path for (path,) in index.rows(sql, [word_digest(name)])}
    by_reason: dict[tuple[str, bool], list[str]] = {}
    for reason, path, language, is_searched in rows:
        by_word = bool(name) and is_searched
        counts = path in having if by_word else reason not in _HARMLESS_SKIPS and (language or reason != SkipReason.UNLISTED_LINK)
        if counts and (not family or not language or language in family) and (holds is None or holds(path)):
            by_reason.setdefault((reason, by_word), []).append(path)
    return [
        of_paths(f"skipped_{reason}", _not_read(reason, found, name if by_word else ""), found)
        for (reason, by_word), found in by_reason.items()
    ]


def _gap(method: str, status: str, reason: str, count: int, cut_off: str) -> tuple[str, str]:
    """Code and words of what was not asked, or not answered, about some files.

    Args:
        status, reason: of a row of the coverage. count: of files. cut_off: what is said of files that a run that was cut off left.
    """
    files = _files(count)
    if method == "syntax":
        return "syntax_error", f"{files} {'has' if count == 1 else 'have'} text that could not be parsed"
    if reason == "not_in_build":
        return reason, f"{method} is missing for {files} that no build takes in which was loaded; which: lspidx status"
    if reason == "questions_cut":
        return reason, f"{method} was asked about a part of {files} only, at the limit of questions (max_file_questions)"
    if reason == "too_deep":
        return reason, f"{method} was not asked about {files} nested more deeply than max_file_depth; which: lspidx status"
    if status == "skipped":
        return reason, f"{method} is missing for {files}: there was no language server for them; see: lspidx doctor"
    if reason == "targets_cut":
        return reason, f"in {files} an identifier may mean more things than are kept of it"
    if status == "lost":
        said = cut_off if reason == "not_crawled" and cut_off else reason.replace("_", " ")
        return f"lost_{reason}", f"{method} is missing for {files}: {said}"
    if method == SUPERTYPES:
        return "unsupported", "the server does not support type hierarchies, so only what the text says is known of them"
    return "unsupported", f"the server does not support {method}"


def not_crawled(extent: str, index: Index) -> str:
    """Why an index is partial, and what helps. `extent`: how many files of how many are in it."""
    return f"the run that made this index was cut off, {extent} files are in it; to go on from there: {index_command(index)}"


def _files(count: int) -> str:
    return f"{count} file{'s' if count != 1 else ''}"


def _not_read(reason: str, paths: Sequence[str], name: str) -> str:
    """`name`: the word that all of them have; empty where they were not searched."""
    one = len(paths) == 1
    what = f"{_files(len(paths))} {_SENTENCES.get(reason, reason)}"
    text = f"{what} {'has' if one else 'have'} the word '{name}' and" if name else what
    text += f" {'was' if one else 'were'} not read"
    return f"{text}; to read such: lspidx index --include {shlex.quote(paths[0])}" if reason in FOREIGN else text
