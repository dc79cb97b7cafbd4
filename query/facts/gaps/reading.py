"""Files whose text was not read at its present content, or not asked about: changed, lost, cut, skipped (condition a)."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Callable, Collection, Container, Sequence
from typing import NamedTuple

from indexer.languages import record_of
from indexer.model import QUESTIONS_CUT, TREE_KNOWN, CoverageStatus, SkipReason
from indexer.text import word_digest
from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts.folders import index_command
from query.facts.gaps import causes
from query.facts.gaps.scope import Scope
from query.facts.index import Index

SYNTAX = "syntax"
SUPERTYPES = "typeHierarchy/supertypes"

STALE = "stale"

_ASKED = {
    SYNTAX: "identifiers",
    "textDocument/definition": "meanings of identifiers",
    "textDocument/documentSymbol": "symbols",
    "textDocument/hover": "signatures",
    "textDocument/diagnostic": "diagnostics",
    SUPERTYPES: "supertypes",
}
"""What a method tells, in words."""

_OUTLINE = "outline"
"""Stands for `no_server` where of a language nothing but an outline is known without one."""

_HARMLESS_SKIPS = frozenset(
    {
        SkipReason.EXCLUDED,  # the user said so
        SkipReason.SYMLINK,  # reachable under another path; where it lies it may name what lies beside it
        SkipReason.VENDORED,  # other people's code, unless it was searched and has the name that was asked about
        SkipReason.BUILT, SkipReason.BUNDLED, SkipReason.MINIFIED,  # copies of what is read, or of what others wrote
        # other repositories may be used by this one, and do not use it
        SkipReason.NESTED_REPOSITORY, SkipReason.WORK_TREE, SkipReason.SUBMODULE, SkipReason.HIDDEN_FOLDER,
    }
)  # fmt: skip

_GAPS = """
    SELECT d.path, d.language, c.method, c.status, c.reason
    FROM document_coverage c JOIN document d USING (doc_id)
    WHERE c.status IN ('lost', 'unsupported') OR c.reason = 'no_server' OR starts_with(c.reason, 'targets_cut')
       OR starts_with(c.reason, 'not_in_build') OR is_cut(c.reason)
       OR (c.method = 'syntax' AND c.reason <> '')
    ORDER BY c.method, c.status, c.reason, d.path
"""

_SKIPPED = """
    SELECT k.reason, k.path, k.language, w.path IS NOT NULL AND k.reason <> 'no_server' FROM skipped k LEFT JOIN skipped_word w USING (path)
    WHERE k.reason NOT IN ('not_read', 'ignored', 'other_repository') ORDER BY ALL
