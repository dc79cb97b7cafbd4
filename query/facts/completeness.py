"""How complete an answer is, computed from what the crawl recorded and from the work tree as it is now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from indexer.errors import AmbiguousName, NameNotFound
from indexer.languages import record_of
from indexer.manifests import format_of
from indexer.model import SymbolKind
from query.answers.envelope import Answer, Completeness, Provenance, Reason, completeness_from
from query.answers.paths import of_paths
from query.facts.documents import documents
from query.facts.families import family_of, languages_of, of_family
from query.facts.folders import index_command
from query.facts.freshness import Drift, drift
from query.facts.gaps import (
    anew,
    by_values,
    called_strings,
    callees,
    carried_names,
    causes,
    declarations,
    environment,
    environment_variables,
    escapes,
    handed_modules,
    handed_objects,
    hierarchies,
    kept_fields,
    library_names,
    made_above,
    modules,
    nameless,
    names,
    other_languages,
    read_in_text,
    reading,
    reflection,
    registration,
    several_servers,
    shapes,
    shell_words,
    spelled_members,
    strings,
    unions,
    unread,
    unsaid,
)
from query.facts.gaps.reading import SUPERTYPES as SUPERTYPES
from query.facts.gaps.scope import Scope
from query.facts.gaps.uses import Question, Uses
from query.facts.gaps.words import Texts
from query.facts.index import Index
from query.facts.scopes import Scope as Place
from query.facts.scopes import scopes
from query.facts.symbols import Symbol, outside, symbols_by_id

DEFINITION = ["syntax", "textDocument/definition"]
"""The methods that occurrences come from."""

_OVERRIDDEN = frozenset({SymbolKind.METHOD, SymbolKind.PROPERTY, SymbolKind.FIELD, SymbolKind.VARIABLE, SymbolKind.CONSTANT})
"""Kinds of what a member of a type below may override."""

_FEW = 50
"""Symbols that are looked at one by one; of more it is said that they are uncertain where any of them has such a name."""

_CONDITIONS: tuple[Callable[[Index, Uses], list[Reason]], ...] = (
    unread.reasons,
    other_languages.reasons,
    modules.reasons,
    escapes.reasons,
    handed_modules.reasons,
    handed_objects.reasons,
    nameless.reasons,
    registration.reasons,
    shapes.reasons,
    unions.reasons,
    made_above.reasons,
    by_values.reasons,
    declarations.reasons,
    strings.reasons,
    carried_names.reasons,
    spelled_members.reasons,
    kept_fields.reasons,
    read_in_text.reasons,
    library_names.reasons,
    shell_words.reasons,
    environment_variables.reasons,
    called_strings.reasons,
    unsaid.reasons,
    reflection.reasons,
    several_servers.reasons,
)
"""What is asked for gaps when uses are asked for; each is the `reasons` of a module of `query.facts.gaps`."""


class Certificate:
    """Collects what may be missing from answers of one index; looks at the work tree once."""

    def __init__(self, index: Index, unsaved: Mapping[str, str] = {}) -> None:
        """`unsaved`: texts that documents have in an editor, by path; to the questions these files have changed."""
        self._index = index
        self._unsaved = unsaved
        self._drift: Drift | None = None
        self._texts = Texts(index.root, reading.not_checked_out(index) if "left_out" in index.meta else ())

    @property
    def drift(self) -> Drift:
        if self._drift is None:
            self._drift = drift(self._index)
            if self._unsaved:
                self._drift = replace(self._drift, changed=sorted({*self._drift.changed, *self._unsaved} - {*self._drift.new}))
        return self._drift

    def of_documents(
        self, paths: Sequence[str], methods: Sequence[str], more: Sequence[Reason] = (), *, of_callees: bool = False
    ) -> Completeness:
        """For answers that depend on these documents only: an outline, a source, a hover; or what their texts call."""
        wanted = set(paths)
        reasons = reading.stale(self._index, [path for path in self.drift.paths if path in wanted], self._unsaved)
        reasons += reading.coverage(self._index, methods, wanted.__contains__, of_callees=of_callees)
        return self._certify([*reasons, *more])

    def of_workspace(
        self,
        methods: Sequence[str],
        more: Sequence[Reason] = (),
        *,
        about: str = "",
        language: str = "",
        holds: Callable[[str], bool] | None = None,
    ) -> Completeness:
        """For answers that any document may contribute to, and that are not about the uses of symbols.

        Args:
            about: path of the document that the question is about: gaps in languages that cannot refer to it are none.
            language: the only one that was asked about, in place of `about`.
            more: what the tool itself knows to be missing.
            holds: whether a path is asked about; all are by default.
        """
        family = (language,) if language else family_of(self._index, about)
        moved = of_family(self._index, self.drift.paths, family)
        moved = sorted({*(path for path in moved if holds is None or holds(path)), *self.drift.decided_anew(family)})
        reasons = reading.stale(self._index, moved, self._unsaved)
        if holds is None:
            reasons += self._index.keep(f"gaps {methods} {family}", lambda: reading.coverage(self._index, methods, None, family))
        else:
            reasons += reading.coverage(self._index, methods, holds, family)
        reasons += reading.skipped(self._index, family, holds)
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
        within: Callable[[str], bool] | None = None,
    ) -> Completeness:
        """For answers about who uses these symbols: the promise of ADR 0040, condition by condition.

        A file that changed or was not read, and cannot refer to any of the symbols, takes nothing away.

        Args:
            symbols: asked about together; their answer is complete if that of each is.
            methods: that the answer comes from. more: what the tool itself knows to be missing.
            within: whether uses in a file are asked about; in all by default.
            typed: makes a text that means the symbol where it is typed, for the command that lists the identifiers of its name.
        """
        if not symbols:
            return self._certify([*more])
        uses = self._uses(symbols, question, within)
        unread = self._unread(uses, methods)
        reasons = reading.told(self._index, uses.scope, unread, self._unsaved, typed)
        reasons += names.unresolved(self._index, uses, unread.paths, typed)
        reasons += environment.of_uses(self._index, uses)
        reasons += [reason for condition in _CONDITIONS for reason in condition(self._index, uses)]
        of_manifests = sum(reason.count for reason in reasons if reason.code == strings.STALE_MANIFEST)
        is_of_names = all(format_of(path) and path not in self.drift.project_files for path in unread.stale)
        if unread.stale and of_manifests == len(unread.stale) and is_of_names:
            reasons = [reason for reason in reasons if reason.code != reading.STALE]  # of the same files, and says less of them
        if len(symbols) > _FEW_ASKED:
            reasons = _together(reasons)
        return self._certify([*reasons, *more], is_whole=False)

    def of_rows(
        self, symbols: Sequence[Symbol], methods: Sequence[str], more: Sequence[Reason] = (), *, question: Question = "callers"
    ) -> Completeness:
        """For lists of symbols whose rows say by themselves what may be missing of their uses: what was not read is left to say.

        Args:
            question: "references" where a text has to name them, as one that overrides a member does.
        """
        if not symbols:
            return self._certify([*more])
        uses = self._uses(symbols, question, None)
        reasons = reading.told(self._index, uses.scope, self._unread(uses, methods), self._unsaved) + environment.of_uses(self._index, uses)
        return self._certify([*reasons, *more], is_whole=False)

    def of_list(
        self, symbols: Sequence[Symbol], methods: Sequence[str], more: Sequence[Reason] = (), *, holds: Callable[[str], bool] | None
    ) -> Completeness:
        """For lists of all symbols of which something is so: that nothing uses them, that no test reaches them.

        Whatever rows there are, a file that has changed may add one, by what it defines or by what it no longer uses.

        Args:
            symbols: of the rows, which say by themselves what may be missing of their uses. holds: as of `of_workspace`.
        """
        # where no server tells a base, a row too many is there, which says so itself, and none too few
        asked = [method for method in methods if method != SUPERTYPES]
        moved = sorted({*self.drift.paths, *self.drift.project_files})
        reasons = reading.stale(self._index, moved, self._unsaved) + reading.coverage(self._index, asked, holds)
        if symbols:
            uses = self._uses(symbols, "callers", None)
            said = {reason.code for reason in reasons}
            told = reading.told(self._index, uses.scope, self._unread(uses, methods), self._unsaved)
            reasons += [*(reason for reason in told if reason.code not in said), *environment.of_uses(self._index, uses)]
        return self._certify([*reasons, *more])

    def of_callees(self, opened: Collection[int], called: Collection[int], paths: Sequence[str], more: Sequence[Reason]) -> Completeness:
        """For lists of what the texts of symbols run, with the members that override what they name.

        Args:
            opened: symbols of whose texts all calls are told. called: whom they call. paths: documents of the question.
        """
        around = scopes(self._index, {*called, *opened})
        beyond = outside(self._index, {*called, *opened})
        members = sorted(self._overridable(called) - beyond)
        types = {container for sym_id in members for container in [around[sym_id].container] if container is not None}
        known = symbols_by_id(self._index, members) if members else {}
        reasons = [*more, *self.unresolved_callees(opened), *anew.reasons(self._index, called)]
        if types:
            about = known[members[0]].record.path
            reasons += self.unresolved_subtypes({around[sym_id].name for sym_id in types}, about=about) + self.unlisted_subtypes(
                types, {around[sym_id].name for sym_id in members}
            )
        docs = documents(self._index, {around[sym_id].doc_id for sym_id in {*opened} - beyond})
        texts = self.of_documents(sorted({*paths, *(doc.path for doc in docs.values())}), DEFINITION, reasons, of_callees=True)
        rows = self.of_rows([known[sym_id] for sym_id in members], DEFINITION, question="references")
        told = {(reason.code, reason.detail) for reason in texts.reasons}
        found = [*texts.reasons, *(reason for reason in rows.reasons if (reason.code, reason.detail) not in told)]
        is_unknown = "unknown" in (texts.status, rows.status)
        return Completeness(status="unknown", reasons=found) if is_unknown else completeness_from(found)

    def _overridable(self, ids: Collection[int]) -> set[int]:
        """Those that a type below may have a member of its own in place of."""
        known = scopes(self._index, ids)

        def is_of_interface(place: Place) -> bool:
            return place.container is not None and known[place.container].kind == SymbolKind.INTERFACE

        return {
            sym_id
            for sym_id in ids
            if (place := known[sym_id]).kind in _OVERRIDDEN or (place.kind == SymbolKind.FUNCTION and is_of_interface(place))
        }

    def without_environment(self, languages: Collection[str] | None = None) -> list[Reason]:
        """What is not installed and makes answers about files of these languages doubtful that rest on types, as diagnostics do."""
        return environment.missing(self._index, languages)

    def run_from_elsewhere(self, ids: Collection[int], *, leads: Callable[[set[int]], bool] = lambda _: True) -> list[Reason]:
        """Of functions on the way to what was asked about: those that may be called where nothing names them, as a route's handler is.

        Args:
            leads: whether what was asked about may be reached from some of these functions.
        """
        reasons: list[Reason] = []
        for condition in (registration, escapes):
            found = condition.which(self._index, ids) if ids else set[int]()
            if found and leads(found):
                reasons += condition.of_symbols(self._index, found)
        return reasons

    def uncertain(self, ids: Collection[int], methods: Sequence[str]) -> frozenset[int]:
        """Those of the symbols of which a use may stand in a file that was not read as it is, or not asked about."""
        asked = [symbol for _, symbol in sorted(symbols_by_id(self._index, sorted(ids)).items())]
        if not asked or self._index.foreign or not self.drift.checked:
            return frozenset(symbol.sym_id for symbol in asked)
        uses = self._uses(asked, "callers", None)
        paths = self._unread(uses, methods).paths
        if len(asked) <= _FEW and paths:
            return frozenset(symbol.sym_id for symbol in asked if self._unread(self._uses([symbol], "callers", None), methods).paths)
        anew = [symbol for symbol in asked if self._decided_anew(self._uses([symbol], "callers", None))] if self.drift.project_files else []
        return frozenset({*(uses.scope.touched_symbols(paths) if paths else ()), *(symbol.sym_id for symbol in anew)})

    def text(self, path: str) -> bytes | None:
        """What a file holds now; None where nobody can tell."""
        open_text = self._unsaved.get(path)
        return self._texts.read(path) if open_text is None else open_text.encode("utf-8", "replace")

    def _unread(self, uses: Uses, methods: Sequence[str]) -> reading.Touching:
        found = reading.touching(self._index, uses.scope, of_family(self._index, self.drift.paths, uses.family), methods)
        anew = self._decided_anew(uses)
        return found._replace(stale=sorted({*found.stale, *anew})) if anew else found

    def _decided_anew(self, uses: Uses) -> list[str]:
        """Project files because of which other files may mean one of the symbols by now, or mean it no more."""
        return [] if uses.scope.is_bounded else self.drift.decided_anew(uses.family)

    def _uses(self, symbols: Sequence[Symbol], question: Question, within: Callable[[str], bool] | None) -> Uses:
        families = [family_of(self._index, path) for path in dict.fromkeys(symbol.record.path for symbol in symbols)]
        family = tuple(sorted({language for one in families for language in one})) if all(families) else ()
        scope = Scope(self._index, symbols, family=family, question=question, read=self.text, within=within)
        return Uses(symbols=tuple(symbols), question=question, family=family, scope=scope, drift=self.drift)

    def unresolved_callees(self, callers: Collection[int]) -> list[Reason]:
        """What the texts of these symbols may run beside what is known; of the members that override what they run see `of_callees`."""
        return callees.reasons(self._index, callers)

    def unresolved_callers(self, callers: Sequence[int], *, about: str = "") -> list[Reason]:
        return names.unresolved_callers(self._index, callers, about=about)

    def unresolved_supertypes(self, classes: Sequence[int]) -> list[Reason]:
        return [*hierarchies.unresolved_supertypes(self._index, classes), *self.only_declared(classes)]

    def unresolved_subtypes(self, known: Collection[str], *, about: str = "") -> list[Reason]:
        return hierarchies.unresolved_subtypes(self._index, known, about=about)

    def unlisted_subtypes(self, ids: Collection[int], members: Collection[str] | None = None) -> list[Reason]:
        found = hierarchies.unlisted_subtypes(self._index, ids, members)
        known, languages = symbols_by_id(self._index, sorted(ids)), languages_of(self._index)
        asked = [symbol for symbol in known.values() if record_of(languages.get(symbol.record.path, "")).leaves_unsaid]
        return [*found, *(other_languages.reasons(self._index, self._uses(asked, "references", None)) if asked else [])]

    def unlisted_implementations(self, sym_id: int, container: int) -> list[Reason]:
        """What may implement a member without being in the index as a member that overrides it. `container`: its type."""
        return [*self.unlisted_subtypes([container]), *unsaid.unlisted_accessors(self._index, sym_id)]

    def only_declared(self, ids: Collection[int]) -> list[Reason]:
        return hierarchies.only_declared(self._index, ids)

    def unlisted_supertypes(self, sym_id: int) -> list[Reason]:
        return hierarchies.unlisted_supertypes(self._index, sym_id)

    def _certify(self, reasons: list[Reason], *, is_whole: bool = True) -> Completeness:
        """Args: is_whole: any file of the workspace may matter, so that a run that was cut off does."""
        if is_whole and self._index.meta.get("partial") and not any(reason.code == "lost_not_crawled" for reason in reasons):
            reasons.append(Reason(code="lost_not_crawled", detail=causes.not_crawled(self._index)))
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


_FEW_ASKED = 5
_TOLD_OF_EACH = 2


def _together(reasons: Sequence[Reason]) -> list[Reason]:
    """Of each code that there are more of one reason: its first ones in words, the others as a number. For questions about many symbols."""
    groups: dict[str, list[Reason]] = {}
    for reason in reasons:
        groups.setdefault(reason.code, []).append(reason)
    found: list[Reason] = []
    for code, group in groups.items():
        if len(group) <= _TOLD_OF_EACH + 1:
            found += group
            continue
        words = "; ".join(reason.detail for reason in group[:_TOLD_OF_EACH])
        paths = sorted({path for reason in group for path in reason.paths})
        detail = f"{words}; and {len(group) - _TOLD_OF_EACH} more of this kind"
        found.append(of_paths(code, detail, paths, sum(reason.count for reason in group)))
    return found


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


def of_older_tree(error: NameNotFound | AmbiguousName, index: Index) -> NameNotFound | AmbiguousName | None:
    """The error with a word on the files that have changed since, in which the name may mean something else; None where none has."""
    told = reading.stale(index, drift(index).paths)
    if not told:
        return None
    message = f"{error}; {told[0].detail}"
    return AmbiguousName(message, error.candidates, error.total) if isinstance(error, AmbiguousName) else type(error)(message)


def unfinished(answer: Answer[Any], lacking: Reason) -> Answer[Any]:
    """The answer, which says that the index is being made; that it was cut off, as a part of it says, is not so."""
    known = answer.completeness
    reasons = [lacking, *(reason for reason in known.reasons if reason.code != "lost_not_crawled")]
    status = "unknown" if known.status == "unknown" else "partial"
    return msgspec.structs.replace(answer, completeness=Completeness(status=status, reasons=reasons))


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
