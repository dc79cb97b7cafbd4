"""What the tools that try edits share: where sessions are kept, and what an edit would bring, as one record."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec

from indexer.errors import UsageError
from query.answers.diagnostic import Diagnostic
from query.answers.envelope import Answer, Completeness, Reason, completeness_from
from query.answers.pages import all_of
from query.answers.paths import listed, of_paths
from query.answers.style import Style, count, one_line, printable
from query.context import Workspace
from query.facts.folders import edit_scope
from query.live.questions import Ranged, by_servers
from query.refactor.simulation.consequences import Broken, changes_shapes, consequences

if TYPE_CHECKING:
    from query.edits.scope import Scope
    from query.edits.text import Document
    from query.refactor.simulation.judge import Judge, Said
    from query.refactor.simulation.session import Made, Session, Wanted
    from query.refactor.simulation.store import Store

R = TypeVar("R")

_MOST_ASKED = 40
"""Documents that are asked about besides the edited ones."""
_MAX_DIAGNOSTICS = 500
_OF_USES = "uses "
"""Begins the keys of reasons about uses of what the edits change."""
_TIMEOUT_MS = {"file": 3_000, "workspace": 8_000}
_LESS: dict[str, str] = {
    "rust-analyzer": "rust-analyzer judges texts that are not on disk without the compiler: it sees names and types, and neither "
    "borrows nor most of what traits demand; cargo check says the rest once the edit is applied"
}
"""Servers whose diagnostics are less than what the language's own check finds, and what is missing."""

ScopeName = Literal["file", "workspace"]
ScopeOfDiagnostics = Annotated[
    ScopeName,
    msgspec.Meta(description="file: the edited files; workspace: also the files that depend on them, as the index knows"),
]
SessionId = Annotated[str, msgspec.Meta(description="session_id that create_simulation_session gave")]
TimeoutMs = Annotated[
    int, msgspec.Meta(ge=0, le=600_000, description="how long to wait for diagnostics; 0: 3000 for file, 8000 for workspace")
]
WithWarnings = Annotated[bool, msgspec.Meta(description="list warnings too; net_delta and safe are about errors")]
Language = Annotated[str, msgspec.Meta(description="the language, by its own name or LSP's; which server judges a file, its name says")]


class OneEdit(Ranged, kw_only=True):
    """An edit of one file: a range, or the place where old_text stands, becomes new_text."""

    old_text: Annotated[
        str,
        msgspec.Meta(description="in place of a range: text that occurs exactly once; else, whole lines that differ in white space"),
    ] = ""
    new_text: Annotated[str, msgspec.Meta(description="text in its place; empty removes it")] = ""

    def wanted(self) -> Wanted:
        from query.refactor.simulation.session import Wanted

        if not self.file_path:
            raise UsageError("name a document: file_path is empty")
        return Wanted(
            file_path=self.file_path, new_text=self.new_text, old_text=self.old_text, start_line=self.start_line,
            start_column=self.start_column, end_line=self.end_line, end_column=self.end_column,
        )  # fmt: skip


