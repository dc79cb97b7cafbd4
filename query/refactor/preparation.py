"""Whether a server lets a name be renamed, before anything is."""

from __future__ import annotations

from typing import Any

import msgspec

from indexer.languages import record_of
from indexer.lsp import methods
from indexer.servers.registry import language_of
from indexer.text import index_to_utf16
from query.answers.envelope import Completeness
from query.context import Reply, ServerInfo
from query.live import decode
from query.live.questions import Spot, origin, refused, supports, unsupported
from query.live.replies import provider
from query.refactor.rename import name_at


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
    if not supports(info, "renameProvider", methods.TEXT_DOCUMENT_RENAME):
        why = f"{info.name or info.entry} cannot rename"
        return Renameable(can_rename=False, path=path, line=at.line + 1, col=at.col + 1, why=why), unsupported(info, "rename"), []
    if not provider(info, "renameProvider").prepares:
        found = Renameable(can_rename=True, path=path, line=at.line + 1, col=at.col + 1, placeholder=name)
        return found, unsupported(info, "prepareRename: whether it can be renamed here is seen only when it is"), []
    language = language_of(path)
    if name in record_of(language).fixed_names:
        why = f"{language.capitalize()} gives this name its meaning"
        return Renameable(can_rename=False, path=path, line=at.line + 1, col=at.col + 1, why=why), Completeness(status="complete"), []
    reply = ask(path, methods.TEXT_DOCUMENT_PREPARE_RENAME, at.params)
    said = decode.prepared_rename(None if reply.error else reply.result, origin(reply.server, methods.TEXT_DOCUMENT_PREPARE_RENAME))
    if said is None:
        why = reply.error or "there is nothing here that can be renamed"
        return Renameable(can_rename=False, path=path, line=at.line + 1, col=at.col + 1, why=why), Completeness(status="complete"), [reply]
    where = said.range
    if where is not None and where.start.line == where.end.line == at.line:
        low, high = where.start.character, where.end.character
    else:
        low = index_to_utf16(line, line.find(name))
        high = low + index_to_utf16(name, len(name))
    found = Renameable(can_rename=True, path=path, line=at.line + 1, col=low + 1, end_col=high + 1, placeholder=said.placeholder or name)
    return found, refused(reply, methods.TEXT_DOCUMENT_PREPARE_RENAME), [reply]
