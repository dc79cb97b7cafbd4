"""How complete an answer is, computed from what the crawl recorded and from the work tree as it is now."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from indexer.languages import PYTHON
from indexer.model import FOREIGN, SkipReason
from indexer.text import word_digest
from query.answers.envelope import Answer, Completeness, Provenance, Reason, completeness_from
from query.answers.paths import listed, of_paths
from query.facts.documents import languages_of
from query.facts.folders import index_command
from query.facts.freshness import Drift, drift
from query.facts.gaps import unread
from query.facts.gaps.uses import Question, Uses
from query.facts.index import Index
from query.facts.symbols import Symbol

DEFINITION = ["syntax", "textDocument/definition"]
"""The methods that occurrences come from."""

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
    "excluded": "that your settings exclude",
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
       OR (c.method = 'syntax' AND c.reason <> '')
    ORDER BY c.method, c.status, c.reason, d.path
"""

_SKIPPED = """
    SELECT k.reason, k.path, k.language, w.path IS NOT NULL FROM skipped k LEFT JOIN skipped_word w USING (path)
    WHERE k.reason NOT IN ('not_read', 'ignored') ORDER BY ALL
"""
"""What is not read because nobody can read it is of `query.facts.gaps.unread`."""


_CONDITIONS: tuple[Callable[[Index, Uses], list[Reason]], ...] = (unread.reasons,)
"""What is asked for gaps when uses are asked for; each is the `reasons` of a module of `query.facts.gaps`."""


