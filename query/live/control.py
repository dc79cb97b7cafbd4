"""What the tools that start, end and tell running servers share: a server as answers show it, and which workspace is meant."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer, Reason, completeness_from
from query.answers.pages import all_of
from query.answers.style import Style, count, printable
from query.context import ServerInfo, Workspace
from query.live.questions import by_servers, root_of


class RunningServer(msgspec.Struct, kw_only=True):
    """A server that runs now. `entry`: its name in the server table; `pid` 0: it was not started by us."""

    name: str
    version: str
    entry: str
    languages: list[str]
    pid: int
    started_at: str
    restarts: int
    memory_bytes: int
    open_documents: list[str]


class Session(msgspec.Struct, kw_only=True):
    """What was done, in a sentence, and the servers that it concerns."""

    done: str
    root: str
    servers: list[RunningServer]


def text(answer: Answer[Session], style: Style) -> Iterator[str]:
    yield printable(answer.result.done)
    for item in answer.result.servers:
        process = f"pid {item.pid}, {item.memory_bytes // 1_000_000} MB" if item.pid else "another's process"
        opened = f", {count(len(item.open_documents), 'open document')}" if item.open_documents else ""
        again = f", restarted {item.restarts} times" if item.restarts else ""
        yield f"  {style.strong(f'{item.name} {item.version}'.strip())}  {', '.join(item.languages)}  {style.dim(process + opened + again)}"


def answer(
    workspace: Workspace, ask: msgspec.Struct, done: str, servers: Sequence[ServerInfo], reasons: Sequence[Reason] = ()
) -> Answer[Session]:
    """The answer that tells what was done, and the servers that it concerns."""
    result = Session(done=done, root=root_of(workspace), servers=[shown(info) for info in servers])
    return workspace.answer(ask, result, all_of(len(servers)), completeness_from(reasons), by_servers(servers))


def shown(info: ServerInfo) -> RunningServer:
    return RunningServer(
        name=info.name or info.entry,
        version=info.version,
        entry=info.entry,
        languages=info.languages,
        pid=info.pid,
        started_at=info.started_at,
        restarts=info.restarts,
        memory_bytes=info.memory_bytes,
        open_documents=info.open_documents,
    )


def require_this(workspace: Workspace, root_dir: str) -> None:
    """Raises UsageError where another workspace is meant than the one that is served here; nothing means this one."""
    root = root_of(workspace)
    if root_dir and os.path.realpath(os.path.join(root, root_dir)) != os.path.realpath(root):
        raise UsageError(
            f"'{root}' is served here, not '{root_dir}'; for that one, start lspidx there (lspidx -C DIR …), "
            "or take it into this workspace: add_workspace_folder"
        )
