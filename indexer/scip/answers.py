"""What a file of SCIP says, asked as a language server is: which places define what stands here, what a type is derived from.

An answer leads to files of the workspace only, and only to those that have the text that the file of SCIP is about. A symbol that no
document defines, of a package of which none defines any, is one of a package outside, and has a place by its name (`external`).
"""

from __future__ import annotations

import posixpath
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from indexer import plain_files
from indexer.scip.external import builtin_name, package_of, uri_of
from indexer.scip.fits import Misfit, Occurrence, Place, fitted
from indexer.scip.predeclared import predeclared, standard_of
from indexer.scip.reader import Part, ScipFile
from indexer.scip.words import ScipRole

_LOCAL = "local "
_KEPT = 64
"""Documents that are kept decoded: those asked about lie near each other."""

_MOST_TEXT_BYTES = 20_000_000
_MOST_PLACES = 40
_MOST_ABOVE = 1_000
"""Types and members above one; one more says whoever asks that there are too many."""

_MOST_SHOWN = 60


_MODULE, _MEMBER = Place(0, 0, 0, 0), Place(1, 0, 1, 0)
"""Of what lies outside: of a namespace, and of all else."""


class Definition(NamedTuple):
    """A place that defines something. `path`: from the workspace's root; of what lies outside, a place by name."""

    path: str
    place: Place


class Known(NamedTuple):
    """A document as it is kept: what stands at each place, which strings of a line mean something, where it defines its symbols, and what
    it says of them.
    """

    at: dict[tuple[int, int], list[Occurrence]]
    quoted: dict[int, list[Occurrence]]
    defined: dict[str, list[Place]]
    symbols: dict[str, Any]

    def standing(self, line: int, col: int) -> list[Occurrence]:
        """What stands at a place: begins there, or is a string around it."""
        found = self.at.get((line, col))
        if found is None:
            found = [item for item in self.quoted.get(line, ()) if item.quote <= col < item.place.end_col]
        return found


