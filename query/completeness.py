"""How complete an answer is, computed from what the crawl recorded and from the work tree as it is now."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from query.answer import Completeness, Provenance, Reason
from query.freshness import Drift, drift
from query.index import Index

_MAX_PATHS = 20
_HARMLESS_SKIPS = ("excluded", "symlink")
"""Left out because the user said so, or reachable under another path."""

_SENTENCES = {
    "too_large": "larger than max_file_bytes",
    "binary": "with NUL bytes in them",
    "not_decodable": "that are not UTF-8",
    "generated": "marked linguist-generated in .gitattributes",
    "vendored": "marked linguist-vendored in .gitattributes",
    "unreadable": "that could not be read",
    "name_not_utf8": "whose names are not UTF-8",
    "no_server": "of a language that has no server here",
    "not_regular": "that are no regular files",
}

_GAPS = """
    SELECT d.path, d.language, c.method, c.status, split_part(c.reason, ':', 1)
    FROM document_coverage c JOIN document d USING (doc_id)
    WHERE c.status IN ('lost', 'unsupported') OR c.reason = 'no_server' OR (c.method = 'syntax' AND c.reason <> '')
    ORDER BY c.method, c.status, c.reason, d.path
"""


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
        reasons += self._coverage(methods, wanted)
        return self._certify([*reasons, *more])

    def of_workspace(self, methods: Sequence[str], name: str = "", more: Sequence[Reason] = (), *, about: str = "") -> Completeness:
        """For answers that any document may contribute to.

        Args:
            about: path of the document that the symbol in question lies in: gaps in languages that cannot refer to it are none.
            name: the symbol's own name: identifiers of that name that nobody could resolve may belong to it.
            more: what the tool itself knows to be missing.
        """
        reasons = self._stale(self.drift.paths)
        family = self._family(about)
        reasons += self._index.keep(f"gaps {methods} {family}", lambda: [*self._coverage(methods, None, family), *self._skipped(family)])
        if name:
            reasons += self._unresolved(name)
        return self._certify([*reasons, *more])

    def unresolved_calls(self, callers: Sequence[int]) -> list[Reason]:
        """Calls in the text of these symbols whose callee nobody knows."""
        if len(callers) == 1:
            rows = self._index.rows("SELECT name, doc_id FROM unresolved_call WHERE encl_id = ?", callers)
        else:
            sql = "SELECT u.name, u.doc_id FROM (SELECT unnest($ids::INTEGER[]) AS id) c JOIN unresolved_call u ON u.encl_id = c.id"
            rows = self._index.rows(f"{sql} ORDER BY ALL", {"ids": list(callers)})
        return self._unknown("unresolved_calls", "calls in the text of", "callee", rows)

    def unresolved_callers(self, callers: Sequence[int]) -> list[Reason]:
        """Identifiers that nobody knows and that have the name of one of these callers, whose own callers were asked for."""
        rows = self._index.rows(
            """
            SELECT u.name, u.doc_id FROM unresolved_name u WHERE u.name IN (
                SELECT s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) c JOIN symbol s ON s.sym_id = c.id WHERE s.flags & 1 = 0
            ) ORDER BY ALL
            """,
            {"ids": list(callers)},
        )
        return self._unknown("unresolved_callers", "identifiers named like callers of", "meaning", rows)

    def unresolved_supertypes(self, classes: Sequence[int]) -> list[Reason]:
        """Bases in the class lists of these classes that nobody knows."""
        wanted = set(classes)
        rows = [(name, doc_id) for class_id, name, doc_id in self._unresolved_bases() if class_id in wanted]
        return self._unknown("unresolved_supertypes", "bases of", "class", rows)

    def unresolved_subtypes(self, names: Collection[str]) -> list[Reason]:
        """Bases that nobody knows and that are called as one of these classes."""
        rows = [(name, doc_id) for _, name, doc_id in self._unresolved_bases() if name in names]
        return self._unknown("unresolved_subtypes", "bases named like", "class", rows)

    def _unresolved_bases(self) -> list[tuple[int, str, int]]:
        bases: list[tuple[int, str, int]] = self._index.keep(
            "unresolved bases", lambda: self._index.rows("SELECT class_id, name, doc_id FROM unresolved_base ORDER BY ALL")
        )
        return bases

    def _unknown(self, code: str, what: str, missing: str, rows: Sequence[tuple[Any, ...]]) -> list[Reason]:
        if not rows:
            return []
        names = list(dict.fromkeys(name for name, _ in rows))
        listed = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        documents = self._index.documents({doc_id for _, doc_id in rows})
        paths = sorted({documents[doc_id][0] for _, doc_id in rows})[:_MAX_PATHS]
        detail = f"{len(rows)} {what} what was asked about have an unknown {missing}: {listed}"
        return [Reason(code=code, detail=detail, count=len(rows), paths=paths)]

    def _family(self, path: str) -> tuple[str, ...]:
        """The language of a document and those whose files may refer to it; empty for all."""
        if not path:
            return ()
        languages: dict[str, str] = self._index.keep("languages", lambda: dict(self._index.rows("SELECT path, language FROM document")))
        language = languages.get(path, "")
        families: list[list[str]] = self._index.keep("families", lambda: json.loads(self._index.meta.get("families", "[]")))
        return tuple(sorted({language, *(other for family in families if language in family for other in family)})) if language else ()

    def _skipped(self, family: Collection[str] = ()) -> list[Reason]:
        reasons: list[Reason] = []
        rows = self._index.rows("SELECT reason, path, language FROM skipped ORDER BY ALL")
        by_reason: dict[str, list[str]] = {}
        for reason, path, language in rows:
            if reason not in _HARMLESS_SKIPS and (not family or language in family):
                by_reason.setdefault(reason, []).append(path)
        for reason, listed in by_reason.items():
            count, paths = len(listed), [(path,) for path in listed[:_MAX_PATHS]]
            what = _SENTENCES.get(reason, reason)
            reasons.append(
                Reason(code=f"skipped_{reason}", detail=f"{count} files {what} were not read", count=count, paths=[p for (p,) in paths])
            )
        return reasons

    def _certify(self, reasons: list[Reason]) -> Completeness:
        if not self.drift.checked:
            reasons.append(
                Reason(
                    code="freshness_unknown",
                    detail="the workspace is too large, or has changed too much, to compare with the index at each query",
                )
            )
            return Completeness(status="unknown", reasons=reasons)
        return Completeness(status="partial" if reasons else "complete", reasons=reasons)

    def _stale(self, paths: list[str]) -> list[Reason]:
        if not paths:
            return []
        plural = "s have" if len(paths) > 1 else " has"
        return [
            Reason(
                code="stale",
                detail=f"{len(paths)} file{plural} changed since the index was made; to bring it up to date: lspidx index",
                count=len(paths),
                paths=paths[:_MAX_PATHS],
            )
        ]

    def _coverage(self, methods: Sequence[str], paths: set[str] | None, family: Collection[str] = ()) -> list[Reason]:
        gaps: list[tuple[str, str, str, str, str]] = self._index.keep("gaps", lambda: self._index.rows(_GAPS))
        groups: dict[tuple[str, str, str], list[str]] = {}
        for path, language, method, status, reason in gaps:
            if method in methods and (paths is None or path in paths) and (not family or language in family):
                groups.setdefault((method, status, reason), []).append(path)
        reasons: list[Reason] = []
        for (method, status, reason), listed in groups.items():
            count, shown = len(listed), listed[:_MAX_PATHS]
            if method == "syntax":
                detail = f"{count} files have text that could not be parsed"
                reasons.append(Reason(code="syntax_error", detail=detail, count=count, paths=shown))
            elif status == "skipped":
                detail = f"{method} is missing for {count} files: there was no language server for them; see: lspidx doctor"
                reasons.append(Reason(code=reason, detail=detail, count=count, paths=shown))
            elif status == "lost":
                detail = f"{method} is missing for {count} files: {reason.replace('_', ' ')}"
                reasons.append(Reason(code=f"lost_{reason}", detail=detail, count=count, paths=shown))
            else:
                reasons.append(Reason(code="unsupported", detail=f"the server does not support {method}", count=count))
        return reasons

    def _unresolved(self, name: str) -> list[Reason]:
        rows = self._index.rows("SELECT doc_id, count(*) FROM unresolved_name WHERE name = ? GROUP BY doc_id", [name])
        if not rows:
            return []
        count = sum(number for _, number in rows)
        documents = self._index.documents([doc_id for doc_id, _ in rows])
        paths = sorted(documents[doc_id][0] for doc_id, _ in rows)[:_MAX_PATHS]
        detail = f"{count} identifiers named '{name}' could not be resolved and may belong here; list: lspidx query references --possible"
        return [Reason(code="unresolved_same_name", detail=detail, count=count, paths=paths)]


def provenance(index: Index) -> Provenance:
    """Who said what is in this index, and of which commit."""
    known: Provenance = index.keep("provenance", lambda: _provenance(index))
    return known


def _provenance(index: Index) -> Provenance:
    servers = index.rows("SELECT DISTINCT name || ' ' || version FROM server ORDER BY 1")
    run = index.row("SELECT finished FROM run")
    return Provenance(
        source="index",
        servers=[name for (name,) in servers],
        commit=index.meta.get("commit", ""),
        dirty=index.meta.get("dirty") == "true",
        indexed_at="" if run is None else run[0].isoformat(timespec="seconds"),
        generation=int(index.meta.get("generation", "0")),
    )
