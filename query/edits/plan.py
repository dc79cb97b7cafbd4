"""What an edit would make of the files. Reads, decides, writes nothing; `query.edits.apply` makes it so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from indexer.errors import EditRefused, UsageError
from indexer.text import blob_digest
from query.edits import diff, match, workspace_edit
from query.edits.globs import matcher
from query.edits.scope import Scope
from query.edits.text import Document, Edit, decode
from query.edits.tree import Tree
from query.edits.workspace_edit import Change, Create, Decoded, Delete, Rename


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """One path before and after; None: no file.

    source: of a renamed file, the path it had; its permissions are kept. moved_to: of the path that it left.
    origin: of a renamed file, its bytes there.
    """

    path: str
    before: bytes | None
    after: bytes | None
    edits: int = 0
    source: str = ""
    moved_to: str = ""
    origin: bytes | None = None

    @cached_property
    def before_digest(self) -> str:
        """Empty where there was no file."""
        return "" if self.before is None else blob_digest(self.before)

    @cached_property
    def after_digest(self) -> str:
        return "" if self.after is None else blob_digest(self.after)

    @property
    def origin_digest(self) -> str:
        """Of a renamed file where it was, else as `before_digest`."""
        return self.before_digest if self.origin is None else blob_digest(self.origin)

    @property
    def status(self) -> Literal["changed", "created", "renamed", "deleted"]:
        """Of a path that a file has left for another, `renamed` too: see `moved_to`."""
        if self.source or self.moved_to:
            return "renamed"
        return "created" if self.before is None else "deleted" if self.after is None else "changed"

    @cached_property
    def diff(self) -> diff.FileDiff:
        """The whole change as unified diff; of a renamed file against what it was."""
        if self.moved_to:
            return diff.FileDiff(text="", added=0, removed=0)
        before = self.origin if self.source else self.before
        return diff.compare(self.source or self.path, before, self.path, self.after)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All paths that an edit changes, by path; nothing else would be touched.

    made_folders, gone_folders: of renamed and deleted folders; folders that new files need come by themselves.
    unchanged: files that edits leave as they are. excluded: files left out on request. matched: how a text was found, if one was.
    """

    changes: list[FileChange]
    made_folders: list[str] = field(default_factory=list[str])
    gone_folders: list[str] = field(default_factory=list[str])
    unchanged: list[str] = field(default_factory=list[str])
    excluded: list[str] = field(default_factory=list[str])
    matched: str = ""

    @property
    def changed(self) -> list[FileChange]:
        """Files that are there before and after, at one path."""
        return [item for item in self.changes if item.status == "changed"]

    @property
    def renamed(self) -> list[FileChange]:
        """By their new paths."""
        return [item for item in self.changes if item.source]

    @property
    def deleted(self) -> list[FileChange]:
        return [item for item in self.changes if item.status == "deleted"]

    def documents(self) -> dict[str, Document]:
        """The texts that there would be, by path: what to show a server (`Document.for_server`). Binary files are left out."""
        found: dict[str, Document] = {}
        for item in self.changes:
            if item.after is not None:
                try:
                    found[item.path] = decode(item.after)
                except EditRefused:
                    continue
        return found

    def as_workspace_edit(self, scope: Scope) -> dict[str, Any]:
        """The same as a WorkspaceEdit that `plan_edit` takes, with the digests of what it was made from.

        Raises:
            EditRefused: it makes or overwrites a file of bytes that are no text.
        """
        return _as_workspace_edit(self, scope)


def plan_edit(scope: Scope, edit: Mapping[str, Any], exclude_globs: Sequence[str] = ()) -> Plan:
    """What a WorkspaceEdit would do.

    Args:
        edit: as LSP has it; of one of ours, `lspidxDigests` says which contents it was made for.
        exclude_globs: files to leave alone.
    Raises:
        UsageError: it is no WorkspaceEdit. EditRefused: a file has changed since, or it may not or cannot be edited so.
    """
    return plan_decoded(scope, workspace_edit.decode(edit), exclude_globs)


def plan_decoded(scope: Scope, decoded: Decoded, exclude_globs: Sequence[str] = ()) -> Plan:
    """The same of an edit that has been read.

    Raises:
        EditRefused: as `plan_edit`.
    """
    left_out = matcher(exclude_globs)
    tree = Tree(scope)
    excluded: dict[str, None] = {}
    pending: dict[str, list[Edit]] = {}

    def flush() -> None:
        for path, edits in pending.items():
            tree.edit(path, edits)
        pending.clear()

    for operation in decoded.operations:
        path = scope.of_uri(operation.uri)
        new_path = scope.of_uri(operation.new_uri) if isinstance(operation, Rename) else path
        if left_out(path) or left_out(new_path):
            excluded[path] = None
            continue
        if isinstance(operation, Change):  # several for one document mean the same text, as in the editor that servers are written for
            pending.setdefault(path, []).extend(operation.edits)
            continue
        flush()
        match operation:
            case Create():
                tree.create(operation, path)
            case Rename():
                tree.rename(operation, path, new_path)
            case Delete():
                tree.delete(operation, path)
    flush()
    return _planned(tree, {scope.of_uri(uri): digest for uri, digest in decoded.digests.items()}, excluded=list(excluded))


def plan_edits(scope: Scope, edits: Mapping[str, Sequence[Edit]], digests: Mapping[str, str] = {}) -> Plan:
    """What edits by path would do; of each file in `digests`, the content must be that one.

    Raises:
        EditRefused, UsageError: as `plan_edit`.
    """
    tree = Tree(scope)
    for path, of_file in edits.items():
        tree.edit(scope.of_path(path), list(of_file))
    return _planned(tree, {scope.of_path(path): digest for path, digest in digests.items()})


