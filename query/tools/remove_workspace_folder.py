"""One folder less in the index."""

from __future__ import annotations

from typing import Annotated

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.context import Context
from query.facts.folders import folders
from query.surface.registry import tool
from query.upkeep import folders as workspace
from query.upkeep.folders import Folders


class RemoveWorkspaceFolder(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    path: Annotated[str, msgspec.Meta(description="folder to remove, by its path or by its name in the index")] = ""


@tool(
    "remove_workspace_folder",
    parameters=RemoveWorkspaceFolder,
    result=Folders,
    positional="path",
    example="remove_workspace_folder ../my-app",
    task="index",
    hint="cross repo multi root workspace drop directory",
    text=workspace.lines,
    read_only=False,
    concurrency_safe=False,
)
def TOOL(context: Context, ask: RemoveWorkspaceFolder) -> Answer[Folders]:
    """Removes a folder from the workspace; its files stay, its facts are no longer in the index."""
    known = folders(context.index)
    named = [folder for folder in known if folder.name == ask.path]
    folder = named[0].path(context.index.root) if len(named) == 1 else workspace.folder_path(ask.path)
    if folder == context.index.root:
        raise UsageError(f"'{ask.path}' is the root of the workspace; it cannot be removed from its own index")
    index, changed = workspace.change(
        context.index, lambda present: [other for other in present if other != folder], context.progress, context.served
    )
    return workspace.answer(context.on(index), ask, changed=changed, removed=str(folder))
