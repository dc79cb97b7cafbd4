"""A definition of Go moved to another file: of its package, or of another one, with imports and qualifiers that follow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from indexer.errors import EditRefused, UsageError
from indexer.model import Evidence, Role
from query.answers.paths import listed
from query.edits.scope import Scope
from query.edits.text import Document
from query.facts.callable_sites import Named, named
from query.facts.index import Index
from query.facts.meanings import Meaning, interfaces_with, meanings, members_anywhere, tops_in
from query.facts.symbols import Symbol
from query.refactor.positional.go_imports import import_edit, imports, without_imports
from query.refactor.positional.needed import PREDECLARED
from query.refactor.positional.source import NAMES, Code, Node, walk
from query.refactor.relocate import go_packages
from query.refactor.relocate.around import Around, Left, Relocated, spliced, without
from query.refactor.relocate.go_blocks import Block, Piece, block_of, constraints_of, named_constraints, package_name
from query.refactor.relocate.go_packages import Package, check_circles, check_visible, folder_of, package_in

_END = ".go"
_TESTS = "_test.go"
_PROGRAM = "main"
_TOLD = 4


class _Ends(NamedTuple):
    source: Code
    target: str
    code: Code | None
    old: Package
    new: Package

    @property
    def is_one_package(self) -> bool:
        return (self.old.folder, self.old.name) == (self.new.folder, self.new.name)


def moved(index: Index, scope: Scope, symbol: Symbol, to: str, *, keeps: bool) -> Relocated:
    """The texts after a move.

    Raises:
        UsageError, EditRefused: it cannot be moved, or not there.
    """
    record = symbol.record
    target = scope.of_path(to)
    if not target.endswith(_END):
        raise UsageError(f"'{to}' is no file of Go; name the file that gets it, a new one too: its ending is {_END}")
    around = Around(index, scope)
    source = around.begun(record, target)
    block = block_of(source, record.name, source.offset((record.line - 1, record.col - 1)))
    code = around.code(target)
    new_name = package_name(code) if code is not None else _name_of_new(index, source, target)
    ends = _Ends(
        source,
        target,
        code,
        package_in(scope, folder_of(record.path), package_name(source)),
        package_in(scope, folder_of(target), new_name),
    )
    _check_builds(ends)
    move = _Move(around, symbol, block, ends, keeps=keeps)
    move.carry()
    around.made.from_module, around.made.to_module = ends.old.path or ends.old.name, ends.new.path or ends.new.name
    around.made.target, around.made.follows = target, not ends.is_one_package
    if ends.is_one_package:
        around.made.from_module, around.made.to_module = record.path, target
    return around.made


def _name_of_new(index: Index, source: Code, target: str) -> str:
    if folder_of(source.path) == folder_of(target) and source.path.endswith(_TESTS) == target.endswith(_TESTS):
        return package_name(source)
    return go_packages.name_for_new(index, target)


def _check_builds(ends: _Ends) -> None:
    source, target = ends.source, ends.target
    if source.path.endswith(_TESTS) != target.endswith(_TESTS):
        raise EditRefused("between files of tests and others nothing is moved: the ones are no part of the package for the others")
    if source.path.endswith(_TESTS) and not ends.is_one_package:
        raise EditRefused("what stands in a file of tests is moved inside its package only: no other package could import it")
    there = constraints_of(ends.code) if ends.code is not None else None
    here = constraints_of(source)
    wanted = there if there is not None else (*(one for one in here if one.startswith("//")), *named_constraints(target))
    if here != wanted:
        raise EditRefused(f"'{source.path}' and '{target}' are taken in by other builds: {listed([*here, *wanted])}")
    if any(path == "C" for code in (source, ends.code) if code is not None for _, _, path in imports(code)):
        raise EditRefused("one of the files has code of C in a comment above its imports, which holds for that file alone")


class _Move:
    """One move. `wanted`: by path the imports that its text gets, with the name where it has one of its own."""

    def __init__(self, around: Around, symbol: Symbol, block: Block, ends: _Ends, *, keeps: bool) -> None:
        self.around, self.symbol, self.block, self.ends, self.keeps = around, symbol, block, ends, keeps
        self.index = around.index
        self.name = symbol.record.name
        self.wanted: dict[str, dict[str, str]] = {}
        self.freed: dict[str, set[str]] = {}
        self._brought: dict[str, tuple[Node, str]] = {}
        self.splices: list[tuple[int, int, str]] = []
        self._tops: dict[str, set[str]] = {}
        self._names_of = {ends.old.path: ends.old.name, ends.new.path: ends.new.name}
        """What packages call themselves, by path."""

    def carry(self) -> None:
        ends, source = self.ends, self.ends.source
        self._check_names()
        self._check_variable()
        if not ends.is_one_package:
            self._check_crossing()
        self._need()
        if not ends.is_one_package:
            self._follow()
        if self.keeps:
            self._keep()
        without(self.around, source, [piece.taken for piece in self.block.pieces])
        self.freed.setdefault(source.path, set()).update(name for name in self._brought)
        after: dict[str, Code] = {}
        for path in sorted({source.path, *self.around.edits, *self.wanted} - {ends.target}):
            after[path] = self._finished(self.around.edited(path))
        after[ends.target] = self._target()
        check_circles(self.index, self.around.scope, after)
        for code in after.values():
            self.around.write(code)

    # ---- whether it may go

    def _check_names(self) -> None:
        own = self.symbol.record.path
        others = [top for top in tops_in(self.index, folder_of(own)) if top.name == self.name and top.sym_id != self.symbol.sym_id]
        same = [top.path for top in others if self._package_of(top.path) == self.ends.old.name]
        if same and self.block.kind != "method_declaration":
            raise EditRefused(f"'{self.name}' is defined in {listed(sorted({own, *same}))}, of which builds choose one")
        if not self.ends.is_one_package:
            there = [
                top.path
                for top in tops_in(self.index, self.ends.new.folder)
                if top.name == self.name and self._package_of(top.path) == self.ends.new.name
            ]
            if there:
                raise EditRefused(f"the package of '{self.ends.target}' has a '{self.name}' already, in {listed(sorted(set(there)))}")

    def _package_of(self, path: str) -> str:
        code = self.around.code(path)
        return package_name(code) if code is not None else ""

    def _check_variable(self) -> None:
        """Where a variable stands may say when it gets its value."""
        if self.block.kind == "var_spec" and any(node.type in ("call_expression", "func_literal") for node in walk(self.block.node)):
            self.around.made.doubts.append(
                f"'{self.name}' gets its value from a call as the program starts, and may get it in another order than before"
            )

    def _check_crossing(self) -> None:
        ends = self.ends
        if self.block.kind == "method_declaration":
            raise EditRefused(f"'{self.name}' is a method, which stays in the package of its type; move the type")
        if not ends.new.path or not ends.old.path:
            raise EditRefused("no go.mod says by which path one of the packages is imported")
        if ends.new.module != ends.old.module:
            raise EditRefused(f"'{ends.target}' is of another module, which would have to be required first")
        if self.block.kind in ("type_spec", "type_alias"):
            self._check_type()

    def _check_type(self) -> None:
        """Members that only the old package may name, and that it goes on naming."""
        members = members_anywhere(self.index, [self.symbol.sym_id])
        own = self.ends.source.path
        apart = sorted({part.path for part in members if part.path != own})
        if apart:
            raise EditRefused(f"methods of '{self.name}' stand in {listed(apart)}, too; move them to '{own}' first, with move_symbol")
        hidden = {part.sym_id: part.name for part in members if _is_hidden(part.name)}
        if hidden and self.symbol.record.kind == "interface":
            raise EditRefused(f"'{self.name}' has methods that only its package can have: {listed(sorted(set(hidden.values())))}")
        if hidden and (sealed := interfaces_with(self.index, set(hidden.values()), folder_of(own))):
            raise EditRefused(f"'{self.name}' may implement {listed(sealed)} by members that only its package sees")
        used = sorted({f"{site.path}:{site.line + 1} {hidden[site.of]}" for site in named(self.index, hidden) if not self._is_inside(site)})
        if used:
            raise EditRefused(
                f"members of '{self.name}' that only its package sees are used outside of it, at {listed(used, _TOLD)}; rename them first"
            )

    def _is_inside(self, site: Named) -> bool:
        source = self.ends.source
        return site.path == source.path and self.block.holds(source.offset((site.line, site.col)))

    # ---- what it takes from around it

    def _need(self) -> None:
        source = self.ends.source
        known = meanings(self.index, source.path)
        own: dict[str, list[Node]] = {}
        packages: dict[str, list[Node]] = {}
        unknown: set[str] = set()
        for node in self._names():
            word = source.said(node)
            found = known.get(source.position(source.start(node)), [])
            if _qualifies(node) and self._is_package(word, found):
                packages.setdefault(word, []).append(node)
            elif word != "_" and not self.ends.is_one_package:
                self._look_at(node, word, found, own, unknown)
        if unnamed := sorted(path for _, name, path in imports(source) if name == "."):
            raise EditRefused(f"'{source.path}' takes all names of {listed(unnamed)} by an import with a dot")
        for word, nodes in packages.items():
            spec, path = self._brought[word]
            self._bring(nodes, word, path, word if spec.child_by_field_name("name") is not None else "")
        if unknown:
            self.around.made.doubts.append(f"what {listed(sorted(unknown))} means in '{self.name}' is not known")
        if own:
            self._bring_own(own)

    def _is_package(self, word: str, found: Collection[Meaning]) -> bool:
        """Whether a word means what an import brings. Notes which one."""
        if any(one.is_local for one in found):
            return False
        source = self.ends.source
        here = [(node, path) for node, name, path in imports(source, self._names_of) if name == word]
        if not here and any(one.is_module for one in found):  # a package that is not called as its path ends
            here = [
                (node, path)
                for node, _, path in imports(source)
                if node.child_by_field_name("name") is None and word in re.split(r"[-./]", path)
            ]
            if len(here) != 1:
                raise EditRefused(f"which of the imports of '{source.path}' is called '{word}' is not known; give it that name there")
            self._names_of[here[0][1]] = word
        if here:
            self._brought[word] = here[0]
        return bool(here)

    def _names(self) -> Iterator[Node]:
        source = self.ends.source
        for node in walk(source.root):
            if node.type in NAMES and self.block.holds(source.start(node)):
                yield node

    def _look_at(self, node: Node, word: str, found: list[Meaning], own: dict[str, list[Node]], unknown: set[str]) -> None:
        """A name that stands for no package: whether the other package has it, too."""
        folder = self.ends.old.folder
        outside = [one for one in found if not one.is_local and not self._is_own(one)]
        if node.type == "field_identifier" or any(one.is_member for one in outside):
            if _is_hidden(word) and not found:
                unknown.add(word)
            elif _is_hidden(word) and (hidden := [one for one in outside if folder_of(one.path) == folder and not one.is_external]):
                raise EditRefused(f"'{self.name}' uses {hidden[0].name} of '{hidden[0].path}', which only that package sees")
            return
        tops = [one for one in outside if one.is_top and not one.is_external and folder_of(one.path) == folder]
        if tops:
            own.setdefault(word, []).append(node)
        elif not found and not _declares(node) and word not in PREDECLARED:
            unknown.add(word)

    def _is_own(self, meaning: Meaning) -> bool:
        source = self.ends.source
        return meaning.path == source.path and self.block.holds(source.offset((meaning.line, 0)))

    def _bring(self, nodes: Collection[Node], word: str, path: str, alias: str) -> None:
        """A package that the definition names, in the file that gets it."""
        source, ends = self.ends.source, self.ends
        if path == ends.new.path and not ends.is_one_package:
            self.splices += [(source.start(node), source.end(node) + 1, "") for node in nodes]
            return
        name = self._import_in(ends.target, ends.code, path, word, alias)
        if name != word:
            self.splices += [(source.start(node), source.end(node), name) for node in nodes]

    def _bring_own(self, own: dict[str, list[Node]]) -> None:
        ends, source = self.ends, self.ends.source
        if hidden := sorted(word for word in own if _is_hidden(word)):
            raise EditRefused(f"'{self.name}' uses {listed(hidden)}, which only package '{ends.old.name}' sees; move or rename that first")
        if ends.old.name == _PROGRAM:
            raise EditRefused(f"'{self.name}' uses {listed(sorted(own))} of a program, which nothing can import; move that first")
        inside = {source.said(node) for node in self._names()}
        name = self._import_in(ends.target, ends.code, ends.old.path, ends.old.name, "", inside)
        self.splices += [(source.start(node), source.start(node), f"{name}.") for nodes in own.values() for node in nodes]

    # ---- what names it

    def _follow(self) -> None:
        ends, made = self.ends, self.around.made
        sites = [site for site in named(self.index, [self.symbol.sym_id]) if not self._is_inside(site)]
        self.around.read({site.path for site in sites})
        used_elsewhere: list[str] = []
        for site in sites:
            code = self.around.code(site.path)
            if site.roles & Role.DEFINITION or site.evidence == Evidence.INFERRED:
                continue
            leaf = code.leaf_at(code.offset((site.line, site.col))) if code is not None else None
            if code is None or leaf is None or code.said(leaf) != self.name:
                if site.roles & Role.MENTION:
                    made.left.append(Left(site.path, site.line, site.col))
                continue
            package = package_in(self.around.scope, folder_of(site.path), package_name(code))
            if package.module != ends.old.module:
                raise EditRefused(f"'{site.path}' names it, and is of another module")
            if self._rewrite(code, leaf, package):
                used_elsewhere.append(site.path)
        if used_elsewhere and _is_hidden(self.name):
            raise EditRefused(f"'{self.name}' is used in {listed(sorted(set(used_elsewhere)))}, which could not name it; rename it first")
        if used_elsewhere and ends.new.name == _PROGRAM:
            raise EditRefused(
                f"'{ends.target}' is of a program, which nothing can import; {listed(sorted(set(used_elsewhere)))} would have to"
            )

    def _rewrite(self, code: Code, leaf: Node, package: Package) -> bool:
        """One use; whether its file has to import the new package."""
        ends = self.ends
        parent = leaf.parent
        is_there = (package.folder, package.name) == (ends.new.folder, ends.new.name)
        qualifier = parent.named_children[0] if parent.type in ("qualified_type", "selector_expression") else None
        if qualifier is not None and qualifier != leaf:
            said = code.said(qualifier)
            if not any(name == said and path == ends.old.path for _, name, path in imports(code, self._names_of)):
                return False  # a field of this name, which an embedded type makes
            self.freed.setdefault(code.path, set()).add(said)
            if is_there:
                self.around.replace(code, code.start(qualifier), code.start(leaf), "")
                return False
            self._import_new(code, qualifier, code.end(qualifier), package)
            return True
        if _is_key(leaf) and self.block.kind in ("type_spec", "type_alias"):
            return False  # as above
        if is_there:
            raise EditRefused(f"'{code.path}' takes '{self.name}' by an import with a dot")
        if (package.folder, package.name) != (ends.old.folder, ends.old.name):
            raise EditRefused(f"'{code.path}' takes '{self.name}' by an import with a dot")
        self._import_new(code, leaf, code.start(leaf), package)
        return True

    def _import_new(self, code: Code, at: Node, end: int, package: Package) -> None:
        ends = self.ends
        check_visible(ends.new, package.folder, code.path)
        name = self._import_in(code.path, code, ends.new.path, ends.new.name, "")
        start = code.start(at)
        self.around.replace(code, start, end, name if end > start else f"{name}.")

    def _import_in(self, path: str, code: Code | None, package: str, name: str, alias: str, inside: Collection[str] = ()) -> str:
        """The name by which a file has a package, which it may have to import first.

        Args:
            inside: words that the text has which is to use it.
        """
        wanted = self.wanted.setdefault(path, {})
        if package in wanted:
            return wanted[package] or name
        for _, known, other in imports(code, self._names_of) if code is not None else ():
            if other == package and known not in ("_", ".") and known not in inside:
                return known
        taken = {*(code.names if code is not None else ()), *self._names_beside(path), *inside, *self._called(path)}
        free = next((one for one in (alias or name, f"{name}pkg", f"{name}_pkg") if one not in taken), "")
        if not free:
            raise EditRefused(f"'{path}' has another '{name}', '{name}pkg' and '{name}_pkg', so the package cannot be named there")
        wanted[package] = "" if free == name and not alias else free
        return free

    def _called(self, path: str) -> set[str]:
        """Names of packages that a file is to import."""
        return {name or package.rpartition("/")[2] for package, name in self.wanted.get(path, {}).items()}

    def _names_beside(self, path: str) -> set[str]:
        """What stands at the top of the files of a folder: an import may not be called so."""
        folder = folder_of(path)
        if folder not in self._tops:
            self._tops[folder] = {top.name for top in tops_in(self.index, folder)}
        return self._tops[folder]

    def _keep(self) -> None:
        ends, source, block = self.ends, self.ends.source, self.block
        if ends.is_one_package:
            raise UsageError("inside of one package nothing needs to be kept: every file has the name")
        if block.kind not in ("type_spec", "type_alias", "const_spec") or block.node.child_by_field_name("type_parameters") is not None:
            raise EditRefused(
                f"the old package can keep a type without parameters, or a constant, by another name for it, not '{self.name}'"
            )
        name = self._import_in(source.path, source, ends.new.path, ends.new.name, "")
        word = "const" if block.kind == "const_spec" else "type"
        at = len(source.text.rstrip("\n"))
        self.around.replace(source, at, at, f"\n\n{word} {self.name} = {name}.{self.name}")

    # ---- the texts

    def _finished(self, code: Code) -> Code:
        text = without_imports(code, self.freed.get(code.path, ()), self._names_of)
        code = self.around.code_of(code.path, _document(code.document, text))
        for package, name in sorted(self.wanted.get(code.path, {}).items()):
            edit = import_edit(code, package, name)
            text = code.text[: edit.start] + "".join(piece for piece in edit.pieces if isinstance(piece, str)) + code.text[edit.end :]
            code = self.around.code_of(code.path, _document(code.document, text))
        return code

    def _target(self) -> Code:
        ends, source = self.ends, self.ends.source
        pieces = [self._text(piece) for piece in sorted(self.block.pieces)]
        body = "\n\n".join(pieces)
        if ends.code is None:
            head = "".join(f"{line}\n" for line in constraints_of(source) if line.startswith("//"))
            clause = f"{head}\npackage {ends.new.name}\n" if head else f"package {ends.new.name}\n"
            text = f"{clause}\n{body}\n"
            document = Document(text=text.replace("\n", source.document.lines.newline_at(0) or "\n") if "\r" in source.text else text)
            return self._finished(self.around.code_of(ends.target, document))
        code = self.around.edited(ends.target)
        kept = code.text.rstrip()
        text = f"{kept}\n\n{body}\n"
        return self._finished(self.around.code_of(ends.target, _document(code.document, text)))

    def _text(self, piece: Piece) -> str:
        source = self.ends.source
        start, end, before, at = piece.start, piece.end, piece.before, piece.at
        splices = [*self.splices, *([(at, at, before)] if before else [])]
        text = spliced(source, start, end, splices)
        if piece.is_indented:
            text = "\n".join(line.removeprefix("\t") for line in text.split("\n"))
        return text.replace("\r\n", "\n")


def _document(before: Document, text: str) -> Document:
    newline = "\r\n" if "\r\n" in before.text else "\n"
    text = text.replace("\r\n", "\n")
    return Document(text=text if newline == "\n" else text.replace("\n", newline), encoding=before.encoding, mark=before.mark)


def _is_hidden(name: str) -> bool:
    return not name[:1].isupper()


def _qualifies(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type in ("qualified_type", "selector_expression") and parent.named_children[0] == node


def _is_key(node: Node) -> bool:
    around = node.parent
    return around is not None and around.type == "literal_element" and around.parent.child_by_field_name("key") == around


def _declares(node: Node) -> bool:
    parent = node.parent
    return parent is not None and node in parent.children_by_field_name("name")
