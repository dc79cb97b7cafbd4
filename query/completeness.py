"""How complete an answer is, computed from what the crawl recorded and from the work tree as it is now."""

from __future__ import annotations

from collections.abc import Sequence

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
    "not_regular": "that are no regular files",
}

_GAPS = """
    SELECT d.path, c.method, c.status, split_part(c.reason, ':', 1)
    FROM document_coverage c JOIN document d USING (doc_id)
    WHERE c.status IN ('lost', 'unsupported') OR (c.method = 'syntax' AND c.reason <> '')
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

    def of_workspace(self, methods: Sequence[str], name: str = "", more: Sequence[Reason] = ()) -> Completeness:
        """For answers that any document may contribute to.

        Args:
            name: the symbol's own name: identifiers of that name that nobody could resolve may belong to it.
            more: what the tool itself knows to be missing.
        """
        reasons = self._stale(self.drift.paths)
        reasons += self._index.keep(f"gaps {methods}", lambda: [*self._coverage(methods, None), *self._skipped()])
        if name:
            reasons += self._unresolved(name)
        return self._certify([*reasons, *more])

    def unresolved_calls(self, callers: Sequence[int]) -> list[Reason]:
        """Calls in the text of these symbols whose callee nobody knows."""
        sql = "SELECT u.name, d.path FROM unresolved_name u JOIN document d USING (doc_id) JOIN (SELECT unnest($ids::INTEGER[]) AS id) c"
        rows = self._index.rows(f"{sql} ON u.encl_id = c.id WHERE u.roles & 8 <> 0 ORDER BY ALL", {"ids": list(callers)})
        return self._unknown("unresolved_calls", "calls in the text of", "callee", rows)

    def unresolved_callers(self, callers: Sequence[int]) -> list[Reason]:
        """Identifiers that nobody knows and that have the name of one of these callers, whose own callers were asked for."""
        rows = self._index.rows(
            """
            SELECT u.name, d.path FROM unresolved_name u JOIN document d USING (doc_id) WHERE u.name IN (
                SELECT s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) c JOIN symbol s ON s.sym_id = c.id WHERE s.flags & 1 = 0
            ) ORDER BY ALL
            """,
            {"ids": list(callers)},
        )
        return self._unknown("unresolved_callers", "identifiers named like callers of", "meaning", rows)

    def unresolved_supertypes(self, classes: Sequence[int]) -> list[Reason]:
        """Bases in the class lists of these classes that nobody knows."""
        rows = self._index.rows(
            """
            SELECT u.name, d.path FROM unresolved_name u JOIN document d USING (doc_id)
            JOIN symbol s ON s.doc_id = u.doc_id AND s.container_id = u.encl_id AND (s.start_line, s.start_col) <= (u.line, u.col)
             AND (u.line, u.col) < (s.end_line, s.end_col)
            JOIN (SELECT unnest($ids::INTEGER[]) AS id) c ON c.id = s.sym_id
            WHERE u.roles & 64 <> 0 ORDER BY ALL
            """,
            {"ids": list(classes)},
        )
        return self._unknown("unresolved_supertypes", "bases of", "class", rows)

    def unresolved_subtypes(self, classes: Sequence[int]) -> list[Reason]:
        """Bases that nobody knows and that have the name of one of these classes."""
        rows = self._index.rows(
            """
            SELECT u.name, d.path FROM unresolved_name u JOIN document d USING (doc_id)
            WHERE u.roles & 64 <> 0 AND u.name IN
              (SELECT s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) c JOIN symbol s ON s.sym_id = c.id) ORDER BY ALL
            """,
            {"ids": list(classes)},
        )
        return self._unknown("unresolved_subtypes", "bases named like", "class", rows)

    def _unknown(self, code: str, what: str, missing: str, rows: list[tuple[str, str]]) -> list[Reason]:
        if not rows:
            return []
        names = list(dict.fromkeys(name for name, _ in rows))
        listed = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        paths = list(dict.fromkeys(path for _, path in rows))[:_MAX_PATHS]
        detail = f"{len(rows)} {what} what was asked about have an unknown {missing}: {listed}"
        return [Reason(code=code, detail=detail, count=len(rows), paths=paths)]

    def _skipped(self) -> list[Reason]:
        reasons: list[Reason] = []
        for reason, count in self._index.rows("SELECT reason, count(*) FROM skipped GROUP BY reason ORDER BY reason"):
            if reason not in _HARMLESS_SKIPS:
                paths = self._index.rows("SELECT path FROM skipped WHERE reason = ? ORDER BY path LIMIT ?", [reason, _MAX_PATHS])
                what = _SENTENCES.get(reason, reason)
                reasons.append(
                    Reason(code=f"skipped_{reason}", detail=f"{count} files {what} were not read", count=count, paths=[p for (p,) in paths])
                )
        return reasons

    def _certify(self, reasons: list[Reason]) -> Completeness:
        if not self.drift.checked:
            reasons.append(Reason(code="freshness_unknown", detail="the workspace is too large to compare with the index at each query"))
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

    def _coverage(self, methods: Sequence[str], paths: set[str] | None) -> list[Reason]:
        gaps: list[tuple[str, str, str, str]] = self._index.keep("gaps", lambda: self._index.rows(_GAPS))
        groups: dict[tuple[str, str, str], list[str]] = {}
        for path, method, status, reason in gaps:
            if method in methods and (paths is None or path in paths):
                groups.setdefault((method, status, reason), []).append(path)
        reasons: list[Reason] = []
        for (method, status, reason), listed in groups.items():
            count, shown = len(listed), listed[:_MAX_PATHS]
            if method == "syntax":
                detail = f"{count} files have text that could not be parsed"
                reasons.append(Reason(code="syntax_error", detail=detail, count=count, paths=shown))
            elif status == "lost":
                detail = f"{method} is missing for {count} files: {reason.replace('_', ' ')}"
                reasons.append(Reason(code=f"lost_{reason}", detail=detail, count=count, paths=shown))
            else:
                reasons.append(Reason(code="unsupported", detail=f"the server does not support {method}", count=count))
        return reasons

    def _unresolved(self, name: str) -> list[Reason]:
        row = self._index.row("SELECT count(*) FROM unresolved_name WHERE name = ?", [name])
        count = 0 if row is None else int(row[0])
        if not count:
            return []
        paths = self._index.rows(
            "SELECT DISTINCT d.path FROM unresolved_name u JOIN document d USING (doc_id) WHERE u.name = ? ORDER BY d.path LIMIT ?",
            [name, _MAX_PATHS],
        )
        detail = f"{count} identifiers named '{name}' could not be resolved and may belong here; list: lspidx query references --possible"
        return [Reason(code="unresolved_same_name", detail=detail, count=count, paths=[path for (path,) in paths])]


def provenance(index: Index) -> Provenance:
    """Who said what is in this index, and of which commit."""
    known: Provenance = index.keep("provenance", lambda: _provenance(index))
    return known


def _provenance(index: Index) -> Provenance:
    servers = index.rows("SELECT name || ' ' || version FROM server")
    run = index.row("SELECT finished FROM run")
    return Provenance(
        source="index",
        servers=[name for (name,) in servers],
        commit=index.meta.get("commit", ""),
        dirty=index.meta.get("dirty") == "true",
        indexed_at="" if run is None else run[0].isoformat(timespec="seconds"),
        generation=int(index.meta.get("generation", "0")),
    )
