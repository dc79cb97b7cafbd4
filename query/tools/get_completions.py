"""What can be typed at a place, by a running server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec

from indexer.errors import UsageError
from indexer.lsp import methods
from indexer.lsp.enums import CompletionItemKind, CompletionItemTag, CompletionTriggerKind, names
from indexer.text import utf16_to_index
from query.answers.envelope import Answer, Reason
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, one_line, printable
from query.context import Workspace
from query.edits.text import Edit
from query.live import decode
from query.live.proposals import TextChange, applied, change
from query.live.questions import Placed, Spot, spot
from query.live.replies import Feature, Outcome, doubted, left_out, provider, question
from query.surface.registry import workspace_tool

if TYPE_CHECKING:
    from indexer.lsp import requests

_FEATURE = Feature("completionProvider", methods.TEXT_DOCUMENT_COMPLETION, "completion", "find_symbol or list_symbols")
_NEAR = 0.8
"""Jaro-Winkler similarity from which a name fits a filter that is no part of it."""
_MAX_RESOLVED = 50
_MAX_DOCUMENTATION = 4_000

KINDS = names(CompletionItemKind)
"""By the protocol's number of a CompletionItemKind."""

TYPES = {
    "function": ("function",),
    "method": ("method", "constructor"),
    "class": ("class",),
    "struct": ("struct",),
    "enum": ("enum",),
    "interface": ("interface",),
    "constant": ("constant", "enum member"),
    "variable": ("variable", "property", "field"),
    "module": ("module", "folder", "file"),
}
"""Kinds of completions by what a caller may ask for as `symbol_type`."""


