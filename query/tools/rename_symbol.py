"""Renaming everywhere: what a server would change, held against the index, shown or written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import msgspec

from indexer.errors import EditRefused, UsageError
from indexer.lsp import methods
from indexer.servers.registry import language_of
from query.answers.envelope import Answer, Place, Reason, SymbolRecord, completeness_from
from query.answers.pages import all_of
from query.answers.paths import of_paths
from query.answers.style import Style, count
from query.context import Workspace
from query.facts.completeness import DEFINITION, Certificate
from query.facts.gaps.hints import without_repeated
from query.live import decode
from query.live.questions import NamedPlace, Spot, live_provenance, origin, spot, supports, unsupported
from query.refactor.outcome import Apply, Edited, PlanId, carry_out, done, lines
from query.refactor.preparation import prepared
from query.refactor.rename import (
    Renaming,
    Verdict,
    check,
    check_name,
    edit_inside,
    edit_without,
    elsewhere,
    name_at,
    possible,
    sites_of,
    symbols_at,
)
from query.surface.registry import workspace_tool

if TYPE_CHECKING:
    from indexer.lsp import requests
    from query.edits.plan import Plan
    from query.edits.scope import Scope
    from query.edits.text import Edit
    from query.edits.workspace_edit import Decoded
    from query.facts.index import Index

_SHOWN = 50
_OF_INDEX = ("both", "possible")
_TOLD = 3
_BY_NAME = "unresolved_same_name"


class RenameSymbol(NamedPlace, kw_only=True):
    new_name: Annotated[str, msgspec.Meta(description="the name to give it")] = ""
    apply: Apply = False
    plan: PlanId = ""
    exclude_globs: Annotated[list[str], msgspec.Meta(description="files to leave alone: vendor/**, **/*_gen.go, *.pb.go")] = []
    sites: Annotated[
        Literal["ask", "server", "both", "possible"],
        msgspec.Meta(
            description="where server and index disagree (uses that only the index knows, overriding members, files outside), or uses may "
            "be left that neither knows: ask: show it, and refuse to write; server: do as the server says; both: rename what the index "
            "knows too; possible: and what only has that name and could not be resolved"
        ),
    ] = "ask"


class Renamed(msgspec.Struct, kw_only=True):
    """`edited`: what was or would be written. `workspace_edit`: the same for apply_edit, which refuses it once a file has changed.

    only_server, only_index: uses that only one of the two knows, at most 50 each of `only_server_total` and `only_index_total`.
    possible: identifiers of the name that could not be resolved and may be it, at most 50 of `possible_total`.
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
    possible: list[Place] = []
    possible_total: int = 0
    overrides: list[SymbolRecord] = []
    taken: list[SymbolRecord] = []


def _text(answer: Answer[Renamed], style: Style) -> Iterator[str]:
    found = answer.result
    yield f"{style.strong(found.old_name)} → {style.strong(found.new_name)}"
    yield from lines(found.edited, style)
    of_index = ("only the index knows", found.only_index, found.only_index_total)
    renames_all = answer.query.get("sites") in _OF_INDEX  # then those are among what the edit shows
    for title, places, total in (
        ("only the server knows", found.only_server, found.only_server_total),
        *([] if renames_all else [of_index]),
    ):
        if places:
            yield f"{style.warning(title)}: {count(total, 'use')}"
            yield from style.places(places)
    if found.possible and answer.query.get("sites") != "possible":
        title = "may be it, and keep their name; sites=possible renames them too"
        yield f"{style.warning(title)}: {count(found.possible_total, 'use')}"
        yield from style.places(found.possible)
    kept = "keep their names, though calls may reach them" + ("" if renames_all else "; sites=both renames them too")
    for title, records in ((kept, found.overrides), ("has that name already", found.taken)):
        if records:
            yield f"{style.warning(title)}:"
            yield from (f"  {style.symbol(record)}" for record in records)