"""
"""What is not read because nobody can read it is of `query.facts.gaps.unread`."""


def stale(index: Index, paths: Sequence[str], unsaved: Container[str] = ()) -> list[Reason]:
    """Files that have changed since they were read, all of these. `unsaved`: those that have changed in an editor, as far as is known."""
    if edited := [path for path in paths if path in unsaved]:
        said = "1 file has changes" if len(edited) == 1 else f"{len(edited)} files have changes"
        told = of_paths("unsaved", f"{said} that are not saved, of which the index knows nothing; to have them counted: save", edited)
        return [told, *stale(index, [path for path in paths if path not in unsaved])]
    if not paths:
        return []
    plural = "s have" if len(paths) > 1 else " has"
    remedy = "it is being brought up to date, so ask again" if index.is_catching_up else f"to bring it up to date: {index_command(index)}"
    detail = f"{len(paths)} file{plural} changed since the index was made; {remedy}"
    return [of_paths(STALE, detail, paths)]


class Gap(NamedTuple):
    """A document that a method was not asked about, or did not answer. `reason` as the crawl wrote it."""

    path: str
    language: str
    method: str
    status: str
    reason: str

    @property
    def code(self) -> str:
        return self.reason.split(":", 1)[0]


def _gaps(index: Index, methods: Sequence[str]) -> list[Gap]:
    found: list[Gap] = index.keep("gaps", lambda: [gap for row in index.rows(_GAPS) if not _is_told_by_text(gap := Gap(*row))])
    is_told = any(method != SYNTAX for method in methods)  # by the gaps of what a server tells: none was asked about any of it
    return [gap for gap in found if gap.method in methods and not (is_told and gap.method == SYNTAX and _is_alone(gap))]


def _is_alone(gap: Gap) -> bool:
    """Whether the document was read by itself, for want of a server."""
    return gap.status == CoverageStatus.SKIPPED and gap.code == SkipReason.NO_SERVER


def _is_outline(gap: Gap) -> bool:
    """Whether nothing but an outline is known of the document (ADR 0131)."""
    return _is_alone(gap) and record_of(gap.language).grammar is None


def _is_told_by_text(gap: Gap) -> bool:
    """Whether nothing is missing for it that a server does not tell of types above: the text names all of them, or there are no types."""
    record = record_of(gap.language)
    is_untold = gap.method == SUPERTYPES and gap.status == CoverageStatus.UNSUPPORTED
    return is_untold and (not record.has_types or (record.bases_are_named and not record.satisfies))


def coverage(
    index: Index, methods: Sequence[str], holds: Callable[[str], bool] | None, family: Collection[str] = (), *, of_callees: bool = False
) -> list[Reason]:
    """Documents that one of these methods was not asked about, or did not answer.

    Args:
        of_callees: a text that was not understood lacks no call where its compiler told them all.
    """
    found = [gap for gap in _gaps(index, methods) if (holds is None or holds(gap.path)) and (not family or gap.language in family)]
    return _told(index, [gap for gap in found if not of_callees or gap.reason != TREE_KNOWN])


def skipped(index: Index, family: Collection[str] = (), holds: Callable[[str], bool] | None = None) -> list[Reason]:
    """Files that were not read and may hold what was asked about."""
    by_reason: dict[str, list[str]] = {}
    for reason, path, language, _ in _skipped(index):
        counts = reason not in _HARMLESS_SKIPS and (language or reason != SkipReason.UNLISTED_LINK)
        if counts and (not family or not language or language in family) and (holds is None or holds(path)):
            by_reason.setdefault(reason, []).append(path)
    return [of_paths(f"skipped_{reason}", causes.not_read(reason, found), found) for reason, found in by_reason.items()]


def not_checked_out(index: Index) -> frozenset[str]:
    """Paths of the files that a sparse checkout leaves out."""
    return frozenset(path for reason, path, *_ in _skipped(index) if reason == SkipReason.NOT_CHECKED_OUT)


def _skipped(index: Index) -> list[tuple[str, str, str, bool]]:
    rows: list[tuple[str, str, str, bool]] = index.keep("skipped files", lambda: index.rows(_SKIPPED))
    return rows


# ---- for questions about uses: only where one can be


class Touching(NamedTuple):
    """Files that were not read at their present content, or not asked about, and may refer to what was asked about.

    stale: that have changed, are new or are gone. gaps: of what was read in part. left_out: by the reason for which they were not read.
    """

    stale: list[str]
    gaps: list[Gap]
    left_out: dict[str, list[str]]

    @property
    def paths(self) -> set[str]:
        return {*self.stale, *(gap.path for gap in self.gaps), *(path for found in self.left_out.values() for path in found)}


def touching(index: Index, scope: Scope, moved: Sequence[str], methods: Sequence[str]) -> Touching:
    """The files that an answer about uses may lack something for.

    Args:
        moved: files that have changed, are new or are gone since the index was made.
    """
    gone = set(moved)
    gaps = [gap for gap in _gaps(index, methods) if gap.path not in gone and scope.is_visible(gap.path)]
    return Touching(scope.touched_by_change(moved), _touching(scope, gaps), _left_out(index, scope, gone))


def told(index: Index, scope: Scope, found: Touching, unsaved: Container[str] = (), typed: Callable[[], str] | None = None) -> list[Reason]:
    """Why, in words. `typed`: makes a text that means what was asked about where it is typed."""
    names = sorted(scope.names) if found.left_out else []
    words = names if len(names) == 1 else ()
    reasons = [*stale(index, found.stale, unsaved), *_told(index, found.gaps, scope, typed)]
    return reasons + [of_paths(f"skipped_{why}", causes.not_read(why, paths, words), paths) for why, paths in found.left_out.items()]


def _touching(scope: Scope, gaps: Sequence[Gap]) -> list[Gap]:
    """Those in whose files a name of what was asked about stands unresolved, or may stand."""
    if not gaps:
        return []
    open_in = scope.unresolved_in()
    in_part = [
        gap.path for gap in gaps if gap.status == CoverageStatus.SKIPPED or (gap.method == SYNTAX and gap.status != CoverageStatus.LOST)
    ]
    unparsed = scope.lines_not_read(list(dict.fromkeys(in_part)))
    several = scope.ambiguous_in({gap.path for gap in gaps if gap.code == "targets_cut"})
    found: list[Gap] = []
    for gap in gaps:
        if gap.method == SUPERTYPES:
            counts = scope.has_types and (gap.status != CoverageStatus.UNSUPPORTED or scope.fits_unnamed(gap.language))
        elif gap.code == "targets_cut":
            counts = gap.path in several or gap.path in open_in
        elif gap.status == CoverageStatus.SKIPPED:  # no server was asked
            counts = _is_outline(gap) or scope.is_nameless or gap.path in open_in or gap.path in unparsed
        elif gap.method != SYNTAX:
            counts = scope.is_nameless or gap.path in open_in
        elif gap.status == CoverageStatus.LOST:
            counts = scope.could_refer(gap.path)
        else:
            counts = scope.is_nameless or gap.path in unparsed
        if counts:
            found.append(gap)
    return found


def _left_out(index: Index, scope: Scope, gone: Collection[str]) -> dict[str, list[str]]:
    """Files that were not read and have a name, by the reason: but for what the user has excluded, and beyond the workspace's borders.

    A link that leads out of the workspace leads to files that are none of its own.
    """
    rows = [row for row in _skipped(index) if row[1] not in gone and scope.is_visible(row[1])]
    having: set[str] = set()
    if any(is_searched for *_, is_searched in rows):
        sql = "SELECT path FROM skipped_word WHERE list_has_any(words, $words::UINTEGER[])"
        having = {path for (path,) in index.rows(sql, {"words": [word_digest(name) for name in scope.names]})}
    found: dict[str, list[str]] = {}
    for reason, path, _, is_searched in rows:
        if is_searched:
            is_near = reason != SkipReason.SYMLINK or posixpath.dirname(path) in {posixpath.dirname(own) for own in scope.own_paths}
            counts = path in having and is_near
        else:
            counts = reason not in _HARMLESS_SKIPS and reason != SkipReason.UNLISTED_LINK and scope.could_refer(path)
        if counts:
            found.setdefault(reason, []).append(path)
    return found


def _told(index: Index, gaps: Sequence[Gap], scope: Scope | None = None, typed: Callable[[], str] | None = None) -> list[Reason]:
    """One reason for each cause. `scope`: of a question about uses, of which they hold a name. `typed`: as `told` has it."""
    groups: dict[tuple[str, str, str], list[Gap]] = {}
    for gap in gaps:
        kind = gap.reason if gap.code == SkipReason.NOT_IN_BUILD else _OUTLINE if _is_outline(gap) else gap.code
        groups.setdefault((gap.method, gap.status, kind), []).append(gap)
    reasons: list[Reason] = []
    for (method, status, reason), found in groups.items():
        paths = [gap.path for gap in found]
        code, detail = _gap(index, method, status, reason, found, scope)
        if typed is not None and scope is not None and status == CoverageStatus.SKIPPED and (open_in := scope.unresolved_in()):
            count = sum(open_in.get(path, 0) for path in paths)
            named = "1 identifier of that name" if count == 1 else f"{count} identifiers of that name"
            detail += f"; {named}: lspidx query references {shlex.quote(typed())} --possible" if count else ""
        reasons.append(of_paths(code, detail, [] if code == "unsupported" else paths, len(paths)))
    return reasons


def _gap(index: Index, method: str, status: str, reason: str, gaps: Sequence[Gap], scope: Scope | None) -> tuple[str, str]:
    """Code and words of what was not asked, or not answered, about some files."""
    count = len(gaps)
    files, what = causes.files(count), _ASKED.get(method, method)
    code = reason.split(":", 1)[0]
    if code == _OUTLINE:
        languages = ", ".join(sorted({gap.language for gap in gaps}))
        lacks = "symbols that macros make" if method in (SYNTAX, "textDocument/documentSymbol") else what
        said = f"{lacks} are unknown in {files}: of {languages} there is an outline only, without a language server"
        return str(SkipReason.NO_SERVER), f"{said}; what to install: lspidx doctor"
    named = (
        ""
        if scope is None or method == SUPERTYPES or len(scope.names) != 1
        else f" that {'has' if count == 1 else 'have'} the word '{next(iter(scope.names))}'"
    )
    if code == SkipReason.TOO_SLOW:
        return (
            code,
            f"{what} are unknown in {files}{named}: no parser reads such a text in a time that fits its size;"
            f" if it is no source, leave it out: lspidx index {causes.options('--exclude', [gap.path for gap in gaps])}",
        )
    if method == SYNTAX and status != CoverageStatus.LOST:
        has = "has" if count == 1 else "have"
        where = "" if scope is None else causes.at_lines(gaps[0].path, scope.lines_not_read([gaps[0].path]))
        return (
            "syntax_error",
            f"{files} {has} a syntax error, or syntax newer than lspidx{where}: the rest was read; to have all of it read, correct it",
        )
    if code == SkipReason.NOT_IN_BUILD:
        return code, f"{what} are unknown in {files}{named} {causes.not_in_build(reason)}"
    if code == QUESTIONS_CUT:
        return (
            code,
            f"{what} are known of a part of {files}{named} only, at the limit of questions; to ask more: max_file_questions in lspidx.toml",
        )
    if code == SkipReason.TOO_DEEP:
        return code, f"{what} are unknown in {files}{named}: nested more deeply than max_file_depth, no server was asked about it"
    if status == CoverageStatus.SKIPPED:
        return code, f"{what} are unknown in {files}{named}: there was no language server; what to install: lspidx doctor"
    if code == "targets_cut":
        return (
            code,
            f"in {files}{named} an identifier may mean more than 40 things, of which 40 are kept; those beyond are not in any index",
        )
    if status == CoverageStatus.LOST:
        return f"lost_{code}", f"{what} are unknown in {files}{named}: {causes.lost(index, reason, gaps[0].language)}"
    does_not = "tells no supertypes, so those are known that the text names" if method == SUPERTYPES else f"does not answer {method}"
    return "unsupported", f"the language server {does_not}; {causes.other_servers(index, gaps[0].language)}"
