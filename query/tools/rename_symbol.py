"""Renaming everywhere: what a server would change, held against the index, shown or written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from indexer.errors import EditRefused, UsageError
from indexer.servers.registry import language_of
from query.answers.envelope import Answer, Completeness, Place, Provenance, Reason, SymbolRecord
from query.answers.style import Style, count
from query.context import Workspace
from query.facts.completeness import DEFINITION, Certificate
from query.facts.parameters import asked
from query.live.questions import NamedPlace, Spot, live, spot, supports, unsupported
from query.refactor.outcome import Apply, Edited, PlanId, carry_out, lines
from query.refactor.rename import (
    Compared,
    Site,
    check_name,
    compare,
    constructors,
    inside,
    kin_of,
    name_at,
    sites_of,
    symbols_at,
    taken,
    without,
)
from query.surface.registry import workspace_tool
from query.tools.prepare_rename import prepared

if TYPE_CHECKING:
    from query.edits.plan import Plan
    from query.edits.scope import Scope

_SHOWN = 50


class RenameSymbol(NamedPlace, kw_only=True):
    new_name: Annotated[str, msgspec.Meta(description="the name to give it")] = ""
    apply: Apply = False
    plan: PlanId = ""
    exclude_globs: Annotated[list[str], msgspec.Meta(description="files to leave alone: vendor/**, **/*_gen.go, *.pb.go")] = []
    sites: Annotated[
        Literal["ask", "server", "both"],
        msgspec.Meta(
            description="where server and index disagree (uses that only the index knows, overriding members, files outside): "
            "ask: show it, and refuse to write; server: do as the server says; both: rename what the index knows too"
        ),
    ] = "ask"


class Renamed(msgspec.Struct, kw_only=True):
    """`edited`: what was or would be written. `workspace_edit`: the same for apply_edit, which refuses it once a file has changed.

    only_server, only_index: uses that only one of the two knows, at most 50 each of `only_server_total` and `only_index_total`.
    overrides: members that override it, or that it overrides, and that keep their names. taken: what is called so there already.
    """

    old_name: str
    new_name: str
    edited: Edited
    workspace_edit: dict[str, Any]
    only_server: list[Place] = []
    only_server_total: int = 0
    only_index: list[Place] = []
    only_index_total: int = 0
    overrides: list[SymbolRecord] = []
    taken: list[SymbolRecord] = []


def _text(answer: Answer[Renamed], style: Style) -> Iterator[str]:
    found = answer.result
    yield f"{style.strong(found.old_name)} → {style.strong(found.new_name)}"
    yield from lines(found.edited, style)
    for title, places, total in (
        ("only the server knows", found.only_server, found.only_server_total),
        ("only the index knows", found.only_index, found.only_index_total),
    ):
        if places:
            yield f"{style.warning(title)}: {count(total, 'use')}"
            yield from style.places(places)
    for title, records in (("keeps its name, though calls may reach it", found.overrides), ("has that name already", found.taken)):
        for record in records:
            yield f"{style.warning(title)}: {style.symbol(record)}"


@workspace_tool(
    "rename_symbol",
    parameters=RenameSymbol,
    result=Renamed,
    positional="symbol new_name",
    example="rename_symbol resolve_url resolve_to_url",
    task="edit",
    hint="refactor change name everywhere",
    text=_text,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: ask.apply,
)
def TOOL(workspace: Workspace, ask: RenameSymbol) -> Answer[Renamed]:
    """Renames a symbol everywhere, as a running language server says, held against the index; shows the edit, or writes it with apply."""
    if not ask.new_name:
        raise UsageError("say how to call it: new_name")
    at = spot(workspace, ask)
    info = workspace.servers.info(at.document.path)
    old_name = name_at(at)
    check_name(ask.new_name, language_of(at.document.path))
    if not supports(info, "renameProvider", "textDocument/rename"):
        nothing = Renamed(old_name=old_name, new_name=ask.new_name, edited=_nothing(), workspace_edit={})
        return _answer(ask, nothing, unsupported(info, "rename"), live(info=info))
    found, _, replies = prepared(at, info, workspace.servers.ask)
    if not found.can_rename:
        raise EditRefused(f"'{old_name}' at {at.shown} cannot be renamed: {found.why}")
    old_name = found.placeholder if found.placeholder in at.document.lines[at.line] else old_name
    reply = workspace.servers.ask(at.document.path, "textDocument/rename", {**at.params, "newName": ask.new_name})
    replies.append(reply)
    if reply.error or not isinstance(reply.result, dict):
        raise EditRefused(f"'{old_name}' at {at.shown} cannot be renamed: {reply.error or 'the server gave no edit'}")
    check = _Check(workspace, at, old_name)
    outcome = carry_out(workspace, lambda scope: check.plan(scope, reply.result, ask), write=ask.apply, shown=ask.plan)
    compared = check.compared
    result = Renamed(
        old_name=old_name,
        new_name=ask.new_name,
        edited=outcome.edited,
        workspace_edit=check.edit,
        only_server=compared.only_server[:_SHOWN],
        only_server_total=len(compared.only_server),
        only_index=compared.only_index[:_SHOWN],
        only_index_total=len(compared.only_index),
        overrides=check.overrides,
        taken=check.taken,
    )
    reasons = [*outcome.reasons, *check.reasons(ask)]
    status = "unknown" if check.is_foreign else "partial" if reasons else "complete"
    return _answer(ask, result, Completeness(status=status, reasons=reasons), live(*replies))


class _Check:
    """What the index says to a server's edit."""

    def __init__(self, workspace: Workspace, at: Spot, old_name: str) -> None:
        self._workspace, self._at, self._old_name = workspace, at, old_name
        self.compared = Compared([], [], [])
        self.edit: dict[str, Any] = {}
        self.outside: list[str] = []
        self.overrides: list[SymbolRecord] = []
        self.taken: list[SymbolRecord] = []
        self._symbols = symbols_at(workspace.index, at) if workspace.index is not None else []

    @property
    def is_foreign(self) -> bool:
        """Whether the index may be made up: it names no place to write to, and its silence about others is worth nothing."""
        return self._workspace.index is not None and bool(self._workspace.index.foreign)

    def plan(self, scope: Scope, edit: Mapping[str, Any], ask: RenameSymbol) -> Plan:
        from query.edits.plan import plan_edit, with_digests

        index = self._workspace.index
        edit, self.outside = inside(scope, edit)
        sites = sites_of(scope, edit, self._old_name)
        if index is not None and self._symbols:
            kin = kin_of(index, self._symbols)
            symbols = [*self._symbols, *(item for item in kin if not item.record.external)] if ask.sites == "both" else self._symbols
            self.compared = compare(index, [*symbols, *constructors(index, symbols)], self._old_name, sites)
            left = [item for item in kin if ask.sites != "both" or item.record.external]
            self.overrides = [item.record for item in left if _place(item.record) not in sites]
            self.taken = taken(index, self._symbols, ask.new_name)
            if ask.sites == "both":
                edit = _with(edit, self.compared.only_index, ask.new_name, scope)
        if ask.apply and ask.sites != "server" and (doubts := self._doubts(ask)):
            raise EditRefused(f"nothing was written: {'; '.join(doubts)}. Look at it first, without apply")
        self.edit = with_digests(scope, without(scope, edit, ask.exclude_globs))
        return plan_edit(scope, edit, ask.exclude_globs)

    def _doubts(self, ask: RenameSymbol) -> list[str]:
        """Why the result may be broken code, each with what to say to have it all the same."""
        found: list[str] = []
        if self.is_foreign:
            found.append("the index is a stranger's, so the server's answer is held against nothing; sites=server goes by that alone")
        if self.compared.only_index and ask.sites == "ask":
            uses = f"{count(len(self.compared.only_index), 'use')} that the server would not rename"
            found.append(
                f"the index knows {uses} ({_listed(self.compared.only_index)}); sites=both renames them too, sites=server leaves them"
            )
        if self.overrides:
            names = ", ".join(record.qualified_name for record in self.overrides[:5])
            how = "sites=server leaves them" if ask.sites == "both" else "sites=both renames them too, sites=server leaves them"
            found.append(f"members that override it, or that it overrides, would keep their names ({names}); {how}")
        if self.outside:
            found.append(f"the server would change files outside the workspace ({', '.join(self.outside[:5])}); sites=server leaves them")
        if self.taken:
            found.append(
                f"'{ask.new_name}' is the name of something else there ({_listed(self.taken)}); choose another one, or sites=server"
            )
        return found

    def reasons(self, ask: RenameSymbol) -> list[Reason]:
        index = self._workspace.index
        found: list[Reason] = []
        if self.outside:
            detail = "files outside the workspace that the server would change too, and that stay as they are"
            found.append(_of_paths("outside_workspace", detail, self.outside))
        if index is None:
            detail = "there is no index to hold the server's answer against; to make one: lspidx index"
            return [*found, Reason(code="not_cross_checked", detail=detail)]
        if not self._symbols:
            detail = "the index does not know what stands here, or its file has changed since, so the answer was not held against it"
            return [*found, Reason(code="not_cross_checked", detail=detail)]
        if self.compared.stale:
            detail = "files that have changed since the index was made: there the server's answer was not held against it"
            found.append(_of_paths("not_cross_checked", detail, self.compared.stale))
        if self.compared.only_index and ask.sites != "both":
            paths = list(dict.fromkeys(place.path for place in self.compared.only_index))
            uses = count(len(self.compared.only_index), "use")
            detail = f"{uses} that the index knows and the server does not; to rename them too: sites=both"
            found.append(_of_paths("index_knows_more", detail, paths))
        if self.overrides:
            paths = list(dict.fromkeys(record.path for record in self.overrides))
            found.append(_of_paths("overrides_keep_name", "members that override it, or that it overrides, keep their names", paths))
        if self.taken:
            paths = list(dict.fromkeys(record.path for record in self.taken))
            found.append(_of_paths("name_taken", f"'{ask.new_name}' is the name of something else there already", paths))
        name = "" if self._symbols[0].is_local else self._old_name
        gaps = Certificate(index).of_workspace(DEFINITION, name, about=self._at.document.path)
        return [*found, *(reason for reason in gaps.reasons if reason.code != "stale")]