class Answers:
    """The answers of one file for one workspace.

    Raises:
        Refused, OSError: it cannot be read, see `ScipFile`.
    """

    def __init__(self, file: Path, root: Path) -> None:
        self._file = ScipFile(file)
        self._root = root
        metadata = self._file.metadata()
        self.name = shown(metadata.tool_info.name) or "unnamed indexer"
        self.version = shown(metadata.tool_info.version) or "unknown version"
        self._prefix = _prefix(metadata.project_root, root)
        self._parts: dict[str, list[Part]] = {}
        self._homes: dict[str, list[str]] = {}
        """By symbol the documents that define it."""
        self._own: set[str] = set()
        """Packages that some document defines something of."""
        self._builtins: dict[str, str] = {}
        self._standard: dict[str, str] = {}
        """By language the package of its standard library, as the file's symbols say it."""
        self._known: OrderedDict[str, Known | str] = OrderedDict()
        self.undecoded = 0
        for part in self._file.documents():
            self._note(part)

    def _note(self, part: Part) -> None:
        document = self._file.document(part)
        if document is None:
            self.undecoded += 1
            return
        path = self._path(document.relative_path)
        if not path:
            return
        self._parts.setdefault(path, []).append(part)
        language = document.language.lower()
        for symbol in {item.symbol for item in document.occurrences}:
            if language not in self._standard and (standard := standard_of(symbol, language)):
                self._standard[language] = standard
            if name := builtin_name(symbol):
                self._builtins[name] = min(symbol, self._builtins.get(name, symbol))
        for item in document.occurrences:
            if item.symbol_roles & ScipRole.DEFINITION and item.symbol and not item.symbol.startswith(_LOCAL):
                self._own.add(package_of(item.symbol))
                homes = self._homes.setdefault(item.symbol, [])
                if (not homes or homes[-1] != path) and len(homes) < _MOST_PLACES:
                    homes.append(path)

    def _path(self, relative: str) -> str:
        """A document's path from the workspace's root; empty where it has none there."""
        if relative.startswith(("/", "..")) or "\0" in relative or posixpath.normpath(relative) != relative:
            return ""
        if self._prefix.startswith("-"):
            below = self._prefix[1:]
            return relative.removeprefix(below) if relative.startswith(below) else ""
        return self._prefix + relative

    @property
    def paths(self) -> list[str]:
        """Of all documents that lie in the workspace, in order."""
        return sorted(self._parts)

    def has(self, path: str) -> bool:
        """Whether the file has a document of this path, of whatever text."""
        return path in self._parts

    def document(self, path: str) -> Known:
        """A document of a file that has the text that it is about.

        Raises:
            Misfit: there is none, or the file has another text by now.
        """
        known = self._known.get(path)
        if known is None:
            try:
                known = self._read(path)
            except Misfit as error:
                known = str(error)
            self._known[path] = known
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(path)
        if isinstance(known, str):
            raise Misfit(known)
        return known

    def _read(self, path: str) -> Known:
        parts = self._parts.get(path)
        if not parts:
            raise Misfit("it has no such document")
        place = self._root / path
        if plain_files.link_on_the_way(self._root, place) is not None:
            raise Misfit("a link leads there")
        content = plain_files.read(place, _MOST_TEXT_BYTES)
        if content is None:
            raise Misfit(f"there is no plain file of at most {_MOST_TEXT_BYTES} bytes")
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Misfit("the file is not UTF-8") from error
        known = Known({}, {}, {}, {})
        for part in parts:
            document = self._file.document(part)
            assert document is not None
            for occurrence in fitted(document, text, self._homes):
                known.at.setdefault(occurrence.place[:2], []).append(occurrence)
                if occurrence.quote >= 0:
                    known.quoted.setdefault(occurrence.place.line, []).append(occurrence)
                if occurrence.is_definition:
                    places = known.defined.setdefault(occurrence.symbol, [])
                    if len(places) < _MOST_PLACES:
                        places.append(occurrence.place)
            known.symbols.update((symbol.symbol, symbol) for symbol in document.symbols)
            language = document.language.lower()
            if own_names := predeclared(language, self._standard.get(language, "")):
                known.at.update((item.place[:2], [item]) for item in own_names.uses(text, known.at.keys()))
        return known

    def definitions(self, path: str, line: int, col: int) -> list[Definition]:
        """The places that define what stands at one.

        Raises:
            Misfit: the document is about another text.
        """
        known = self.document(path)
        found: dict[Definition, None] = {}
        for symbol in dict.fromkeys(item.symbol for item in known.standing(line, col)):
            found |= dict.fromkeys(self._defined(symbol, path, known))
        return list(found)[:_MOST_PLACES]

    def _defined(self, symbol: str, path: str, known: Known) -> list[Definition]:
        if symbol.startswith(_LOCAL):
            return [Definition(path, place) for place in known.defined.get(symbol, ())]
        homes = self._homes.get(symbol)
        if homes is None:
            place = uri_of(symbol, path) if package_of(symbol) not in self._own else ""
            return [Definition(place, _MODULE if symbol.endswith("/") else _MEMBER)] if place else []
        found: list[Definition] = []
        for home in homes:
            try:
                there = self.document(home)
            except Misfit:
                continue
            found += [Definition(home, place) for place in there.defined.get(symbol, ())]
        return found

    def leads_to(self, path: str) -> set[str]:
        """The other documents that define what stands in one, or what its symbols are related to.

        Raises:
            Misfit: the document is about another text.
        """
        known = self.document(path)
        named = {item.symbol for items in known.at.values() for item in items}
        named.update(related.symbol for symbol in known.symbols.values() for related in symbol.relationships)
        return {home for symbol in named for home in self._homes.get(symbol, ())} - {path}

    def builtin(self, name: str, path: str) -> list[Definition]:
        """The place of a name that the language has by itself."""
        symbol = self._builtins.get(name, "")
        return [Definition(uri_of(symbol, path), _MEMBER)] if symbol else []

    def supertypes(self, path: str, line: int, col: int) -> list[tuple[str, Definition]]:
        """Name and place of what the type that is defined at a place is derived from or implements.

        Raises:
            Misfit: the document is about another text.
        """
        known = self.document(path)
        found: dict[tuple[str, Definition], None] = {}
        for item in known.at.get((line, col), ()):
            symbol = known.symbols.get(item.symbol) if item.is_definition else None
            for related in symbol.relationships if symbol is not None else ():
                if len(found) <= _MOST_ABOVE and related.is_implementation and related.symbol != item.symbol:
                    found |= dict.fromkeys((related.symbol, one) for one in self._defined(related.symbol, path, known))
        return list(found)

    def text(self, path: str, line: int, col: int) -> str:
        """Signature and documentation of what stands at a place, as Markdown; empty where there is none.

        Raises:
            Misfit: the document is about another text.
        """
        known = self.document(path)
        for item in known.at.get((line, col), ()):
            symbol = known.symbols.get(item.symbol) if item.is_definition else None
            if symbol is not None:
                signature = symbol.signature_documentation
                code = f"```{signature.language.lower()}\n{signature.text}\n```" if signature.text else ""
                return "\n\n".join(filter(None, [code, *symbol.documentation]))
        return ""


def _prefix(project_root: str, root: Path) -> str:
    """What leads from the workspace's root to the folder that documents are relative to; with `-` before it where the former lies below
    the latter. Empty where the two are one, or the file was made on another machine.
    """
    try:
        parts = urlsplit(project_root) if len(project_root) < 10_000 else None
    except ValueError:  # no URI at all
        parts = None
    path = posixpath.normpath(unquote(parts.path)) if parts is not None and parts.scheme == "file" and parts.path else ""
    here = str(root)
    if not path or path == here:
        return ""
    if path.startswith(f"{here}/"):
        return path[len(here) + 1 :] + "/"
    return f"-{here[len(path.rstrip('/')) + 1 :]}/" if here.startswith(f"{path.rstrip('/')}/") and path != "/" else ""


def shown(text: str) -> str:
    """What a file says of its maker, without what could pretend to be something else."""
    return "".join(sign for sign in text if sign.isprintable())[:_MOST_SHOWN].strip()
