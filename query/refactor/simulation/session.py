"""One session: edits that exist in memory only, and what state they are in. Reads files, writes nothing.

created → mutated (an edit) → evaluated (judged as it is) → committed (written). An edit makes it mutated again; discarding takes all
edits back. A session whose files somebody has changed on disk since is dirty: it can be looked at, discarded or destroyed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from indexer.errors import EditRefused, UsageError
from indexer.text import blob_digest
from query.answers.paths import listed
from query.edits import match
from query.edits.scope import Scope
from query.edits.text import Document, Edit, decode

MAX_EDITS = 1_000
MAX_FILES = 100
MAX_BYTES = 20_000_000
"""Of one session: contents before and after, and new texts."""

State = Literal["created", "mutated", "evaluated", "committed", "discarded"]
Status = Literal["created", "mutated", "evaluated", "committed", "discarded", "dirty"]


class Step(msgspec.Struct, kw_only=True):
    """One edit as it was made: 0-based positions in the text that the edits before it had left."""

    path: str
    start: tuple[int, int]
    end: tuple[int, int]
    new_text: str


class File(msgspec.Struct, kw_only=True):
    """A file that was edited: its bytes on disk at the first edit, and those that it would have."""

    path: str
    before: bytes
    after: bytes


class Session(msgspec.Struct, kw_only=True):
    """`version` counts edits; `revision` counts everything, so that one who looks at a session notices that another has changed it."""

    id: str
    language: str
    created_at: str
    state: State = "created"
    version: int = 0
    revision: int = 0
    steps: list[Step] = []
    files: list[File] = []

    @property
    def paths(self) -> list[str]:
        return [file.path for file in self.files]

    def texts_before(self) -> dict[str, str]:
        """By path, as servers are told them."""
        return {file.path: decode(file.before).for_server for file in self.files}

    def texts_after(self) -> dict[str, str]:
        return {file.path: decode(file.after).for_server for file in self.files}

    def documents(self) -> dict[str, Document]:
        return {file.path: decode(file.after) for file in self.files}

    def digests(self) -> dict[str, str]:
        """Git's names of the contents that the edits were made for."""
        return {file.path: blob_digest(file.before) for file in self.files}


class Wanted(msgspec.Struct, kw_only=True):
    """An edit as asked for: a range, 1-based, of the session's text (line end where `end_column` is 0), or a text in place of it."""

    file_path: str
    new_text: str
    old_text: str = ""
    start_line: int = 0
    start_column: int = 0
    end_line: int = 0
    end_column: int = 0


class Made(msgspec.Struct, kw_only=True):
    """`matched`: how a text was found, as `query.edits.match` says it."""

    path: str
    edit: Edit
    matched: str = ""


def edit(session: Session, scope: Scope, wanted: Wanted) -> Made:
    """Adds an edit to the session.

    Raises:
        UsageError: it names no place, or no file. EditRefused: no such place, a dirty or committed session, or one that is full.
    """
    require_clean(session, scope)
    if session.state == "committed":
        raise EditRefused(f"session {session.id} is committed; destroy it, and create another one")
    path = scope.of_path(wanted.file_path)
    known = next((file for file in session.files if file.path == path), None)
    if known is None:
        content = scope.read(path)
        if content is None:
            raise EditRefused(f"there is no file '{path}'; a session edits files that are there")
        known = File(path=path, before=content, after=content)
    document = decode(known.after, f"'{path}'")
    made = _placed(document, path, wanted)
    after = document.edited([made.edit], f"'{path}'").content
    step = Step(path=path, start=made.edit.start, end=made.edit.end, new_text=made.edit.new_text)
    files = [file for file in session.files if file.path != path]
    files.append(File(path=path, before=known.before, after=after))
    _weigh(session, files, step)
    session.files = files
    session.steps = [*session.steps, step]
    session.version += 1
    session.state = "mutated"
    return made


def _placed(document: Document, path: str, wanted: Wanted) -> Made:
    has_range = bool(wanted.start_line or wanted.start_column or wanted.end_line or wanted.end_column)
    if wanted.old_text:
        if has_range:
            raise UsageError("give either a range or old_text")
        found = match.find(document, wanted.old_text, wanted.new_text, f"'{path}'")
        return Made(path=path, edit=found.edit, matched=found.how)
    if not wanted.start_line:
        raise UsageError("say what is replaced: start_line, start_column, end_line and end_column, or old_text")
    start = (wanted.start_line - 1, max(wanted.start_column, 1) - 1)
    last = (wanted.end_line or wanted.start_line) - 1
    end = (last, wanted.end_column - 1 if wanted.end_column else _width(document, last))
    if end < start:
        raise UsageError("the range ends before it starts")
    return Made(path=path, edit=Edit(start=start, end=end, new_text=wanted.new_text))


def _width(document: Document, line: int) -> int:
    if line >= len(document.lines):
        return 0  # the edit itself says that there is no such line
    return document.lines.position(document.lines.bounds(line)[1])[1]


def _weigh(session: Session, files: list[File], step: Step) -> None:
    if len(session.steps) >= MAX_EDITS:
        raise EditRefused(f"session {session.id} has {MAX_EDITS} edits; commit or discard them")
    if len(files) > MAX_FILES:
        raise EditRefused(f"session {session.id} has {MAX_FILES} files; commit or discard its edits")
    total = sum(len(file.before) + len(file.after) for file in files)
    total += sum(len(item.new_text) for item in session.steps) + len(step.new_text)
    if total > MAX_BYTES:
        raise EditRefused(f"session {session.id} would hold more than {MAX_BYTES:,} bytes; commit or discard its edits")


def discard(session: Session) -> None:
    """Takes all edits back; the session can be used again, from the files as they are then."""
    session.steps, session.files, session.state = [], [], "discarded"


def changed_on_disk(session: Session, scope: Scope) -> list[str]:
    """Files that are not on disk what the session's edits were made for; of a committed session none."""
    if session.state == "committed":
        return []
    return [path for path, digest in session.digests().items() if _digest(scope, path) != digest]


def _digest(scope: Scope, path: str) -> str:
    try:
        content = scope.read(path) if scope.still(path) else None
    except EditRefused:  # a link by now, or no file
        return ""
    return "" if content is None else blob_digest(content)


def status(session: Session, scope: Scope) -> Status:
    return "dirty" if changed_on_disk(session, scope) else session.state


def require_clean(session: Session, scope: Scope) -> None:
    """Raises EditRefused where the session is dirty."""
    changed = changed_on_disk(session, scope)
    if changed:
        raise EditRefused(
            f"session {session.id} is dirty: {listed(changed)} changed on disk since its first edit; discard_session takes the edits back, "
            "then make them again for the files as they are"
        )


def require_committable(session: Session, scope: Scope) -> None:
    """Raises EditRefused where there is nothing to commit, or where it may not be."""
    require_clean(session, scope)
    if session.state not in ("mutated", "evaluated"):
        why: Mapping[str, str] = {"committed": "is committed already; destroy it", "discarded": "has no edits: they were discarded"}
        raise EditRefused(f"session {session.id} {why.get(session.state, 'has no edits yet; simulate_edit makes one')}")
