"""What the two formatting tools share: the project's own settings, the question, and edits that are shown and not made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import msgspec

from indexer.errors import EditRefused, ServerProtocolError
from query.answers.envelope import Answer, Reason
from query.answers.pages import all_of
from query.answers.style import Style, count, printable
from query.context import Workspace
from query.live import decode
from query.live.proposals import TextChange, applied, change, diff, guarded
from query.live.questions import Document, root_of
from query.live.replies import Feature, doubted, question

if TYPE_CHECKING:
    from indexer.lsp import requests

DEFAULT_TAB_SIZE = 2
_MAX_TAB_SIZE = 64
_MAX_CONFIG_BYTES = 64_000
_MAX_STARS = 8
"""Of one pattern of an .editorconfig: patterns become regular expressions, and many stars take for ever."""

INSTEAD = "the project's own formatter on its command line, e.g. ruff format, prettier"

TabSize = Annotated[
    int, msgspec.Meta(ge=0, le=_MAX_TAB_SIZE, description=f"columns of a tab; 0: as .editorconfig says, else {DEFAULT_TAB_SIZE}")
]
InsertSpaces = Annotated[bool, msgspec.Meta(description="spaces, not tabs; without tab_size an .editorconfig may say otherwise")]


class Formatted(msgspec.Struct, kw_only=True):
    """Edits of the server's formatter, by place, none of them made; `diff` shows them, `workspace_edit` is for apply_edit.

    tab_size, insert_spaces: what the server was told; settings: who said so. Many formatters have settings of their own and
    take no notice (gofmt, clang-format, rustfmt).
    """

    path: str
    edits: list[TextChange]
    diff: str
    workspace_edit: dict[str, Any]
    tab_size: int
    insert_spaces: bool
    settings: Literal["asked", "editorconfig", "default"]


class Options(NamedTuple):
    wire: requests.FormattingOptions
    settings: Literal["asked", "editorconfig", "default"]
    reasons: list[Reason]


def text(answer: Answer[Formatted], style: Style) -> Iterator[str]:
    found = answer.result
    if answer.completeness.status != "unknown":
        words = "spaces" if found.insert_spaces else "tabs"
        yield f"{style.heading(found.path)}  {count(len(found.edits), 'edit')}, {style.dim(f'{found.tab_size} {words}, {found.settings}')}"
    yield from (printable(line) for line in (found.diff.split("\n") if found.diff else []))


def formatted(workspace: Workspace, of: Document, feature: Feature, ask: Any, where: requests.Range | None = None) -> Answer[Formatted]:
    """Asks for the edits of a document, or of a range of it.

    Raises:
        ServerProtocolError: the server's edits do not fit the document.
    """
    options = options_of(workspace, of, ask.tab_size, insert_spaces=ask.insert_spaces)
    whole: requests.DocumentFormattingParams = {"textDocument": of.identifier, "options": options.wire}
    params: requests.DocumentFormattingParams | requests.DocumentRangeFormattingParams = (
        whole if where is None else {**whole, "range": where}
    )
    outcome = question(workspace, of, feature, params)
    wanted = [item.edit for item in decode.text_edits(outcome.value, outcome.origin)]
    try:
        after = applied(of, wanted)
    except EditRefused as error:
        said = f"{outcome.origin.server} answered {outcome.origin.method} with edits that do not fit: {error}"
        raise ServerProtocolError(said) from error
    return workspace.answer(
        ask,
        Formatted(
            path=of.path,
            edits=[change(edit) for edit in sorted(wanted, key=lambda edit: edit.start)],
            diff=diff(of, after),
            workspace_edit=guarded(workspace, {"changes": {of.uri: outcome.value}}, [of.uri]) if wanted else {},
            tab_size=options.wire["tabSize"],
            insert_spaces=options.wire["insertSpaces"],
            settings=options.settings,
        ),
        all_of(len(wanted)),
        doubted(outcome.completeness, options.reasons),
        outcome.provenance,
        more={"path": of.path},
    )


def options_of(workspace: Workspace, of: Document, tab_size: int, *, insert_spaces: bool) -> Options:
    """What a server is told: a `tab_size` that is given, with `insert_spaces`; else the project's .editorconfig; else the default."""
    if tab_size:
        return Options({"tabSize": tab_size, "insertSpaces": insert_spaces}, "asked", [])
    found, reasons = _editorconfig(root_of(workspace), of.place)
    wire: requests.FormattingOptions = {"tabSize": DEFAULT_TAB_SIZE, "insertSpaces": insert_spaces}
    size = found.get("tab_width") if found.get("indent_size") in (None, "tab") else found["indent_size"]
    if size is not None and size.isascii() and size.isdigit() and 0 < int(size) <= _MAX_TAB_SIZE:
        wire["tabSize"] = int(size)
    if found.get("indent_style") in ("tab", "space") and insert_spaces:
        wire["insertSpaces"] = found["indent_style"] == "space"
    if found.get("trim_trailing_whitespace") in ("true", "false"):
        wire["trimTrailingWhitespace"] = found["trim_trailing_whitespace"] == "true"
    if found.get("insert_final_newline") in ("true", "false"):
        wire["insertFinalNewline"] = found["insert_final_newline"] == "true"
    mine = {"indent_size", "tab_width", "indent_style", "trim_trailing_whitespace", "insert_final_newline"}
    return Options(wire, "editorconfig" if mine & found.keys() else "default", reasons)


def _editorconfig(root: str, place: str) -> tuple[dict[str, str], list[Reason]]:
    """Settings for a file; none where a file of the workspace is no .editorconfig that may be read."""
    folder = Path(place).parent
    files = [path / ".editorconfig" for path in (folder, *folder.parents) if path.is_relative_to(root)]
    for file in files:
        if (why := _unfit(file)) and file.exists():
            shown = os.path.relpath(file, root).replace(os.sep, "/")
            return {}, [Reason(code="settings_ignored", detail=f"{shown} is not used: {why}", paths=[shown], count=1)]
    if not any(file.is_file() for file in files):
        return {}, []
    from editorconfig import EditorConfigError, get_properties

    try:
        return {key: str(value).lower() for key, value in get_properties(place).items()}, []
    except (EditorConfigError, OSError, ValueError) as error:
        return {}, [Reason(code="settings_ignored", detail=f".editorconfig is not used: {error}"[:500])]


def _unfit(file: Path) -> str:
    """Why a file is not given to the library; empty where it may be."""
    try:
        if file.stat().st_size > _MAX_CONFIG_BYTES:
            return f"it is larger than {_MAX_CONFIG_BYTES} bytes"
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        return str(error)
    long = any(line.lstrip().startswith("[") and sum(map(line.count, "*{")) > _MAX_STARS for line in lines)
    return f"a pattern has more than {_MAX_STARS} stars and braces" if long else ""
