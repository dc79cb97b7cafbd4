"""The index as an artifact for others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Context
from query.refactor.outcome import Apply
from query.surface.registry import tool
from query.upkeep.artifacts import Exported, export_index, sentence, shown_export


class ExportCache(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    dest_path: Annotated[str, msgspec.Meta(description="a folder, to commit; or a file whose name ends in .tar, to publish")] = ""
    profile: Annotated[
        Literal["auto", "git", "small"], msgspec.Meta(description="git: small changes make small differences; small: compressed")
    ] = "auto"
    apply: Apply = False


def _text(answer: Answer[Exported], style: Style) -> Iterator[str]:
    yield sentence(answer.result)


@tool(
    "export_cache",
    parameters=ExportCache,
    result=Exported,
    positional="dest_path",
    example="export_cache index.tar --apply",
    task="index",
    hint="share warm cache index artifact publish commit teammates team",
    text=_text,
    read_only=False,
)
def TOOL(context: Context, ask: ExportCache) -> Answer[Exported]:
    """With apply, writes the index as an artifact that others import, so that their first question is answered at once."""
    if not ask.dest_path:
        raise UsageError("name the folder or .tar file to write: dest_path is empty")
    place = Path(ask.dest_path)
    if ask.apply:
        made = export_index(context.index, place, None if ask.profile == "auto" else ask.profile)
    else:
        made = shown_export(context.index, place)
    return context.answer(ask, made, all_of(made.documents), context.certificate.of_workspace([]))
