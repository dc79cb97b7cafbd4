"""What all pages of one index are made from: its files and folders, what each identifier leads to, and how complete lists are."""

from __future__ import annotations

import copy
from collections.abc import Collection
from dataclasses import dataclass

from indexer.model import Role, SymbolKind
from indexer.quoting import one_line
from query.facts import linked
from query.facts.completeness import Certificate, provenance
from query.facts.index import Index
from query.facts.linked import Described, File, Token
from query.facts.sources import Sources
from query.pages import names
from query.pages.markup import Frame, Html, el, number, origin, text
from query.pages.source import MOST_BYTES, Link

_DEFINITION = int(Role.DEFINITION)
_MODULE = int(SymbolKind.MODULE)


@dataclass(kw_only=True)
class Folder:
    """A folder with what lies directly in it. `lines`, `count`: of all files below it."""

    path: str
    folders: list[str]
    files: list[File]
    lines: int = 0
    count: int = 0


class Book:
    """The pages of an index. Any number of threads may ask; nothing of it changes but what is kept."""

    def __init__(self, index: Index, *, is_live: bool, certifies: bool = True) -> None:
        """Reads what all pages need.

        Args:
            is_live: the pages are served. certifies: find out of each list of a symbol how complete it is, 20 ms each.
        """
        self.index = index
        self.is_live = is_live
        self.certifies = certifies
        self.files = linked.files(index)
        self.by_path = {file.path: file for file in self.files}
        self.by_doc = {file.doc_id: file for file in self.files if file.doc_id >= 0}
        self.folders = _folders(self.files)
        self.page_of_file = {file.path: names.of_file(file.path) for file in self.files}
        self.file_of_page = {page: path for path, page in self.page_of_file.items()}
        self.folder_of_page = {names.of_folder(path): path for path in self.folders}
        self.project = index.root.name or "index"
        self._look()

    def _look(self) -> None:
        self.certificate = Certificate(self.index)
        self.sources = Sources(self.index)
        self.moved = frozenset(self.certificate.drift.paths)
        self.textless = self.moved | {file.path for file in self.files if file.doc_id < 0 or file.size_bytes > MOST_BYTES}
        made = f"Made by lspidx · {origin(provenance(self.index))}"
        self.frame = Frame(project=self.project, made=made, notice=self._notice(), is_live=self.is_live)

    def now(self) -> Book:
        """The same book, which has looked at the work tree anew."""
        made = copy.copy(self)
        made._look()
        return made

    def _notice(self) -> Html:
        drift = self.certificate.drift
        if self.index.foreign:
            return _warned("This index was made by nobody that you know of: all of it may be made up. To make your own: lspidx index")
        if not drift.checked:
            return _warned("The work tree is too large, or has changed too much, to compare it with the index.")
        if not self.moved:
            return Html()
        kinds = ((drift.changed, "changed"), (drift.new, "new"), (drift.deleted, "deleted"))
        parts = [number(len(paths), f"{what} file") for paths, what in kinds if paths]
        return _warned(f"The work tree differs from the index: {', '.join(parts)}. To bring the index up to date: lspidx index")

    # ---- where things lead

    def to_file(self, page: str, path: str, line: int = 0, label: str | Html = "") -> Html:
        """A path, linked where it has a page. `line`: 1-based."""
        shown = label or (f"{path}:{line}" if line else path)
        target = self.page_of_file.get(path)
        if target is None:
            return text(shown)
        return el("a", shown, href=names.relative(page, target) + (f"#L{line}" if line and path not in self.textless else ""))

    def to_symbol(self, page: str, symbol: Described, label: str = "") -> Html:
        shown = text(label or symbol.qualified_name)
        if symbol.is_local:
            return el("code", shown) if symbol.is_external else self.to_file(page, symbol.path, symbol.line + 1, shown)
        return el("a", shown, href=names.relative(page, names.of_symbol(symbol.key)))

    def links(self, file: File, found: Collection[Token]) -> list[Link]:
        """Of each identifier what it leads to: from a use to the definition, from the definition to the symbol's page."""
        page = self.page_of_file[file.path]
        made: list[Link] = []
        at: tuple[int, int] | None = None
        for token in found:
            if at == (token.line, token.col):
                if token.sym_id >= 0 and not token.is_local:  # a name of several meanings: one is led to, all are named
                    said = one_line(token.qualified_name)
                    also = made[-1].title
                    if said not in also.split("; "):
                        made[-1] = made[-1]._replace(title=f"{also}; also {said}" if also else f"also {said}")
                continue
            at = (token.line, token.col)
            made.append(self._link(page, file, token))
        return made

    def _link(self, page: str, file: File, token: Token) -> Link:
        place = token.line, token.col, token.end_col
        if token.sym_id < 0:
            return Link(*place, "", "u", "nobody could tell what this means")
        is_here = bool(token.roles & _DEFINITION) and token.doc_id == file.doc_id and token.target_line == token.line
        title = one_line(token.qualified_name)
        if token.is_local:
            if token.is_external or token.doc_id != file.doc_id:
                return Link(*place, "", "", title)
            if is_here:
                return Link(*place, f"#{local_anchor(token.line, token.col)}", "d")
            return Link(*place, f"#L{token.target_line + 1}", "v")
        if is_here or token.is_external:
            return Link(*place, names.relative(page, names.of_symbol(token.key)), "d" if is_here else "e", "" if is_here else title)
        target = self.by_doc.get(token.doc_id)
        if target is None:
            return Link(*place, names.relative(page, names.of_symbol(token.key)), "e", title)
        is_whole = token.kind == _MODULE and not token.target_line
        line = "" if is_whole or target.path in self.textless else f"#L{token.target_line + 1}"
        href = line if target.path == file.path and line else names.relative(page, self.page_of_file[target.path]) + line
        return Link(*place, href, "")

    # ---- the page of a name

    def page(self, name: str) -> str | None:
        """A page as it is sent or written; None where there is none of this name."""
        from query.pages import folders, lists, symbols, texts

        made = None
        if name in self.folder_of_page:
            made = folders.page(self, self.folder_of_page[name])
        elif name in self.file_of_page:
            made = texts.of_file(self, self.by_path[self.file_of_page[name]])
        elif name.startswith(f"{names.SYMBOLS}/"):
            made = symbols.page(self, name)
        elif name in lists.PAGES:
            made = lists.PAGES[name](self)
        return None if made is None else self.frame.around(made)


def local_anchor(line: int, col: int) -> str:
    """Where the page of a file lists the places of the local name that is defined here; 0-based."""
    return f"l{line + 1}-{col}"


def _warned(what: str) -> Html:
    return el("p", what, class_="notice", role="status")


def _folders(files: Collection[File]) -> dict[str, Folder]:
    """By path, the root as the empty one; in the order of paths."""
    found: dict[str, Folder] = {"": Folder(path="", folders=[], files=[])}

    def folder(path: str) -> Folder:
        if path not in found:
            found[path] = Folder(path=path, folders=[], files=[])
            folder(path.rpartition("/")[0]).folders.append(path)
        return found[path]

    for file in files:
        above = file.path.rstrip("/").rpartition("/")[0]  # a folder that was left out as a whole ends so
        folder(above).files.append(file)
        while True:
            here = folder(above)
            here.lines += file.lines
            here.count += 1
            if not above:
                break
            above = above.rpartition("/")[0]
    for item in found.values():
        item.folders.sort()
    return dict(sorted(found.items()))
