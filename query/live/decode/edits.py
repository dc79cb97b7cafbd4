"""Edits that a server proposes: of one document, of many, by a code action, by a rename."""

from __future__ import annotations

from typing import Any, NamedTuple

from indexer.errors import EditRefused, UsageError
from indexer.lsp.decode import Position, Range
from query.edits import workspace_edit
from query.edits.text import Edit
from query.live.decode.forms import Origin, Wire, shaped, strange


class TextEdit(Wire, frozen=True):
    range: Range
    new_text: str

    @property
    def edit(self) -> Edit:
        start, end = self.range.start, self.range.end
        return Edit(start=(start.line, start.character), end=(end.line, end.character), new_text=self.new_text)


def text_edits(value: Any, origin: Origin) -> list[TextEdit]:
    """The edits of one document; none if the answer is null. One broken edit refuses all: half of them would be another edit.

    Raises:
        ServerProtocolError: no list, or one that holds something else.
    """
    return shaped(value, list[TextEdit] | None, origin) or []


def asked_edit(value: Any, origin: Origin) -> workspace_edit.Decoded:
    """A server's WorkspaceEdit.

    Raises:
        ServerProtocolError: it is none. EditRefused: it is larger than we take.
    """
    try:
        return workspace_edit.decode(shaped(value, dict[str, Any], origin))
    except EditRefused as error:
        raise EditRefused(f"{origin.server} to {origin.method}: {error}") from error
    except (UsageError, RecursionError, OverflowError) as error:
        raise strange(origin, str(error)) from error


# ---- renames


class _PreparedRename(Wire, frozen=True):
    """A range, a range with a placeholder, or the word that the client may look for the name itself."""

    start: Position | None = None
    end: Position | None = None
    range: Range | None = None
    placeholder: str | None = None
    default_behavior: bool | None = None


class PreparedRename(NamedTuple):
    """`range`: of the name, None where the server leaves it to us; `placeholder`: the name, empty where it is left to us."""

    range: Range | None
    placeholder: str


def prepared_rename(value: Any, origin: Origin) -> PreparedRename | None:
    """What a server says about renaming at a place; None if the answer is null: nothing there can be renamed.

    Raises:
        ServerProtocolError: another form.
    """
    said: _PreparedRename | None = shaped(value, _PreparedRename | None, origin)
    if said is None:
        return None
    where = said.range
    if where is None and said.start is not None and said.end is not None:
        where = Range(said.start, said.end)
    return PreparedRename(None if said.default_behavior else where, said.placeholder or "")


# ---- code actions


class Command(Wire, frozen=True):
    command: str
    title: str = ""
    arguments: list[Any] | None = None


class Disabled(Wire, frozen=True):
    reason: str


class Message(Wire, frozen=True):
    message: str


class CodeAction(Wire, frozen=True):
    """A CodeAction, or a Command, whose `command` is a word. `edit`: as it came; `workspace_edit` reads it."""

    title: str
    kind: str | None = None
    is_preferred: bool | None = None
    disabled: Disabled | None = None
    edit: dict[str, Any] | None = None
    command: Command | str | None = None
    arguments: list[Any] | None = None
    diagnostics: list[Message] | None = None