class GetCompletions(Placed, kw_only=True):
    trigger_character: Annotated[str, msgspec.Meta(description="what was typed last, e.g. a dot, as if it had asked")] = ""
    filter: Annotated[
        str, msgspec.Meta(description="only names that have this in them or are like it (Jaro-Winkler), the likest first")
    ] = ""
    symbol_type: Annotated[str, msgspec.Meta(description=f"only these: {', '.join(name.title() for name in TYPES)}")] = ""
    resolve: Annotated[bool, msgspec.Meta(description="ask the server for documentation and imports of those that are shown")] = False
    limit: Annotated[int, msgspec.Meta(ge=1, le=1_000, description="completions shown")] = 50
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class Completion(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One thing that can be typed. `number`: the kind as LSP counts (CompletionItemKind), 0 where the server names none.

    insert_text: what is typed; `replaces`: the range that it takes the place of, where the server says one. source: where it comes
    from. additional_edits: what else changes, e.g. an import. similarity: to `filter`, where one was given.
    """

    label: str
    kind: str
    number: int
    insert_text: str
    detail: str = ""
    documentation: str = ""
    source: str = ""
    sort_text: str = ""
    deprecated: bool = False
    replaces: TextChange | None = None
    additional_edits: list[TextChange] = []
    similarity: float = 0.0


class _Candidate(NamedTuple):
    raw: dict[str, Any]
    item: decode.CompletionItem
    similarity: float


def _text(answer: Answer[list[Completion]], style: Style) -> Iterator[str]:
    for item in answer.result:
        note = f"  {style.warning('deprecated')}" if item.deprecated else ""
        source = f"  {style.dim(one_line(item.source))}" if item.source else ""
        inserts = f"  {style.dim(f'inserts {one_line(item.insert_text)}')}" if item.insert_text != item.label else ""
        name = f"{style.kind(item.kind or 'name')} {style.strong(one_line(item.label))}"
        yield f"{name}  {style.signature(item.detail)}{source}{inserts}{note}"
        for line in item.documentation.split("\n") if item.documentation else []:
            yield f"    {printable(line)}"
        for edit in item.additional_edits:
            yield f"    also at {edit.line}:{edit.col}: {one_line(edit.new_text)}"


@workspace_tool(
    "get_completions",
    parameters=GetCompletions,
    result=list[Completion],
    positional="file_path",
    example="get_completions shortcuts.py --position-pattern 'return @@HttpResponse(content' --filter HttpRespnse",
    task="live",
    hint="complete autocomplete suggestions members available in scope typed",
    text=_text,
)
def TOOL(workspace: Workspace, ask: GetCompletions) -> Answer[list[Completion]]:
    """What can be typed at a place: members, names in scope, keywords; filtered and ranked."""
    kinds = _wanted(ask.symbol_type)
    at = spot(workspace, ask)
    context, triggered = _context(workspace, at, ask.trigger_character)
    params: requests.CompletionParams = {**at.params, "context": context}
    outcome = question(workspace, at.document, _FEATURE, params)
    said = decode.completions(outcome.value, outcome.origin)
    typed, rest = _typed(at)
    more = {"trigger_character": triggered} if triggered else {}
    if outcome.answered and said.is_empty and rest:  # ty has nothing to say within a name; so ask as if its rest were not there yet
        outcome = question(workspace, at.document, _FEATURE, params, overlay={at.document.path: _without(at, rest)})
        said = decode.completions(outcome.value, outcome.origin)
        more["asked_without"] = rest
    found = _ranked(((value, item) for value, item in said.items.items if not kinds or _kind(item) in kinds), ask.filter, typed)
    offset = offset_of(ask.cursor)
    shown = [_Candidate({**said.defaults, **item.raw}, item.item, item.similarity) for item in found[offset : offset + ask.limit]]
    reasons = left_out(said.items.others, "completions", outcome.info)
    if said.incomplete:
        detail = f"{outcome.info.name} has more that fit than it sent; type more of the name before the place"
        reasons.append(Reason(code="list_incomplete", detail=detail))
    if ask.resolve and outcome.answered:
        shown, why = _resolved(workspace, at, shown, outcome)
        reasons += why
    return workspace.answer(
        ask,
        [_completion(item) for item in shown],
        page_of(offset, len(shown), len(found)),
        doubted(outcome.completeness, reasons),
        outcome.provenance,
        more={"place": at.shown, "typed": typed, **more},
    )


def _wanted(symbol_type: str) -> tuple[str, ...]:
    if not symbol_type:
        return ()
    if symbol_type.lower() not in TYPES:
        more = "; an import is no kind of completion: ask for the name that is imported" if symbol_type.lower() == "import" else ""
        raise UsageError(f"no completion is of the type '{symbol_type}'; known: {', '.join(name.title() for name in TYPES)}{more}")
    return TYPES[symbol_type.lower()]


def _context(workspace: Workspace, at: Spot, trigger: str) -> tuple[requests.CompletionContext, str]:
    """CompletionContext, and the character that it names: of `::` the last, where that is what the server knows."""
    known = provider(workspace.servers.info(at.document.path), _FEATURE.capability).triggers
    for character in (trigger, trigger[-1:]):
        if character and character in known:
            return {"triggerKind": CompletionTriggerKind.TRIGGER_CHARACTER, "triggerCharacter": character}, character
    return {"triggerKind": CompletionTriggerKind.INVOKED}, ""


def _typed(at: Spot) -> tuple[str, str]:
    """The parts of an identifier before and behind the place."""
    line = at.document.lines[at.line]
    here = start = end = utf16_to_index(line, at.col)
    while start > 0 and _in_name(line[start - 1]):
        start -= 1
    while end < len(line) and _in_name(line[end]):
        end += 1
    return line[start:here], line[here:end]


def _in_name(char: str) -> bool:
    return char.isalnum() or char in "_$"


def _without(at: Spot, rest: str) -> str:
    """The document's text without what stands behind the place."""
    end = at.col + len(rest.encode("utf-16-le")) // 2
    return applied(at.document, [Edit(start=(at.line, at.col), end=(at.line, end), new_text="")])


def _ranked(items: Any, wanted: str, typed: str) -> list[_Candidate]:
    """With a filter the likest first; without, those that begin as what is typed; then as the server sorts."""
    if wanted:
        from jellyfish import jaro_winkler_similarity

        lower = wanted.lower()
        found: list[_Candidate] = []
        for raw, item in items:
            name = _name(item).lower()
            similarity = jaro_winkler_similarity(lower, name)
            if lower in name or similarity >= _NEAR:
                found.append(_Candidate(raw, item, similarity))
        return sorted(found, key=lambda it: (-it.similarity, it.item.sort_text or it.item.label))
    begin = typed.lower()
    return sorted(
        (_Candidate(raw, item, 0.0) for raw, item in items),
        key=lambda it: (
            not _name(it.item).lower().startswith(begin),
            not it.item.preselect,
            it.item.sort_text or it.item.label,
        ),
    )


def _name(item: decode.CompletionItem) -> str:
    """What of an item a filter is held against; clangd begins its labels with a space or a mark."""
    return (item.filter_text or item.label).strip(" •")


def _kind(item: decode.CompletionItem) -> str:
    return KINDS.get(item.kind or 0, "")


def _resolved(workspace: Workspace, at: Spot, shown: Sequence[_Candidate], outcome: Outcome) -> tuple[list[_Candidate], list[Reason]]:
    """The same with what the server adds when it is asked about one item; one that says nothing of this has sent all at once."""
    if not provider(outcome.info, _FEATURE.capability).resolves:
        return list(shown), []
    made: list[_Candidate] = []
    failed = 0
    for candidate in shown[:_MAX_RESOLVED]:
        reply = workspace.servers.ask(at.document.path, methods.COMPLETION_ITEM_RESOLVE, candidate.raw)
        item = None if reply.error else decode.resolved(reply.result, decode.CompletionItem)
        failed += item is None
        made.append(candidate if item is None else _Candidate(candidate.raw, item, candidate.similarity))
    reasons: list[Reason] = []
    if failed:
        detail = f"{outcome.info.name} said no more about {failed} of these"
        reasons.append(Reason(code="server_refused", detail=detail, count=failed))
    if len(shown) > _MAX_RESOLVED:
        detail = f"only the first {_MAX_RESOLVED} were asked about; the others may lack documentation and imports"
        reasons.append(Reason(code="not_resolved", detail=detail, count=len(shown) - _MAX_RESOLVED))
    return [*made, *shown[_MAX_RESOLVED:]], reasons


def _completion(candidate: _Candidate) -> Completion:
    item = candidate.item
    edit = item.text_edit
    details = item.label_details or decode.LabelDetails()
    where = (edit.range or edit.insert) if edit is not None else None
    new_text = edit.new_text if edit is not None else item.text_edit_text or item.insert_text or item.label.strip(" •")
    return Completion(
        label=item.label.strip(" •"),
        kind=_kind(item),
        number=item.kind or 0,
        insert_text=new_text,
        detail=item.detail or (details.detail or "").strip(),
        documentation=decode.words(item.documentation)[:_MAX_DOCUMENTATION],
        source=(details.description or "").strip(),
        sort_text=item.sort_text or "",
        deprecated=bool(item.deprecated) or CompletionItemTag.DEPRECATED in (item.tags or []),
        replaces=change(decode.TextEdit(range=where, new_text=new_text).edit) if where is not None else None,
        additional_edits=[change(more.edit) for more in item.additional_text_edits or []],
        similarity=round(candidate.similarity, 4),
    )