def plan_documents(scope: Scope, documents: Mapping[str, Document | None], digests: Mapping[str, str] = {}) -> Plan:
    """What giving files these contents would do; None deletes one. A path in `digests` must have that content, empty: no file."""
    tree = Tree(scope)
    for path, document in documents.items():
        if document is None:
            tree.delete(Delete(uri=""), scope.of_path(path))
        else:
            tree.write(scope.of_path(path), document)
    return _planned(tree, {scope.of_path(path): digest for path, digest in digests.items()})


def plan_match(scope: Scope, file_path: str, old_text: str, new_text: str) -> Plan:
    """What replacing the one place where `old_text` stands would do; `Plan.matched` says how it was found (see `query.edits.match`).

    Raises:
        EditRefused: the text is not there, or several times; the message lists the lines.
    """
    if not old_text:
        raise UsageError("old_text is empty: give the text that is to be replaced; a new file is made by a workspace_edit with `create`")
    path = scope.of_path(file_path)
    tree = Tree(scope)
    entry = tree.get(path)
    if entry is None:
        raise EditRefused(f"there is no file '{path}'")
    document = decode(entry.content, f"'{path}'")
    found = match.find(document, old_text, new_text, f"'{path}'")
    tree.edit(path, [found.edit])
    return _planned(tree, {}, matched=found.how)


def read_document(scope: Scope, path: str) -> tuple[str, Document]:
    """A file's path as the workspace has it, and its text: what positions of an edit mean.

    Raises:
        EditRefused: no file, no text, or none that may be edited.
    """
    relative = scope.of_path(path)
    content = scope.read(relative)
    if content is None:
        raise EditRefused(f"there is no file '{relative}'")
    return relative, decode(content, f"'{relative}'")


def with_digests(scope: Scope, edit: Mapping[str, Any]) -> dict[str, Any]:
    """A server's WorkspaceEdit with the digests of the files as they are now, so that it cannot be applied to others."""
    return {**edit, workspace_edit.DIGESTS: digests_of(scope, (item.uri for item in workspace_edit.decode(edit).operations))}


def digests_of(scope: Scope, uris: Iterable[str]) -> dict[str, str]:
    """By URI, of the files as they are now; folders and what does not exist have none.

    Raises:
        EditRefused: one lies outside of what may be edited.
    """
    digests: dict[str, str] = {}
    for uri in uris:
        path = scope.of_uri(uri)
        content = None if scope.is_folder(path) else scope.read(path)
        if content is not None:
            digests[uri] = blob_digest(content)
    return digests


def _planned(tree: Tree, digests: Mapping[str, str], *, excluded: list[str] | None = None, matched: str = "") -> Plan:
    for path, digest in digests.items():
        now = tree.disk.get(path, b"")
        if path in tree.disk and digest != ("" if now is None else blob_digest(now)):
            raise EditRefused(f"'{path}' has changed since the edit was made; ask for the edit again")
    left = {entry.source: path for path, entry in tree.entries.items() if entry is not None and entry.source not in ("", path)}
    changes: list[FileChange] = []
    unchanged: list[str] = []
    for path in sorted(tree.entries):
        before, entry = tree.disk.get(path), tree.entries[path]
        after = None if entry is None else entry.content
        source = entry.source if entry is not None and entry.source != path else ""
        if before is None and after is None:
            continue
        if before == after and not source:
            if entry is not None and entry.edits:
                unchanged.append(path)
            continue
        changes.append(
            FileChange(
                path=path, before=before, after=after, edits=entry.edits if entry else 0, source=source,
                moved_to=left.get(path, "") if after is None else "", origin=tree.disk.get(source) if source else None,
            )
        )  # fmt: skip
    full = {path for path, entry in tree.entries.items() if entry is not None}
    gone = [folder for folder in dict.fromkeys(tree.gone_folders) if not any(path.startswith(folder + "/") for path in full)]
    made = [folder for folder in dict.fromkeys(tree.made_folders) if folder not in gone]
    return Plan(changes=changes, made_folders=made, gone_folders=gone, unchanged=unchanged, excluded=excluded or [], matched=matched)


def _as_workspace_edit(plan: Plan, scope: Scope) -> dict[str, Any]:
    operations: list[dict[str, Any]] = []
    digests: dict[str, str] = {}
    for item in plan.changes:
        uri = scope.uri(item.path)
        if item.before is not None:
            digests[uri] = item.before_digest
        if item.source:
            options = {"overwrite": True} if item.before is not None else {}
            operations.append({"kind": "rename", "oldUri": scope.uri(item.source), "newUri": uri, "options": options})
        elif item.before is None:
            operations.append({"kind": "create", "uri": uri})
        elif item.after is None and not item.moved_to:
            operations.append({"kind": "delete", "uri": uri})
    for item in plan.changes:
        origin = item.origin if item.source else item.before
        if item.after is None or item.after == origin:
            continue
        before, after = decode(origin or b"", f"'{item.path}'"), decode(item.after, f"'{item.path}'")
        if (before.mark, before.encoding) != (after.mark, after.encoding):
            raise EditRefused(f"the change of '{item.path}' is one of its encoding, which a WorkspaceEdit cannot say")
        operations.append(workspace_edit.change(scope.uri(item.path), diff.edits(before, after)))
    return {"documentChanges": operations, workspace_edit.DIGESTS: digests}
