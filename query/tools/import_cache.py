"""An artifact of somebody else as the index of this work tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Context, Workspace
from query.facts.completeness import Certificate
from query.facts.index import open_index
from query.refactor.outcome import Apply
from query.surface.registry import workspace_tool
from query.upkeep.artifacts import Exchanged, import_index, sentence, verify_artifact


class ImportCache(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    src_path: Annotated[str, msgspec.Meta(description="folder or file that export_cache has written")] = ""
    apply: Apply = False


def _text(answer: Answer[Exchanged], style: Style) -> Iterator[str]:
    yield sentence(answer.result)


@workspace_tool(
    "import_cache",
    parameters=ImportCache,
    result=Exchanged,
    positional="src_path",
    example="import_cache index.tar --apply",
    task="index",
    hint="share warm cache artifact load teammates fresh clone",
    text=_text,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
)
def TOOL(workspace: Workspace, ask: ImportCache) -> Answer[Exchanged]:
    """Checks all of an artifact as an attacker's and says what fits; with apply makes it the index here, in place of the present one."""
    if not ask.src_path:
        raise UsageError("name the artifact to import: src_path is empty")
    if not ask.apply:
        found = verify_artifact(workspace.root, Path(ask.src_path))
        return workspace.answer(ask, found, all_of(found.documents))
    done = import_index(workspace.root, Path(ask.src_path))
    with open_index(workspace.root) as index:
        now = Context(index=index, certificate=Certificate(index), servers=workspace.servers)
        return now.answer(ask, done, all_of(done.documents), now.certificate.of_workspace([]))
