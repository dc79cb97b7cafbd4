"""An answer, or an error, as the result of a call: text and structured content, each within the budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click
import msgspec

from indexer.errors import LspidxError, NoIndex
from indexer.quoting import fenced, shown, visible
from query.answers.envelope import Answer
from query.answers.pages import Cursor, parsed
from query.answers.style import Style
from query.mcp.options import Options
from query.mcp.protocol import Result, text_of_ours
from query.surface import search
from query.surface.budget import shorten
from query.surface.in_calls import in_calls
from query.surface.parts import Parts
from query.surface.registry import Tool
from query.surface.render import OWN_WORDS, error_record, error_text, to_text

OUTPUT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "result": {},
        "total": {"type": "integer"},
        "truncated": {"type": "boolean"},
        "next": {"type": "string"},
        "completeness": {"type": "object", "properties": {"status": {"enum": ["complete", "partial", "unknown"]}}},
        "error": {"type": "object", "properties": {"code": {"type": "string"}, "message": {"type": "string"}}},
    },
}
"""The envelope, for every tool the same. The record in `result` is in the declaration (`search_tools` with `output_schema`): in each
tool's schema it would cost more than all descriptions and parameters together. An error is in it because clients hold errors against
the schema too. `quoted` is explained once, in the instructions."""

_NARROWING = ("path", "kind", "role", "tests", "direction", "evidence", "language", "depth", "limit")
_CUT = "… (cut)"
_NOT_LEAN = ("query", "provenance", "quoted")
_WIDENING = ("detect_changes", "tests")
"""Its tests are the likely ones, unless all are asked for."""

EXACT = frozenset(("workspace_edit", "patch"))
"""Edits that are sent back to be made: their texts are not for reading, and must be what they are."""


def answered(tool: Tool, answer: Answer[Any], options: Options) -> Result:
    """The answer in the forms that the server gives, each cut to the budget: a client shows the model one of them.

    So they may differ in how many rows they have; each says how to go on from its own. Of a strict server, an answer that is not
    complete is an error, with all that was found.
    """
    status = answer.completeness.status
    failed = options.strict and status != "complete"
    first = f"strict: the answer is {status}\n" if failed else ""

    texts: dict[int, tuple[Answer[Any], str]] = {}  # by identity, of an answer that lives as long

    def text_of(part: Answer[Any]) -> str:
        if id(part) not in texts:
            hint = next_hint(tool, part)
            text = first + click.unstyle(to_text(part, Style(compact=True, calls=True))) + (f"\nnext: {hint}" if hint else "")
            texts[id(part)] = (part, text)
        return texts[id(part)][1]

    def data_of(part: Answer[Any]) -> dict[str, Any]:
        hint = next_hint(tool, part)
        return {**shown(msgspec.to_builtins(part), EXACT), **({"next": hint} if hint else {})}

    def cut(measure: Callable[[Answer[Any]], str]) -> Answer[Any]:
        if tool.name == "search_tools":
            return search.shorten(answer, options.budget, measure)
        return shorten(answer, tool.result, options.budget, measure)

    text = text_of(cut(text_of)) if options.format != "json" else ""
    data = data_of(cut(lambda part: _json(data_of(part)))) if options.format != "text" else {}
    if len(_json(data)) > options.budget:
        data = _lean(data_of(cut(lambda part: _json(_lean(data_of(part))))))
    if len(_json(data)) > options.budget:
        data = _envelope_only(tool, answer)
    return _result(text, data, options, failed=failed)


def failed(error: LspidxError, options: Options) -> Result:
    """What went wrong and what to do, as an answer that the model reads, not as an error of the protocol."""
    text = in_calls(click.unstyle(error_text(error)))
    if not isinstance(error, OWN_WORDS):
        text = "\n".join([f"error: {error.code}", *fenced(text.removeprefix("error: ").split("\n"))])
    if isinstance(error, NoIndex) and error.code == NoIndex.code and not options.make_index:
        text += "; or start the server with --index"
    data: dict[str, Any] = shown(error_record(error))
    if len(_json(data)) > options.budget:
        data = {**data, "error": {"code": error.code, "message": _cut(visible(str(error)), options.budget // 2)}}
    return _result(text, {} if options.format == "text" else data, options, failed=True)


def next_hint(tool: Tool, answer: Answer[Any]) -> str:
    """How to get what this answer has left out; empty where it is whole."""
    if not (answer.truncated or answer.shortened):
        return ""
    fields = tool.parameters.__struct_fields__
    ways: list[str] = []
    if answer.next_cursor is not None:
        ways.append(f'same call with cursor="{answer.next_cursor}"')
    if narrower := [name for name in _NARROWING if name in fields and (tool.name, name) != _WIDENING]:
        ways.append(f"narrow by {', '.join(narrower)}")
    if answer.result_file:
        ways.append(f"all of it is in {answer.result_file}")
    if tool.name == "search_tools":
        ways.append("see one declaration: select:NAME")
    return "; ".join(ways) or "ask about something smaller"


def _result(text: str, data: dict[str, Any], options: Options, *, failed: bool) -> Result:
    if options.format == "json" and not failed:  # some clients take no result without any content
        text = f"{data.get('total', 0)} found, see structuredContent"
    return {
        "content": [text_of_ours(_cut(text, options.budget))],
        **({"structuredContent": data} if data else {}),
        "isError": failed,
    }


def _lean(data: dict[str, Any]) -> dict[str, Any]:
    """An answer without what the client knows or need not: what it asked, where all answers come from. For budgets that a row fills."""
    kept = {key: value for key, value in data.items() if key not in _NOT_LEAN and value not in (None, "", False)}
    return {**kept, "result": data["result"]}


def _envelope_only(tool: Tool, answer: Answer[Any]) -> dict[str, Any]:
    """In place of a row that does not fit: how to get it, and how to go on after it."""
    here = parsed(str(answer.query.get("cursor", "")))
    is_last = here.row + 1 >= Parts(msgspec.to_builtins(answer.result)).rows
    after = answer.next_cursor if is_last or not tool.continues else str(Cursor(here.own, here.row + 1))
    return {
        "tool": answer.tool,
        "result": None,
        "total": answer.total,
        "truncated": True,
        "shortened": True,
        "completeness": {"status": answer.completeness.status},
        **({"beside": answer.beside} if answer.beside else {}),
        **({"warnings": answer.warnings} if answer.warnings else {}),
        **({"next_cursor": after} if after else {}),
        "next": "one row is longer than the budget; ask about something smaller, or start the server with a larger --budget"
        + (f'; to pass over this row: cursor="{after}"' if after else ""),
    }


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: max(0, length - len(_CUT))] + _CUT


def _json(data: Any) -> str:
    return msgspec.json.encode(data).decode()