@workspace_tool(
    "rename_symbol",
    parameters=RenameSymbol,
    result=Renamed,
    positional="symbol new_name",
    example="rename_symbol resolve_url resolve_to_url",
    task="edit",
    hint="refactor change name everywhere",
    text=_text,
    done=done,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: ask.apply,
    catches_up=True,
)
def TOOL(workspace: Workspace, ask: RenameSymbol) -> Answer[Renamed]:
    """Renames a symbol everywhere, as a running language server says, held against the index; shows the edit, or writes it with apply."""
    if not ask.new_name:
        raise UsageError("say how to call it: new_name")
    at = spot(workspace, ask)
    info = workspace.servers.info(at.document.path)
    old_name = name_at(at)
    if (meant := elsewhere(workspace.index, at, old_name)) is not None:  # everywhere, and not under an alias in this file
        at = spot(workspace, NamedPlace(file_path=meant.path, line=meant.line, column=meant.col))
    check_name(ask.new_name, language_of(at.document.path))
    if not supports(info, "renameProvider", methods.TEXT_DOCUMENT_RENAME):
        if ask.apply:
            raise EditRefused(
                f"nothing was written: {info.name or info.entry} has no rename; "
                "find_references lists the places, and apply_edit writes them"
            )
        nothing = Renamed(old_name=old_name, new_name=ask.new_name, edited=_nothing(), workspace_edit={})
        return workspace.answer(ask, nothing, all_of(0), unsupported(info, "rename"), live_provenance(info=info))
    found, _, replies = prepared(at, info, workspace.servers.ask)
    if not found.can_rename:
        raise EditRefused(f"'{old_name}' at {at.shown} cannot be renamed: {found.why}")
    old_name = found.placeholder if found.placeholder in at.document.lines[at.line] else old_name
    params: requests.RenameParams = {**at.params, "newName": ask.new_name}
    reply = workspace.servers.ask(at.document.path, methods.TEXT_DOCUMENT_RENAME, params)
    replies.append(reply)
    if reply.error or reply.result is None:
        raise EditRefused(f"'{old_name}' at {at.shown} cannot be renamed: {reply.error or 'the server gave no edit'}")
    edit = decode.asked_edit(reply.result, origin(reply.server, methods.TEXT_DOCUMENT_RENAME))
    judged: list[_Judged] = []

    def plan(scope: Scope) -> Plan:
        judged.append(_judge(workspace, at, old_name, edit, scope, ask))
        return judged[-1].plan

    outcome = carry_out(workspace, plan, write=ask.apply, shown=ask.plan)
    [found_out] = judged
    if not ask.apply:
        outcome.edited.needs = found_out.needs
    compared, verdict = found_out.verdict.compared, found_out.verdict
    result = Renamed(
        old_name=old_name,
        new_name=ask.new_name,
        edited=outcome.edited,
        workspace_edit=found_out.workspace_edit,
        only_server=compared.only_server[:_SHOWN],
        only_server_total=len(compared.only_server),
        only_index=compared.only_index[:_SHOWN],
        only_index_total=len(compared.only_index),
        possible=found_out.possible[:_SHOWN],
        possible_total=len(found_out.possible),
        overrides=verdict.overrides,
        taken=verdict.taken,
    )
    said = [*outcome.reasons, *_outside(verdict), *verdict.reasons, *found_out.gaps]
    reasons = [reason for number, reason in enumerate(said) if reason not in said[:number]]
    whole = completeness_from(reasons)
    if workspace.index is not None and workspace.index.foreign:
        whole = msgspec.structs.replace(whole, status="unknown")
    long = any(item.diff_lines_left_out for item in outcome.edited.files)
    return workspace.answer(ask, result, all_of(outcome.edited.edits, cut_short=long), whole, live_provenance(*replies))


class _Judged(NamedTuple):
    """What the index says to a server's edit, and what would be written. `needs`: as in `Edited`. possible: as in `Renamed`, all."""

    verdict: Verdict
    possible: list[Place]
    gaps: list[Reason]
    plan: Plan
    workspace_edit: dict[str, Any]
    needs: list[dict[str, Any]]


