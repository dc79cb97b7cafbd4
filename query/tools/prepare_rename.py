"""Whether the identifier at a place can be renamed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from indexer.text import index_to_utf16
from query.answers.envelope import Answer, Completeness
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Reply, ServerInfo, Workspace
from query.live.questions import NamedPlace, Spot, live, refused, spot, supports, unsupported
from query.refactor.rename import name_at
from query.surface.registry import workspace_tool


class PrepareRename(NamedPlace, kw_only=True):
    pass


class Renameable(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`can_rename`: the server agrees; then the range of the name there, 1-based, end exclusive. `why`: its words, if it does not."""

    can_rename: bool
    path: str
    line: int
    col: int
    end_col: int = 0
    placeholder: str = ""
    why: str = ""


def prepared(at: Spot, info: ServerInfo, ask: Any) -> tuple[Renameable, Completeness, list[Reply]]:
    """What a server says to a rename here; one that cannot be asked beforehand is taken to agree, and the completeness says so.

    Args:
        ask: `Servers.ask`.
    """
    name = name_at(at)
    line = at.document.lines[at.line]
    path = at.document.path
    provider = info.capabilities.get("renameProvider")
    if not supports(info, "renameProvider", "textDocument/rename"):
        why = f"{info.name or info.entry} cannot rename"
        return Renameable(can_rename=False, path=path, line=at.line + 1, col=at.col + 1, why=why), unsupported(info, "rename"), []
    if not isinstance(provider, dict) or not provider.get("prepareProvider"):
        found = Renameable(can_rename=True, path=path, line=at.line + 1, col=at.col + 1, placeholder=name)
        return found, unsupported(info, "prepareRename: whether it can be renamed here is seen only when it is"), []
    reply = ask(path, "textDocument/prepareRename", at.params)
    said = reply.result if isinstance(reply.result, dict) else None
    if said is None:
        why = reply.error or "there is nothing here that can be renamed"
        return Renameable(can_rename=False, path=path, line=at.line + 1, col=at.col + 1, why=why), Completeness(status="complete"), [reply]
    where = said.get("range", said) if not said.get("defaultBehavior") else None
    start = where.get("start") if isinstance(where, dict) else None
    end = where.get("end") if isinstance(where, dict) else None
    if isinstance(start, dict) and isinstance(end, dict) and start.get("line") == end.get("line") == at.line:
        low, high = int(start["character"]), int(end["character"])
    else:
        low = index_to_utf16(line, line.find(name))
        high = low + index_to_utf16(name, len(name))
    placeholder = str(said.get("placeholder") or name)
    found = Renameable(can_rename=True, path=path, line=at.line + 1, col=low + 1, end_col=high + 1, placeholder=placeholder)
    return found, refused(reply, "textDocument/prepareRename"), [reply]


def _text(answer: Answer[Renameable], style: Style) -> Iterator[str]:
    found = answer.result
    place = style.place(found.path, found.line, found.col)
    yield f"{place}  {style.strong(found.placeholder)}  can be renamed" if found.can_rename else f"{place}  {style.warning(found.why)}"


@workspace_tool(
    "prepare_rename",
    parameters=PrepareRename,
    result=Renameable,
    positional="symbol",
    example="prepare_rename resolve_url",
    task="live",
    hint="can it be renamed refactor",
    text=_text,
)
def TOOL(workspace: Workspace, ask: PrepareRename) -> Answer[Renameable]:
    """Whether the name at a place can be renamed, as a running language server says."""
    at = spot(workspace, ask)
    info = workspace.servers.info(at.document.path)
    found, completeness, replies = prepared(at, info, workspace.servers.ask)
    return workspace.answer(ask, found, all_of(int(found.can_rename)), completeness, live(*replies, info=info))