class Certificate:
    """Collects what may be missing from answers of one index; looks at the work tree once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._drift: Drift | None = None

    @property
    def drift(self) -> Drift:
        if self._drift is None:
            self._drift = drift(self._index)
        return self._drift

    def of_documents(self, paths: Sequence[str], methods: Sequence[str], more: Sequence[Reason] = ()) -> Completeness:
        """For answers that depend on these documents only: an outline, a source, a hover."""
        wanted = set(paths)
        reasons = self._stale([path for path in self.drift.paths if path in wanted])
        reasons += self._coverage(methods, wanted.__contains__)
        return self._certify([*reasons, *more])

    def of_workspace(
        self,
        methods: Sequence[str],
        name: str = "",
        more: Sequence[Reason] = (),
        *,
        about: str = "",
        language: str = "",
        holds: Callable[[str], bool] | None = None,
        typed: Callable[[], str] | None = None,
    ) -> Completeness:
        """For answers that any document may contribute to.

        Args:
            about: path of the document that the symbol in question lies in: gaps in languages that cannot refer to it are none.
            language: the only one that was asked about, in place of `about`.
            name: the symbol's own name: unresolved identifiers of that name may belong to it.
            more: what the tool itself knows to be missing.
            holds: whether a path is asked about; all are by default.
            typed: makes a text that means the symbol where it is typed, for the command that lists the identifiers of its name.
        """
        family = (language,) if language else family_of(self._index, about)
        moved = self._of_family(self.drift.paths, family)
        reasons = self._stale(moved if holds is None else [path for path in moved if holds(path)])
        if holds is None:
            reasons += self._index.keep(f"gaps {methods} {family}", lambda: self._coverage(methods, None, family))
        else:
            reasons += self._coverage(methods, holds, family)
        reasons += self._skipped(family, holds, name)
        if name:
            reasons += self._unresolved(name, family, holds, typed)
        reasons += self._of_another_build(about)
        reasons += self._of_refused(family)
        return self._certify([*reasons, *more])

    def of_uses(
        self,
        symbols: Sequence[Symbol],
        question: Question,
        methods: Sequence[str],
        more: Sequence[Reason] = (),
        *,
        typed: Callable[[], str] | None = None,
    ) -> Completeness:
        """For answers about who uses these symbols: the promise of ADR 0040, condition by condition.

        Args:
            symbols: asked about together, of one document or one family of languages. methods, more, typed: as in `of_workspace`.
        """
        about = symbols[0].record.path
        uses = Uses(symbols=tuple(symbols), question=question, family=family_of(self._index, about), could_refer=lambda path: True)
        found = [reason for reasons in _CONDITIONS for reason in reasons(self._index, uses)]
        name = symbols[0].record.name if len(symbols) == 1 and not symbols[0].is_local else ""
        return self.of_workspace(methods, name, [*found, *more], about=about, typed=typed)

    def _of_another_build(self, path: str) -> list[Reason]:
        """What a file defines that only another build takes in is used by files of the default build, too, and those were asked there."""
        others: dict[str, str] = self._index.keep("other builds", lambda: json.loads(self._index.meta.get("other_builds", "{}")))
        if path not in others:
            return []
        detail = f"'{path}' belongs to the build '{others[path]}'; who uses it there in files that the default build has too is unknown"
        return [Reason(code="other_build", detail=detail, count=1, paths=[path])]

    def _of_refused(self, family: Collection[str]) -> list[Reason]:
        """Places that the settings of the project name and that the user has not allowed: what lies there is unknown."""
        text = self._index.meta.get("refused")
        refused: list[dict[str, Any]] = self._index.keep("refused", lambda: json.loads(text)) if text else []
        return [
            Reason(code="not_allowed", detail=f"{item['sentence']}{': ' if item['remedy'] else ''}{item['remedy']}", count=1)
            for item in refused
            if not family or not (concerned := _concerned(item)) or not concerned.isdisjoint(family)
        ]

    def unresolved_calls(self, callers: Sequence[int]) -> list[Reason]:
        """Calls in the text of these symbols whose callee is unresolved."""
        if len(callers) == 1:
            rows = self._index.rows("SELECT name, doc_id FROM unresolved_call WHERE encl_id = ?", callers)
        else:
            sql = "SELECT u.name, u.doc_id FROM (SELECT unnest($ids::INTEGER[]) AS id) c JOIN unresolved_call u ON u.encl_id = c.id"
            rows = self._index.rows(f"{sql} ORDER BY ALL", {"ids": list(callers)})
        return self._unknown("unresolved_calls", "calls in the text of", "callee", rows)

    def unresolved_callers(self, callers: Sequence[int], *, about: str = "") -> list[Reason]:
        """Unresolved identifiers that have the name of one of these callers, whose own callers were asked for.

        Args:
            about: as in `of_workspace`.
        """
        rows = self._index.rows(
            """
            SELECT u.name, u.doc_id FROM unresolved_name u WHERE u.name IN (
                SELECT s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) c JOIN symbol s ON s.sym_id = c.id
                WHERE NOT has_flag(s.flags, 'local')
            ) ORDER BY ALL
            """,
            {"ids": list(callers)},
        )
        return self._unknown("unresolved_callers", "identifiers named like callers of", "meaning", rows, about)

    def unresolved_supertypes(self, classes: Sequence[int]) -> list[Reason]:
        """Unresolved bases in the class lists of these classes."""
        wanted = set(classes)
        rows = [(name, doc_id) for class_id, name, doc_id in self._unresolved_bases() if class_id in wanted]
        return self._unknown("unresolved_supertypes", "bases of", "class", rows)

    def unresolved_subtypes(self, names: Collection[str], *, about: str = "") -> list[Reason]:
        """Unresolved bases that have the name of one of these classes."""
        rows = [(name, doc_id) for _, name, doc_id in self._unresolved_bases() if name in names]
        return self._unknown("unresolved_subtypes", "bases named like", "class", rows, about)

    def _unresolved_bases(self) -> list[tuple[int, str, int]]:
        bases: list[tuple[int, str, int]] = self._index.keep(
            "unresolved bases", lambda: self._index.rows("SELECT class_id, name, doc_id FROM unresolved_base ORDER BY ALL")
        )
        return bases

    def _unknown(self, code: str, what: str, missing: str, rows: Sequence[tuple[Any, ...]], about: str = "") -> list[Reason]:
        if not rows:
            return []
        documents = self._index.documents({doc_id for _, doc_id in rows})
        family = family_of(self._index, about)
        languages = languages_of(self._index) if family else {}
        rows = [row for row in rows if not family or languages[documents[row[1]][0]] in family]
        if not rows:
            return []
        names = list(dict.fromkeys(name for name, _ in rows))
        paths = sorted({documents[doc_id][0] for _, doc_id in rows})
        detail = f"{len(rows)} {what} what was asked about have an unknown {missing}: {listed(names)}"
        return [of_paths(code, detail, paths, len(rows))]

    def _of_family(self, paths: list[str], family: Collection[str]) -> list[str]:
        """Those that may hold one of these languages: a new file by its ending, where that is of indexed files of other languages only."""
        if not family or not paths:
            return paths
        languages = languages_of(self._index)
        endings: dict[str, set[str]] = self._index.keep("endings", lambda: _endings(languages))
        return [
            path
            for path in paths
            if not (found := {languages[path]} if path in languages else endings.get(_ending(path), set())) or not found.isdisjoint(family)
        ]

    def _skipped(self, family: Collection[str] = (), holds: Callable[[str], bool] | None = None, name: str = "") -> list[Reason]:
        """Files that were not read and may hold what was asked about.

        Args:
            name: where given, a file that was searched for words counts only if it has this one.
        """
        rows: list[tuple[str, str, str, bool]] = self._index.keep("skipped files", lambda: self._index.rows(_SKIPPED))
        having: set[str] = set()
        if name and any(is_searched for *_, is_searched in rows):
            sql = "SELECT path FROM skipped_word WHERE list_contains(words, ?::UINTEGER)"
            having = {path for (path,) in self._index.rows(sql, [word_digest(name)])}
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

    def _certify(self, reasons: list[Reason]) -> Completeness:
        if (extent := self._index.meta.get("partial")) and not any(reason.code == "lost_not_crawled" for reason in reasons):
            reasons.append(Reason(code="lost_not_crawled", detail=not_crawled(extent, self._index)))
        if self._index.foreign:
            reasons.insert(0, Reason(code="foreign_index", detail=foreign(self._index)))
        if not self.drift.checked:
            reasons.append(
                Reason(
                    code="freshness_unknown",
                    detail="the workspace is too large, or has changed too much, to compare with the index at each query",
                )
            )
        if self._index.foreign or not self.drift.checked:
            return Completeness(status="unknown", reasons=reasons)
        return completeness_from(reasons)

    def _stale(self, paths: list[str]) -> list[Reason]:
        if not paths:
            return []
        plural = "s have" if len(paths) > 1 else " has"
        detail = f"{len(paths)} file{plural} changed since the index was made; to bring it up to date: {index_command(self._index)}"
        return [of_paths("stale", detail, paths)]

    def _coverage(self, methods: Sequence[str], holds: Callable[[str], bool] | None, family: Collection[str] = ()) -> list[Reason]:
        gaps: list[tuple[str, str, str, str, str]] = self._index.keep("gaps", lambda: self._index.rows(_GAPS))
        groups: dict[tuple[str, str, str], list[str]] = {}
        for path, language, method, status, reason in gaps:
            if method in methods and (holds is None or holds(path)) and (not family or language in family):
                groups.setdefault((method, status, reason), []).append(path)
        extent = self._index.meta.get("partial")
        cut_off = not_crawled(extent, self._index) if extent else ""
        reasons: list[Reason] = []
        for (method, status, reason), paths in groups.items():
            code, detail = _gap(method, status, reason, len(paths), cut_off)
            reasons.append(of_paths(code, detail, [] if code == "unsupported" else paths, len(paths)))
        return reasons

    def _unresolved(
        self, name: str, family: Collection[str], holds: Callable[[str], bool] | None, typed: Callable[[], str] | None
    ) -> list[Reason]:
        rows = self._index.rows(
            """
            SELECT d.path, d.language, count(*) FROM (SELECT doc_id FROM unresolved_name WHERE name = ?) u JOIN document d USING (doc_id)
            GROUP BY ALL
            """,
            [name],
        )
        fitting = [
            (path, number) for path, language, number in rows if (not family or language in family) and (holds is None or holds(path))
        ]
        if not fitting:
            return []
        count = sum(number for _, number in fitting)
        paths = sorted(path for path, _ in fitting)
        detail = f"{count} identifiers named '{name}' could not be resolved and may belong here"
        if typed is not None:
            detail += f"; list: lspidx query references {shlex.quote(typed())} --possible"
        return [of_paths("unresolved_same_name", detail, paths, count)]


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


def foreign(index: Index) -> str:
    """Why an index is not believed, and what helps; every answer of it may be made up."""
    remedy = "" if "LSPIDX_STATE_DIR" in index.foreign else f"; to make your own: {index_command(index)}"
    return f"foreign index: nobody can tell that you made it, so all of this may be made up: {index.foreign}{remedy}"


def distrusted(answer: Answer[Any], index: Index, *, whole: bool) -> Answer[Any]:
    """The answer, which says that the index is a stranger's, also where a tool has certified it by itself.

    Args:
        whole: all of it comes from the index, and nothing from a running server.
    """
    known = answer.completeness
    reasons = known.reasons
    if not any(reason.code == "foreign_index" for reason in reasons):
        reasons = [Reason(code="foreign_index", detail=foreign(index)), *reasons]
    status = "unknown" if whole or known.status == "unknown" else "partial"
    return msgspec.structs.replace(
        answer,
        completeness=Completeness(status=status, reasons=reasons),
        provenance=msgspec.structs.replace(answer.provenance, foreign=True),
    )


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


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _endings(languages: Mapping[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path, language in languages.items():
        found.setdefault(_ending(path), set()).add(language)
    return found


def _concerned(refused: Mapping[str, Any]) -> set[str]:
    """The languages that may lack something for a place that was not looked at; empty for all."""
    return {PYTHON.name} if refused["setting"] in ("python", "source_roots") else set(refused.get("languages") or ())


def family_of(index: Index, path: str) -> tuple[str, ...]:
    """The language of a document and those whose files may refer to it; empty for all."""
    language = languages_of(index).get(path, "") if path else ""
    families: list[list[str]] = index.keep("families", lambda: json.loads(index.meta.get("families", "[]")))
    return tuple(sorted({language, *(other for family in families if language in family for other in family)})) if language else ()


def provenance(index: Index, about: str = "", *, language: str = "") -> Provenance:
    """Who said what is in this index, and of which commit.

    Args:
        about: path of the document that the answer is about; servers of languages that cannot refer to it said nothing of it.
        language: the only one that was asked about, in place of `about`.
    """
    family = (language,) if language else family_of(index, about)
    known: Provenance = index.keep(f"provenance {family}", lambda: _provenance(index, family))
    return known


def _provenance(index: Index, family: Collection[str]) -> Provenance:
    servers = index.rows("SELECT DISTINCT name || ' ' || version, language FROM server ORDER BY ALL")
    run = index.row("SELECT finished FROM run")
    return Provenance(
        source="index",
        servers=list(dict.fromkeys(name for name, language in servers if not family or language in family)),
        commit=index.meta.get("commit", ""),
        dirty=index.meta.get("dirty") == "true",
        indexed_at="" if run is None else run[0].isoformat(timespec="seconds"),
        generation=int(index.meta.get("generation", "0")),
        imported=index.meta.get("imported") == "true",
        foreign=True if index.foreign else msgspec.UNSET,
    )


def finished_at(index: Index) -> str:
    """When the run that made the index was over, to the fraction of a second: no two runs have the same."""
    row: tuple[str | None] | None = index.keep("made", lambda: index.row("SELECT max(finished)::VARCHAR FROM run"))
    return row[0] or "" if row else ""