class SimulatedEdit(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The range, 1-based, that was replaced, in the text that was there. matched: how a text was found, as apply_edit says it."""

    file_path: str
    start_line: int
    start_column: int
    end_line: int
    end_column: int
    matched: str = ""


class Evaluation(msgspec.Struct, kw_only=True):
    """What a session's edits bring and take away, against the files as they were at its first edit.

    errors_introduced, errors_resolved: at most 500 each; the first are of the edited texts, the second of those before. warnings_*: on
    request. net_delta: errors introduced less errors resolved; null: nobody could judge it.
    confidence: high: all that was asked about was said in time; partial: something was not, or nobody can; eventual: documents that
    may be concerned were not asked about, or uses of what changes are unknown. safe: high confidence, no error is introduced, and no
    use is left behind.
    asked: documents that were judged. dirty: files that have changed on disk since.
    left_behind: symbols that the edits remove, rename, move or declare otherwise while the index knows uses that stay as they are: those
    break, whether or not a server says so. With one of them nothing is safe.
    """

    session_id: str
    status: str
    errors_introduced: list[Diagnostic]
    errors_resolved: list[Diagnostic]
    net_delta: int | None
    safe: bool
    scope: str
    confidence: Literal["high", "partial", "eventual"]
    timeout: bool
    duration_ms: int
    asked: list[str]
    warnings_introduced: list[Diagnostic] = []
    warnings_resolved: list[Diagnostic] = []
    new_warnings: int = 0
    dirty: list[str] = []
    left_behind: list[Broken] = []


# ---- sessions


def scope_of(workspace: Workspace) -> Scope:
    return edit_scope(workspace.root, workspace.index)


def store_of(workspace: Workspace) -> Store:
    """Where the sessions of this workspace are kept."""
    from indexer.store.generations import Home
    from query.refactor.simulation.store import Store

    home = workspace.index.home if workspace.index is not None else Home(workspace.top)
    return Store(home.path / "simulations", scope_of(workspace))


def language_named(language: str) -> str:
    """A language as the server table calls it; empty where none is named.

    Raises:
        UsageError: there is no such language.
    """
    from indexer.servers.registry import load_table

    if not language:
        return ""
    table = load_table().language
    for name, spec in table.items():
        if language == name or language in spec.ids.values():
            return name
    raise UsageError(f"no language is called '{language}'; known: {', '.join(table)}")


def shown_edit(made: Made) -> SimulatedEdit:
    start, end = made.edit.start, made.edit.end
    return SimulatedEdit(
        file_path=made.path, start_line=start[0] + 1, start_column=start[1] + 1, end_line=end[0] + 1, end_column=end[1] + 1,
        matched=made.matched,
    )  # fmt: skip


# ---- evaluation


class Trial:
    """A session judged, once or after each of several edits; what was there before them is asked about once."""

    def __init__(self, workspace: Workspace, session: Session, scope_name: ScopeName, timeout_ms: int) -> None:
        from query.refactor.simulation.judge import Judge

        self._workspace, self._scope_name = workspace, scope_name
        self._session = session
        self._scope = scope_of(workspace)
        self._judge: Judge = Judge(workspace.servers, (timeout_ms or _TIMEOUT_MS[scope_name]) / 1000)
        self._before: Said | None = None
        self._asked: list[str] = []
        self.said: list[Said] = []
        self.reasons: dict[str, Reason] = {}

    def evaluate(self, *, warnings: bool = False, uses: bool = True) -> Evaluation:
        """The session as it is now.

        Args:
            uses: hold it against the index, too; not of an edit that was made from the uses in it.
        Raises:
            UsageError: it has no edits. ServerError: a server fell twice.
        """
        from query.refactor.simulation.compare import Lines, compare
        from query.refactor.simulation.session import changed_on_disk, status

        session = self._session
        if not session.files:
            raise UsageError(f"session {session.id} has no edits; simulate_edit makes one")
        before = self._ask_before()
        started = sum(said.elapsed_ms for said in self.said)
        after = self._judge.ask(self._asked, session.texts_after())
        self.said.append(after)
        unsettled = sorted({*before.unsettled, *after.unsettled})
        judged = [path for path in self._asked if path in before.diagnostics and path in after.diagnostics]
        from query.edits.text import decode

        lines = {file.path: Lines(decode(file.before), decode(file.after)) for file in session.files}
        delta = compare(
            [item for path in judged for item in before.diagnostics[path]],
            [item for path in judged for item in after.diagnostics[path]],
            lines,
        )
        introduced, resolved = [[item for item in side if item.severity == "error"] for side in delta]
        dirty = changed_on_disk(session, self._scope)
        self._say(unsettled, after.unjudged, dirty)
        for reason in (*before.unreadable, *after.unreadable):
            self.reasons[f"unreadable {reason.detail}"] = reason
        left_behind = self._left_behind(judged) if uses else []
        confidence = self._confidence(unsettled, after.unjudged)
        return Evaluation(
            session_id=session.id,
            status=status(session, self._scope),
            errors_introduced=introduced[:_MAX_DIAGNOSTICS],
            errors_resolved=resolved[:_MAX_DIAGNOSTICS],
            net_delta=len(introduced) - len(resolved) if judged else None,
            safe=confidence == "high" and not introduced and not dirty and not left_behind,
            scope=self._scope_name,
            confidence=confidence,
            timeout=bool(unsettled),
            duration_ms=after.elapsed_ms + (started if len(self.said) == 2 else 0),
            asked=judged,
            warnings_introduced=[item for item in delta.introduced if item.severity == "warning"][:_MAX_DIAGNOSTICS] if warnings else [],
            warnings_resolved=[item for item in delta.resolved if item.severity == "warning"][:_MAX_DIAGNOSTICS] if warnings else [],
            new_warnings=sum(item.severity == "warning" for item in delta.introduced),
            dirty=dirty,
            left_behind=left_behind,
        )

    def _left_behind(self, judged: Sequence[str]) -> list[Broken]:
        """What the index knows against the edits; why it may not know all of it is a reason."""
        before = {file.path: file.before for file in self._session.files}
        after = {file.path: file.after for file in self._session.files}
        index = self._workspace.index
        for key in [key for key in self.reasons if key.startswith(_OF_USES)]:  # of the edits before the last one
            del self.reasons[key]
        if index is None:
            if changes_shapes(before, after):
                detail = "the edits change what other files can see, and no index knows who uses it; to make one: lspidx index"
                self.reasons["no_index"] = Reason(code="no_index", detail=detail)
            return []
        found = consequences(index, before, after, judged, far=self._scope_name == "workspace")
        for reason in found.gaps:
            self.reasons[f"{_OF_USES}{reason.code} {reason.detail}"] = reason
        return found.broken

    def _ask_before(self) -> Said:
        """What was there before the edits; asked about anew where a further file has been edited since."""
        paths = self._session.paths
        if self._before is None or not set(paths) <= set(self._asked):
            self._asked = [*paths, *(path for path in self._depending(paths) if path not in paths)]
            self._before = self._judge.ask(self._asked, self._session.texts_before())
            self.said.append(self._before)
        return self._before

    def _depending(self, paths: Sequence[str]) -> list[str]:
        if self._scope_name == "file":
            return []
        index = self._workspace.index
        if index is None:
            detail = (
                "there is no index that knows what depends on the edited files, so only these were asked about; to make one: lspidx index"
            )
            self.reasons["no_index"] = Reason(code="no_index", detail=detail)
            return []
        from query.facts.dependents import dependents
        from query.facts.freshness import drift

        tree = drift(index)
        if not tree.checked:
            detail = "the work tree is too large to be compared with the index, so files that depend on the edited ones may be missing"
            self.reasons["not_compared"] = Reason(code="not_compared", detail=detail)
        found = dependents(index, tree, paths, _MOST_ASKED)
        if found.cut:
            detail = f"{count(found.cut, 'file')} more that depend on the edited ones, or may: at most {_MOST_ASKED} are asked about"
            self.reasons["dependents_cut"] = Reason(code="dependents_cut", detail=detail, count=found.cut)
        elif found.indirect_cut:
            detail = f"files that depend on the edited ones by way of others: at most {_MOST_ASKED} are asked about, the nearest first"
            self.reasons["indirect_cut"] = Reason(code="indirect_cut", detail=detail)
        return found.paths

    def _say(self, unsettled: list[str], unjudged: dict[str, str], dirty: list[str]) -> None:
        if unsettled:
            detail = (
                "the server had not said anything of these in time, so errors there are unknown; ask again, or with a larger timeout_ms"
            )
            self.reasons["not_settled"] = of_paths("not_settled", detail, unsettled)
        for why in dict.fromkeys(unjudged.values()):
            self.reasons[f"not_judged {why}"] = of_paths("not_judged", why, [path for path, other in unjudged.items() if other == why])
        if dirty:
            detail = "changed on disk since the first edit; what is said here is about the texts of then; to begin anew: discard_session"
            self.reasons["dirty"] = of_paths("dirty", detail, dirty)
        for server in {info.entry for said in self.said for info in said.servers} & _LESS.keys():
            self.reasons[f"less {server}"] = Reason(code="less_than_the_compiler", detail=_LESS[server])

    def _confidence(self, unsettled: list[str], unjudged: dict[str, str]) -> Literal["high", "partial", "eventual"]:
        if unsettled or unjudged or any(reason.code == "malformed_answer" for reason in self.reasons.values()):
            return "partial"
        not_known = any(key.startswith(_OF_USES) for key in self.reasons)
        return "eventual" if not_known or {"no_index", "not_compared", "dependents_cut"} & self.reasons.keys() else "high"

    def answer(self, ask: msgspec.Struct | Mapping[str, Any], result: R, total: int, *, nothing_judged: bool) -> Answer[R]:
        """The answer with whatever was made of the evaluations; `ask` as in `Workspace.answer`."""
        reasons = list(self.reasons.values())
        completeness = Completeness(status="unknown", reasons=reasons) if nothing_judged else completeness_from(reasons)
        said = by_servers([info for said in self.said for info in said.servers], sum(said.elapsed_ms for said in self.said))
        return self._workspace.answer(ask, result, all_of(total), completeness, said)


def judged(workspace: Workspace, before: Mapping[str, bytes], after: Mapping[str, Document]) -> tuple[Evaluation, list[Reason]]:
    """What an edit that was made from the index would bring and take away, by path; and why that may not be all.

    Raises:
        ServerError: a server fell twice.
    """
    from query.refactor.simulation.session import File
    from query.refactor.simulation.store import new_session

    session = new_session("")
    session.files = [File(path=path, before=before[path], after=document.content) for path, document in sorted(after.items())]
    trial = Trial(workspace, session, "workspace", 0)
    found = trial.evaluate(uses=False)
    found.session_id, found.status = "", "destroyed"
    return found, list(trial.reasons.values())


def evaluated(ask: msgspec.Struct | Mapping[str, Any], trial: Trial, found: Evaluation) -> Answer[Evaluation]:
    total = len(found.errors_introduced) + len(found.errors_resolved)
    return trial.answer(ask, found, total, nothing_judged=found.net_delta is None)


# ---- text


_FEW_JUDGED = 5
"""Of more files that were judged an agent is told the number: what was not judged has a reason of its own."""


def evaluation_lines(found: Evaluation, style: Style) -> Iterator[str]:
    verdict = style.strong("safe") if found.safe else style.warning("not shown to be safe")
    delta = "unknown" if found.net_delta is None else f"{found.net_delta:+d}"
    late = ", timed out" if found.timeout else ""
    yield f"{verdict}: net delta {delta}, confidence {found.confidence}, scope {found.scope}{late}, {found.status}, {found.duration_ms} ms"
    for title, rows in (
        ("errors introduced", found.errors_introduced),
        ("errors resolved", found.errors_resolved),
        ("warnings introduced", found.warnings_introduced),
        ("warnings resolved", found.warnings_resolved),
    ):
        if rows:
            yield f"{title}: {len(rows)}"
        yield from diagnostic_lines(rows, style)
    if found.new_warnings and not found.warnings_introduced:
        yield style.dim(f"{count(found.new_warnings, 'new warning')}; to see them: include_warnings")
    for item in found.left_behind:
        yield from _broken_lines(item, style)
    for path in found.dirty:
        yield f"{style.path(path)}  {style.warning('has changed on disk since the first edit')}"
    if style.compact and len(found.asked) > _FEW_JUDGED:
        yield f"judged: {len(found.asked)} files: {listed(found.asked, _FEW_JUDGED)}"
    else:
        yield style.dim(f"judged: {', '.join(found.asked) or 'nothing'}")


def _broken_lines(item: Broken, style: Style) -> Iterator[str]:
    what = {"signature": "is declared otherwise"}.get(item.what, f"is {item.what}")
    uses = f", and {count(item.total, 'use')} of it {'stays' if item.total == 1 else 'stay'} as before" if item.total else ""
    name = style.name(item.qualified_name, item.path)
    yield f"{style.place(item.path, item.line)}  {style.warning(one_line(f'{name} {what}{uses}'))}"
    for site in item.sites:
        caller = one_line(f"in {style.name(site.caller, site.path)}")
        yield f"  {style.place(site.path, site.line)}  {printable(site.text)}  {style.dim(caller)}"
    if item.total > len(item.sites):
        whole = one_line(item.qualified_name)
        how = f"find_references {json.dumps({'symbol': whole}, ensure_ascii=False)}"
        how = how if style.calls else f"lspidx query references {shlex.quote(whole)}"
        yield f"  … and {item.total - len(item.sites)} more; all: {how}"
    for text in item.says:
        yield f"  {one_line(text)}"


def diagnostic_lines(rows: Sequence[Diagnostic], style: Style) -> Iterator[str]:
    for item in rows:
        origin = " ".join(filter(None, (item.source, item.code)))
        yield f"  {style.place(item.path, item.line, item.col)}  {one_line(item.message)}  {style.dim(f'[{origin}]')}"