def _judge(workspace: Workspace, at: Spot, old_name: str, edit: Decoded, scope: Scope, ask: RenameSymbol) -> _Judged:
    """Raises EditRefused where it is to be written and the result may be broken code."""
    from query.edits.plan import digests_of, plan_decoded
    from query.edits.workspace_edit import DIGESTS

    index = workspace.index
    wanted, outside = edit_inside(scope, edit)
    renaming = Renaming(
        symbols=symbols_at(index, at) if index is not None else [],
        old_name=old_name,
        new_name=ask.new_name,
        sites=sites_of(scope, wanted, old_name),
        outside=outside,
        of_index=ask.sites in _OF_INDEX,
    )
    verdict = check(index, renaming)
    gaps = _gaps(index, renaming)
    is_open = index is not None and any(reason.code == _BY_NAME for reason in gaps)
    unsure = possible(index, renaming, verdict.compared.only_index) if index is not None and is_open else []
    if ask.sites in _OF_INDEX:
        wanted = wanted.and_also(_edits(verdict.compared.only_index, ask.new_name, scope))
    if ask.sites == "possible" and unsure and not verdict.is_foreign:
        wanted = wanted.and_also(_edits(unsure, ask.new_name, scope))
        gaps = [_by_name(unsure) if reason.code == _BY_NAME else reason for reason in gaps]
    doubts = verdict.doubts
    if ask.sites == "ask" and (unknown := [*verdict.looked_up, *gaps]):
        told = without_repeated(index, unknown[:_TOLD]) if index is not None else unknown[:_TOLD]
        said = "; ".join(reason.detail for reason in told)
        doubts.append(f"uses may be left that are not known: {said}; sites=both and sites=server rename what is known")
    if ask.apply and ask.sites != "server" and doubts:
        raise EditRefused(f"nothing was written: {'; '.join(doubts)}. Look at it first, without apply")
    shown = edit_without(scope, wanted, ask.exclude_globs)
    digests = digests_of(scope, (operation.uri for operation in shown.operations))
    needs = _needs(index, renaming, ask, unsure, stands_against=bool(doubts))
    return _Judged(verdict, unsure, gaps, plan_decoded(scope, wanted, ask.exclude_globs), {**shown.wire(), DIGESTS: digests}, needs)


def _needs(
    index: Index | None, renaming: Renaming, ask: RenameSymbol, unsure: list[Place], *, stands_against: bool
) -> list[dict[str, Any]]:
    """With which `sites` it is written where it would be refused: the server's alone always; both where that leaves no doubt."""
    if not stands_against or ask.sites == "server":
        return []
    wider = check(index, replace(renaming, of_index=True)) if ask.sites == "ask" else None
    if wider is None or wider.doubts:
        return [{"sites": "server"}]
    adds = bool(wider.compared.only_index)  # then another plan is written than the one that is shown
    found: list[dict[str, Any]] = [{"sites": "both", **({"plan": ""} if adds else {})}]
    return [*found, *([{"sites": "possible", "plan": ""}] if unsure else []), {"sites": "server"}]


def _by_name(places: list[Place]) -> Reason:
    """In place of the reason that they may be left."""
    detail = f"{count(len(places), 'identifier')} that could not be resolved, renamed for the name alone: look at each"
    return of_paths("renamed_by_name", detail, sorted({place.path for place in places}), len(places))


def _outside(verdict: Verdict) -> list[Reason]:
    if not verdict.renaming.outside:
        return []
    detail = "files outside the workspace that the server would change too, and that stay as they are"
    return [of_paths("outside_workspace", detail, verdict.renaming.outside)]


def _gaps(index: Index | None, renaming: Renaming) -> list[Reason]:
    """Why uses of the name may be unknown, but for files that have changed, of which the verdict speaks."""
    if index is None or not renaming.symbols:
        return []
    gaps = Certificate(index).of_uses(renaming.symbols, "references", DEFINITION)
    return [reason for reason in gaps.reasons if reason.code != "stale"]


def _edits(places: list[Place], new_name: str, scope: Scope) -> dict[str, list[Edit]]:
    """The new name at places, by URI."""
    from query.edits.text import Edit

    found: dict[str, list[Edit]] = {}
    for place in places:
        edit = Edit(start=(place.line - 1, place.col - 1), end=(place.line - 1, place.end_col - 1), new_text=new_name)
        found.setdefault(scope.uri(place.path), []).append(edit)
    return found


def _nothing() -> Edited:
    return Edited(applied=False, added=0, removed=0, edits=0, files=[])
