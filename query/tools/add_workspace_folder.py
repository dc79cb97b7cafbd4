"""One more folder in the index."""

from __future__ import annotations

from typing import Annotated

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.context import Context
from query.surface.registry import tool
from query.upkeep import folders
from query.upkeep.folders import Folders


class AddWorkspaceFolder(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    path: Annotated[str, msgspec.Meta(description="folder to add: a consumer of this library, or a library that it uses")] = ""


@tool(
    "add_workspace_folder",
    parameters=AddWorkspaceFolder,
    result=Folders,
    positional="path",
    example="add_workspace_folder ../my-app",
    task="index",
    hint="cross repo consumer multi root workspace add include another directory",
    text=folders.lines,
    read_only=False,
    concurrency_safe=False,
)
def TOOL(context: Context, ask: AddWorkspaceFolder) -> Answer[Folders]:
    """Adds a folder to the workspace and indexes it, so that references and calls between the folders become known.

    On the command line it is remembered for later runs, over MCP it is there until the server ends.
    """
    folder = folders.folder_path(ask.path)
    if not folder.is_dir():
        raise UsageError(f"'{ask.path}' is not a folder of this machine")
    index, changed = folders.change(
        context.index,
        lambda present: present if folder in (context.index.root, *present) else [*present, folder],
        context.progress,
        context.served,
    )
    return folders.answer(context.on(index), ask, changed=changed, added=str(folder))
