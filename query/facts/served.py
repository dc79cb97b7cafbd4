"""Which places of this machine a question may name that comes from an agent: those of the workspace, and what the user has allowed.

A question that is typed by the user goes anywhere; over MCP it goes through here (ADR 0027). What a parameter means by a path is decided
once, before the tool sees it, links followed; tools that read or write files look again for themselves.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from indexer.errors import NotServed
from query.facts.folders import folders

if TYPE_CHECKING:
    from indexer.consent import Reach
    from query.facts.index import Index

PLACES = frozenset(
    {
        "file_path", "symbol_file", "path", "workspace_root", "workspace_dir", "root_dir", "dest_path", "src_path", "target", "old",
        "changed_files", "consumer_roots", "changes", "uri", "newUri", "oldUri", "edits", "workspace_edit",
    }
)  # fmt: skip
"""Parameters of tools that name places, and what in them does (a test holds them against the declarations)."""

OUTWARDS = frozenset({"add_workspace_folder", "export_cache", "import_cache", "diff_index", "detect_lsp_servers"})
"""Tools that may be asked about what lies outside of the workspace, if that was allowed: for them the client's roots are asked for."""

_SYMBOLS = frozenset({("why", "target")})
"""What is called like a place and is none."""

_MADE_ABSOLUTE = ("dest_path", "src_path", "path")
_KEPT_OUT = frozenset({".git", ".hg", ".svn", ".jj", ".lspidx"})
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_WRITTEN = ("dest_path",)


class Served:
    """What one server lets its clients name.

    allowed: folders that the user has allowed, absolute. roots: what the client says it works on. folders: the further folders of the
    index that were asked for in this session, None where they are as the settings say; no later run takes them again.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self.allowed = list(allowed)
        self.roots: list[str] = []
        self.folders: list[str] | None = None

    @property
    def session(self) -> dict[str, Any]:
        """The settings of this session."""
        return {} if self.folders is None else {"folders": self.folders}

    def checked(self, root: Path, index: Index | None, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, what names a place outside of the workspace by its absolute path.

        Args:
            root: of the workspace.
        Raises:
            NotServed: a place that nobody has allowed; the message says how to.
        """
        reach = self._reach(root, index)
        checked = dict(arguments)
        for name, value in arguments.items():
            if name in PLACES and (tool, name) not in _SYMBOLS:
                self._check(reach, root, value, writes=name in _WRITTEN)
        if tool in OUTWARDS:
            for name in _MADE_ABSOLUTE:
                if (text := checked.get(name)) and isinstance(text, str) and not self._is_name(index, text):
                    checked[name] = _place(root, text)
        return checked

    def check(self, root: Path, index: Index | None, text: str) -> None:
        """Raises NotServed as `checked`."""
        self._check(self._reach(root, index), root, text)

    def reaches(self, root: Path, text: str) -> bool:
        """Whether a place may be named, wherever it lies."""
        try:
            self.check(root, None, text)
        except NotServed:
            return False
        return "\0" not in text

    def _reach(self, root: Path, index: Index | None) -> Reach:
        from indexer.consent import Reach, allowed_folders

        beside = [str(folder.path(index.root)) for folder in folders(index)[1:]] if index is not None else []
        return Reach(root, [*beside, *self.allowed, *self.roots, *allowed_folders(root)])

    def _is_name(self, index: Index | None, text: str) -> bool:
        return index is not None and any(folder.name == text for folder in folders(index))

    def _check(self, reach: Reach, root: Path, value: object, *, writes: bool = False) -> None:
        if isinstance(value, str):
            self._check_text(reach, root, value, writes=writes)
        elif isinstance(value, Sequence):
            for item in cast("Sequence[object]", value):
                self._check(reach, root, item)
        elif isinstance(value, Mapping):
            for name, item in cast("Mapping[object, object]", value).items():
                if name in PLACES or isinstance(item, (Mapping, list)):
                    self._check(reach, root, item)
                if isinstance(name, str) and _URI.match(name):  # `changes` of a WorkspaceEdit
                    self._check_text(reach, root, name)

    def _check_text(self, reach: Reach, root: Path, text: str, *, writes: bool = False) -> None:
        if not text:
            return
        place = _place(root, text)
        if not (reach.is_inside(os.path.realpath(place)) or reach.is_allowed(os.path.realpath(place))):
            closed = (
                "; no option opens it" if reach.is_closed(place) else f"; the user may allow it: lspidx mcp --allow-folder {_folder(place)}"
            )
            raise NotServed(f"'{text}' lies outside of the workspace '{root}' and was not allowed{closed}")
        if writes and any(part.lower() in _KEPT_OUT for part in Path(os.path.realpath(place)).parts):
            raise NotServed(f"'{text}' lies where version control or lspidx keeps its own files")


def _folder(place: str) -> str:
    return place if os.path.isdir(place) else os.path.dirname(place)


def _place(root: Path, text: str) -> str:
    """What a path or a `file:` URI means: from the current folder if that is of the workspace and has it, else from the root.

    Raises:
        NotServed: it is no path of this machine.
    """
    if _URI.match(text):
        from indexer.lsp.uri import uri_to_path

        if not text.lower().startswith(("file:///", "file://localhost/")):
            raise NotServed(f"'{text}' is no file of this machine")
        return os.path.abspath(uri_to_path(text))
    if "\0" in text or text.startswith(("\\\\", "//")) or text[1:3] == ":\\":
        raise NotServed(f"'{text}' is no path of this machine")
    if text.startswith("~"):
        text = os.path.expanduser(text)
    here = os.getcwd()
    inside = Path(os.path.realpath(here)).is_relative_to(os.path.realpath(root))
    below = os.path.abspath(os.path.join(here, text))
    return below if inside and os.path.lexists(below) else os.path.abspath(os.path.join(root, text))
