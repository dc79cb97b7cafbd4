"""How complete an answer is, computed from what the crawl recorded and from the work tree as it is now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from query.answers.envelope import Answer, Completeness, Provenance, Reason, completeness_from
from query.facts.families import family_of, of_family
from query.facts.folders import index_command
from query.facts.freshness import Drift, drift
from query.facts.gaps import environment, names, reading, strings
from query.facts.gaps.reading import SUPERTYPES as SUPERTYPES
from query.facts.gaps.uses import Question, Uses
from query.facts.index import Index
from query.facts.symbols import Symbol

DEFINITION = ["syntax", "textDocument/definition"]
"""The methods that occurrences come from."""

_CONDITIONS: tuple[Callable[[Index, Uses], list[Reason]], ...] = (strings.reasons,)
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
        reasons = reading.stale(self._index, [path for path in self.drift.paths if path in wanted])
        reasons += reading.coverage(self._index, methods, wanted.__contains__)
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
        moved = of_family(self._index, self.drift.paths, family)
        reasons = reading.stale(self._index, moved if holds is None else [path for path in moved if holds(path)])
        if holds is None:
            reasons += self._index.keep(f"gaps {methods} {family}", lambda: reading.coverage(self._index, methods, None, family))
        else:
            reasons += reading.coverage(self._index, methods, holds, family)
        reasons += reading.skipped(self._index, family, holds, name)
        if name:
            reasons += names.unresolved(self._index, name, family, holds, typed)
        reasons += environment.of_another_build(self._index, about)
        reasons += environment.of_refused(self._index, family)
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

    def unresolved_calls(self, callers: Sequence[int]) -> list[Reason]:
        return names.unresolved_calls(self._index, callers)

    def unresolved_callers(self, callers: Sequence[int], *, about: str = "") -> list[Reason]:
        return names.unresolved_callers(self._index, callers, about=about)

    def unresolved_supertypes(self, classes: Sequence[int]) -> list[Reason]:
        return names.unresolved_supertypes(self._index, classes)

    def unresolved_subtypes(self, known: Collection[str], *, about: str = "") -> list[Reason]:
        return names.unresolved_subtypes(self._index, known, about=about)

    def _certify(self, reasons: list[Reason]) -> Completeness:
        if (extent := self._index.meta.get("partial")) and not any(reason.code == "lost_not_crawled" for reason in reasons):
            reasons.append(Reason(code="lost_not_crawled", detail=reading.not_crawled(extent, self._index)))
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