def _listed(items: Sequence[Place | SymbolRecord]) -> str:
    return ", ".join(f"{item.path}:{item.line}" for item in items[:5]) + (", …" if len(items) > 5 else "")


def _place(record: SymbolRecord) -> Site:
    return Site(record.path, record.line - 1, record.col - 1)


def _of_paths(code: str, detail: str, paths: list[str]) -> Reason:
    return Reason(code=code, detail=detail, count=len(paths), paths=paths[:20])


def _with(edit: Mapping[str, Any], places: list[Place], new_name: str, scope: Scope) -> dict[str, Any]:
    """The edit, and the new name at further places."""
    more: dict[str, list[dict[str, Any]]] = {}
    for place in places:
        start, end = {"line": place.line - 1, "character": place.col - 1}, {"line": place.line - 1, "character": place.end_col - 1}
        more.setdefault(scope.uri(place.path), []).append({"range": {"start": start, "end": end}, "newText": new_name})
    operations = list(edit.get("documentChanges") or [])
    if not operations:
        operations = [{"textDocument": {"uri": uri, "version": None}, "edits": edits} for uri, edits in (edit.get("changes") or {}).items()]
    operations += [{"textDocument": {"uri": uri, "version": None}, "edits": edits} for uri, edits in more.items()]
    return {**{key: value for key, value in edit.items() if key != "changes"}, "documentChanges": operations}


def _nothing() -> Edited:
    return Edited(applied=False, added=0, removed=0, edits=0, files=[])


def _answer(ask: RenameSymbol, result: Renamed, completeness: Completeness, provenance: Provenance) -> Answer[Renamed]:
    return Answer(
        tool="rename_symbol",
        query=asked(ask),
        result=result,
        total=result.edited.edits,
        truncated=any(item.diff_lines_left_out for item in result.edited.files),
        completeness=completeness,
        provenance=provenance,
    )
