"""A definition of TypeScript or JavaScript moved to another module, with what it imports and the imports of all that use it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import NamedTuple

import msgspec

from indexer.errors import EditRefused, UsageError
from indexer.languages import names_of
from indexer.model import Evidence, Role
from query.answers.paths import listed
from query.edits.scope import Scope
from query.edits.text import Document
from query.facts.callable_sites import Named, named
from query.facts.documents import contents, paths_of_language
from query.facts.index import Index
from query.facts.meanings import Meaning, Spot, meanings
from query.facts.symbols import Symbol
from query.refactor.positional.needed import declares
from query.refactor.positional.source import NAMES, Code, Node, walk
from query.refactor.relocate import modules
from query.refactor.relocate.around import Around, Left, Relocated, comments_above, spliced, top_node, without
from query.refactor.relocate.ecmascript_blocks import Block, Declared, block_of, declared_in, directives
from query.refactor.relocate.ecmascript_circles import circles
from query.refactor.relocate.ecmascript_imports import Added, Changes
from query.refactor.relocate.modules import ENDINGS, Name, Statement, exports_of_own, statements
from query.refactor.relocate.nodes import is_of, package_of, qualifier, sets, shared, within

_MEMBERS = ("property_identifier", "private_property_identifier", "shorthand_property_identifier_pattern")
_JSX = ("jsx_element", "jsx_self_closing_element", "jsx_fragment")
_NAMES_FILES = re.compile(rb"export\s+(?:type\s*)?\*|\b(?:import|mock|require)\(")
_OWN_PLACE = ("__dirname", "__filename", "require")


def moved(index: Index, scope: Scope, symbol: Symbol, to: str, *, keeps: bool) -> Relocated:
    """The texts after a move.

    Raises:
        UsageError, EditRefused: it cannot be moved, or not there.
    """
    record = symbol.record
    target = scope.of_path(to)
    if not target.endswith(ENDINGS) or target.endswith((".d.ts", ".d.mts", ".d.cts")):
        raise UsageError(f"'{to}' is no module; name the file that gets it, a new one too, with its ending, such as .ts")
    around = Around(index, scope)
    source = around.begun(record, target)
    if not modules.is_module(source):
        raise EditRefused(f"'{record.path}' imports and exports nothing by statements, so what it has is not had by its path")
    block = block_of(source, record.name, source.offset((record.line - 1, record.col - 1)))
    move = _Move(around, symbol, block, source, target, keeps=keeps)
    move.check()
    move.carry()
    around.made.from_module, around.made.to_module, around.made.target = record.path, target, target
    return around.made


class _Manifest(msgspec.Struct):
    """Of a package.json what is needed here."""

    name: str = ""


class _Use(NamedTuple):
    """A use outside of the definition, where its name stands."""

    code: Code
    leaf: Node
    roles: int


class _Move:
    def __init__(self, around: Around, symbol: Symbol, block: Block, source: Code, target: str, *, keeps: bool) -> None:
        self.around, self.symbol, self.block, self.source, self.target, self.keeps = around, symbol, block, source, target, keeps
        self.index, self.name = around.index, symbol.record.name
        self.there = around.code(target)
        self.changes = Changes(around)
        self.splices: list[tuple[int, int, str]] = []
        self.is_type = all(one.is_type for one in block.declared)
        self.paths = frozenset(
            path
            for language in names_of(lambda one: one.family == source.language.family)
            for path in paths_of_language(self.index, language)
        )

    # ---- whether it may go

    def check(self) -> None:
        source, there = self.source, self.there
        if self.symbol.record.path.endswith((".d.ts", ".d.mts", ".d.cts")):
            raise EditRefused(f"'{source.path}' only declares what is elsewhere")
        if package_of(self.around.scope, source.path) != package_of(self.around.scope, self.target):
            raise EditRefused(f"'{self.target}' is of another package, which would have to be named by its name")
        if source.path.endswith((".ts", ".tsx", ".mts", ".cts")) != self.target.endswith((".ts", ".tsx", ".mts", ".cts")):
            raise EditRefused("between TypeScript and JavaScript nothing is moved")
        known = contents(self.index, [source.path, self.target])
        if self.target in known and known[self.target].is_test and not known[source.path].is_test:
            raise EditRefused(f"'{self.target}' is a file of tests, from which nothing else should have to import")
        if not self.target.endswith("x") and any(node.type in _JSX for node in self._inside()):
            raise EditRefused(f"'{self.name}' has elements of JSX, which '{self.target}' cannot have by its ending")
        if there is not None:
            if not modules.is_readable(there):
                raise EditRefused(f"the text of '{self.target}' is not understood")
            if there.text.strip() and not modules.is_module(there):
                raise EditRefused(f"'{self.target}' imports and exports nothing by statements, so nothing can be had from it by its path")
            if directives(there) != directives(source):
                raise EditRefused(
                    f"'{source.path}' and '{self.target}' begin with other directives ({listed([*directives(source), *directives(there)])})"
                )
            self._check_name(there)
        for one in self.block.declared:
            if one.can_change and self._is_set():
                raise EditRefused(f"'{self.name}' is set outside of its definition, which no other module than its own can do")

    def _check_name(self, there: Code) -> None:
        if any(one.name == self.name for one in declared_in(there)):
            raise EditRefused(f"'{self.target}' has a '{self.name}' already")
        for statement in statements(there):
            ours = self._means_source(there, statement.path)
            for item in statement.names:
                if item.local == self.name and not statement.is_export and not (ours and item.name == self.name):
                    raise EditRefused(f"'{self.target}' imports another '{self.name}'")
                if ours and item.name == self.name and item.local != self.name:
                    raise EditRefused(f"'{self.target}' has '{self.name}' as '{item.local}'; write it by its own name there first")

    def _is_set(self) -> bool:
        return any(use.roles & Role.WRITE and not use.roles & Role.DEFINITION for use in self._uses)

    # ---- where it is named

    @cached_property
    def _uses(self) -> list[_Use]:
        """All uses outside of the definition that stand in code; others are left."""
        sites = [site for site in named(self.index, [self.symbol.sym_id]) if not self._is_inside(site)]
        self.around.read({site.path for site in sites})
        found: list[_Use] = []
        for site in sites:
            code = self.around.code(site.path)
            if site.evidence == Evidence.INFERRED:
                continue
            leaf = code.leaf_at(code.offset((site.line, site.col))) if code is not None else None
            if code is None or leaf is None:
                self.around.made.left.append(Left(site.path, site.line, site.col))
                continue
            is_statement = top_node(code, leaf).type in ("import_statement", "export_statement")
            if code.said(leaf) == self.name and leaf.type in NAMES and (is_statement or not site.roles & Role.IMPORT):
                found.append(_Use(code, leaf, site.roles))
            elif not is_statement and site.roles & (Role.MENTION | Role.IMPORT):
                self.around.made.left.append(Left(site.path, site.line, site.col))
        return found

    def _is_inside(self, site: Named) -> bool:
        return site.path == self.source.path and self.block.holds(self.source.offset((site.line, site.col)))

    def _inside(self) -> Iterator[Node]:
        for one in self.block.declared:
            yield from walk(one.statement)

    def _means_source(self, code: Code, said: str) -> bool:
        if said.startswith("."):
            return modules.file_of(self.paths, code.path, said) == self.source.path
        return modules.aliased(said, self.source.path) is not None and not self._is_by_package(said)

    def _is_by_package(self, said: str) -> bool:
        name = self._package_name
        return bool(name) and (said == name or said.startswith(f"{name}/"))

    @cached_property
    def _package_name(self) -> str:
        place = package_of(self.around.scope, self.source.path)
        content = self.around.scope.read(f"{place}/package.json" if place else "package.json")
        try:
            return msgspec.json.decode(content or b"{}", type=_Manifest).name
        except msgspec.DecodeError:
            return ""

    # ---- what it does

    def carry(self) -> None:
        self._need()
        self._follow()
        remains = self._stay()
        without(self.around, self.source, [(self.block.start, self.block.end)])
        after: dict[str, Code] = {}
        top = self.changes.write(self.target) if self.there is None else ""
        paths = {self.source.path, self.target, *self.around.edits, *self.changes.added, *self.changes.dropped}
        for path in sorted(paths):
            if path != self.target:
                self.changes.write(path)
                after[path] = self.around.edited(path)
        after[self.source.path] = self._as_module(after[self.source.path])
        after[self.target] = self._made(top)
        self.around.made.doubts += circles(self.around, self.paths, after, self.source.path if remains else "")
        for code in after.values():
            self.around.write(code)

    def _as_module(self, code: Code) -> Code:
        """A text that exports nothing any more would be no module."""
        if modules.is_module(code):
            return code
        text = f"{code.text.rstrip()}\n\nexport {{}};\n".lstrip("\n")
        return self.around.code_of(code.path, Document(text=text, encoding=code.document.encoding, mark=code.document.mark))

    def _need(self) -> None:
        """What the definition takes from around it, in the module that gets it."""
        source = self.source
        brought = {item.local: (statement, item) for statement in statements(source) if not statement.is_export for item in statement.names}
        own = {one.name: one for one in declared_in(source)}
        needed: dict[str, list[Node]] = {}
        bound: set[str] = set()
        for node in self._inside():
            if node.type in NAMES and node.type not in _MEMBERS:
                word = source.said(node)
                if word != self.name and (word in brought or word in own):
                    needed.setdefault(word, []).append(node)
                    bound |= {word} if declares(node) else set()
            elif node.type == "shorthand_property_identifier_pattern":
                bound.add(source.said(node))
            if node.type == "string":
                self._move_path(node)
            if node.type == "meta_property" or (node.type == "identifier" and source.said(node) in _OWN_PLACE):
                self.around.made.doubts.append(f"'{self.name}' asks for its own place ({source.said(node)}), which is another one then")
        for word, nodes in needed.items():
            if not any(self._is_outer(source, node, is_bound=word in bound) for node in nodes):
                continue
            if word in brought:
                self._bring(*brought[word])
            else:
                self._bring_own(own[word], nodes)

    @cached_property
    def _known(self) -> dict[Spot, list[Meaning]]:
        """What the old module's identifiers mean."""
        return meanings(self.index, self.source.path)

    def _is_local(self, node: Node) -> bool:
        found = self._known.get(self.source.position(self.source.start(node)), [])
        return bool(found) and all(one.is_local for one in found)

    def _is_outer(self, source: Code, node: Node, *, is_bound: bool) -> bool:
        found = self._known.get(source.position(source.start(node)), [])
        if not found:
            return not is_bound
        return not all(one.is_local or (one.path == source.path and self.block.holds(source.offset((one.line, 0)))) for one in found)

    def _move_path(self, node: Node) -> None:
        """A relative path inside the definition, as of `import("./a")`, is another one from there."""
        said = modules.unquoted(self.source, node)
        means = modules.file_of(self.paths, self.source.path, said) if said.startswith(".") else ""
        around = node.parent.parent if node.parent is not None and node.parent.type == "arguments" else None
        if means and around is not None and around.type == "call_expression" and self.source.said(around).startswith(("import", "require")):
            start = self.source.start(node)
            self.splices.append((start + 1, self.source.end(node) - 1, self._written(self.target, means, said, means)))
        elif means and "/" in said:
            self.around.made.doubts.append(f"'{said}' in '{self.name}' may be a path from its old place")

    def _written(self, user: str, path: str, like: str, old: str) -> str:
        return modules.written(user, path, like, old)

    def _bring(self, statement: Statement, item: Name) -> None:
        """What the old module imports and the definition uses."""
        said = statement.path
        if said.startswith("."):
            means = modules.file_of(self.paths, self.source.path, said)
            if means == self.target:
                if item.name != item.local:
                    raise EditRefused(f"it uses '{item.name}' of '{self.target}' as '{item.local}'; write it by its own name first")
                return
            base = means or modules.posixpath.normpath(modules.posixpath.join(modules.posixpath.dirname(self.source.path), said))
            said = self._written(self.target, means, said, means) if means else modules.relative(self.target, base)
        self._take(Added(said, item.name, item.local, item.is_type, is_export=False))

    def _take(self, item: Added) -> None:
        """A name that the target gets, unless it has it already."""
        there = self.there
        if there is not None:
            for statement in statements(there):
                for known in statement.names:
                    if statement.is_export or known.local != item.local:
                        continue
                    same = known.name == item.name and self._same(there, statement.path, item.path)
                    if not same:
                        raise EditRefused(f"it uses '{item.local}' of '{self.source.path}', and '{self.target}' has another '{item.local}'")
                    if known.is_type and not item.is_type:
                        raise EditRefused(f"'{self.target}' imports '{item.local}' for types only, and it is needed as a value")
                    return
            if any(one.name == item.local for one in declared_in(there)):
                raise EditRefused(f"it uses '{item.local}' of '{self.source.path}', and '{self.target}' has another '{item.local}'")
        self.changes.add(self.target, item)

    def _same(self, code: Code, one: str, other: str) -> bool:
        if one == other:
            return True
        means = modules.file_of(self.paths, code.path, one)
        return bool(means) and means == modules.file_of(self.paths, code.path, other)

    def _bring_own(self, declared: Declared, nodes: Collection[Node]) -> None:
        """What the old module has itself: it exports it, where it did not."""
        source = self.source
        word = declared.name
        if declared.can_change and any(sets(node) for node in nodes):
            raise EditRefused(f"'{self.name}' sets '{word}' of '{source.path}', which no other module can do")
        exported = declared.is_exported and not declared.is_default
        as_default = declared.is_default
        for _, item in exports_of_own(source):
            if item.name == word:
                exported = exported or item.local == word
                as_default = as_default or item.local == "default"
        if not exported and not as_default:
            for one in declared_in(source):
                if one.name == word:
                    at = source.start(one.node)
                    self.around.replace(source, at, at, "export ")
        self._take(
            Added(
                self._path_of_source(self.target),
                "default" if as_default and not exported else word,
                word,
                declared.is_type,
                is_export=False,
            )
        )

    def _path_of_source(self, user: str) -> str:
        return self._written(user, self.source.path, self._like, self.source.path)

    @cached_property
    def _like(self) -> str:
        """A relative path written as this project does: as the old module writes others, the new one does, or the next user of it."""
        own = [code for code in (self.source, self.there) if code is not None]
        near = sorted({use.code.path: use.code for use in self._uses}.values(), key=lambda code: -shared(code.path, self.source.path))
        for code in (*own, *near):
            for statement in statements(code):
                means = modules.file_of(self.paths, code.path, statement.path)
                if means:
                    shown = modules.posixpath.splitext(statement.path)[1]
                    return f"./x{modules.ending_like(shown, means, self.source.path)}"
        return "./x"

    # ---- what uses it

    def _follow(self) -> None:
        by_path: dict[str, Code] = {use.code.path: use.code for use in self._uses}
        for path in self._naming_files():
            if (code := self.around.code(path)) is not None:
                by_path.setdefault(path, code)
        uses = {path: [use for use in self._uses if use.code.path == path] for path in by_path}
        for path, code in sorted(by_path.items()):
            if path != self.source.path:
                self._follow_in(code, uses[path])

    def _naming_files(self) -> list[str]:
        """Modules in whose text the file's name stands in a path: they may pass all of it on, or put another in its place."""
        from query.facts.gaps.words import Texts

        stem = modules.without_ending(self.source.path)
        last = stem.rpartition("/")[2] if not stem.endswith("index") else stem.removesuffix("index").rstrip("/").rpartition("/")[2]
        texts = Texts(self.index.root)
        word = last.encode("utf-8")
        return sorted(path for path in self.paths if (text := texts.read(path) or b"") and word in text and _NAMES_FILES.search(text))

    def _follow_in(self, code: Code, uses: list[_Use]) -> None:
        seen = False
        for statement in statements(code):
            if not self._means_source(code, statement.path):
                if self._is_by_package(statement.path) and not self.keeps and self._may_lead(code, statement, uses):
                    self.around.made.doubts.append(
                        f"'{code.path}' has it by '{statement.path}', which may lead to '{self.source.path}' itself; "
                        "to have it there too: keep"
                    )
                continue
            seen = True
            new = self._written(code.path, self.target, statement.path, self.source.path)
            at = statement.node.start_byte
            is_there = code.path == self.target
            if statement.is_star and not statement.names:
                self._follow_star(code, new, at, is_there=is_there)
            for item in statement.names:
                if item.name == self.name:
                    self.changes.drop(code, item.node)
                    if not is_there:
                        self.changes.add(code.path, Added(new, item.name, item.local, item.is_type, statement.is_export, at))
                elif item.name == "*":
                    self._follow_whole(code, statement, item, uses, new)
        if uses or seen:
            for node in modules.other_mentions(code, {self.source.path}, self.paths):
                if uses or "mock" in code.said(node.parent.parent)[:20]:
                    place = code.position(code.start(node))
                    self.around.made.left.append(Left(code.path, *place))

    def _may_lead(self, code: Code, statement: Statement, uses: list[_Use]) -> bool:
        inside = [use for use in uses if statement.node.start_byte <= use.leaf.start_byte < statement.node.end_byte]
        return bool(inside) and modules.aliased(statement.path, self.source.path) is not None

    @cached_property
    def _is_public(self) -> bool:
        return any(one.is_exported for one in self.block.declared) or any(item.name == self.name for _, item in exports_of_own(self.source))

    def _follow_star(self, code: Code, new: str, at: int, *, is_there: bool) -> None:
        """`export * from` the old module goes on passing it on."""
        if not self._is_public or is_there or self.keeps:
            return
        for statement in statements(code):
            if statement.is_star and not statement.names and modules.file_of(self.paths, code.path, statement.path) == self.target:
                return
        self.changes.add(code.path, Added(new, self.name, self.name, self.is_type, is_export=True, behind=at))

    def _follow_whole(self, code: Code, statement: Statement, item: Name, uses: list[_Use], new: str) -> None:
        """`import * as a`: what is taken of it by its name is imported by that name."""
        if statement.is_export:
            if self._is_public and not self.keeps:
                self.around.made.left.append(Left(code.path, *code.position(code.start(item.node))))
            return
        taken = [use for use in uses if qualifier(use.leaf) is not None and code.said(qualifier(use.leaf)) == item.local]
        if not taken or self.keeps:
            return
        others = [node for node in code.names.get(self.name, ()) if node.type not in _MEMBERS and qualifier(node) is None]
        if others and code.path != self.target:
            self.around.made.left += [Left(code.path, *code.position(code.start(use.leaf))) for use in taken]
            return
        for use in taken:
            self.around.replace(code, code.start(qualifier(use.leaf)), code.start(use.leaf), "")
        if code.path != self.target:
            self.changes.add(
                code.path, Added(new, self.name, self.name, item.is_type or self.is_type, is_export=False, behind=statement.node.start_byte)
            )
        if all(is_of(node, [qualifier(use.leaf) for use in taken], item.node) for node in code.names.get(item.local, ())):
            self.changes.drop(code, item.node)

    def _stay(self) -> bool:
        """What the old module goes on having; whether it goes on using the definition."""
        source = self.source
        lists = [item for _, item in exports_of_own(source) if item.name == self.name]
        for item in lists:
            self.changes.drop(source, item.node)
        listed_at = {item.node.start_byte for item in lists}
        remains = any(
            use.code.path == source.path and not (use.leaf.parent is not None and use.leaf.parent.start_byte in listed_at)
            for use in self._uses
        )
        new = self._written(source.path, self.target, self._like, source.path)
        if remains:
            self.changes.add(source.path, Added(new, self.name, self.name, self.is_type, is_export=False))
        if self.keeps:
            self.changes.add(source.path, Added(new, self.name, self.name, self.is_type, is_export=True))
        self._tidy()
        return remains

    def _tidy(self) -> None:
        """Imports of the old module that only the definition used."""
        source = self.source
        for statement in statements(source):
            for item in statement.names if not statement.is_export else ():
                nodes = [node for node in source.names.get(item.local, ()) if not within(node, statement.node)]
                nodes = [node for node in nodes if node.type not in _MEMBERS and not self._is_local(node)]
                if nodes and all(self.block.holds(source.start(node)) for node in nodes):
                    self.changes.drop(source, item.node)

    # ---- the text of the target

    def _made(self, top: str) -> Code:
        source, first = self.source, self.block.declared[0]
        splices = list(self.splices)
        if not first.is_exported:
            splices += [(source.start(one.statement), source.start(one.statement), "export ") for one in self.block.declared]
        body = spliced(source, self.block.start, self.block.end, splices).replace("\r\n", "\n").strip("\n")
        newline = source.document.lines.newline_at(0) or "\n"
        if self.there is None:
            said = "".join(f"'{one}';\n" for one in directives(source))
            text = f"{said}{chr(10) if said else ''}{top}{chr(10) if top else ''}{body}\n"
            return self.around.code_of(self.target, Document(text=text.replace("\n", newline)))
        at = self._place(self.there)
        if at is None:
            kept = self.there.text.rstrip()
            self.around.replace(self.there, len(kept), len(self.there.text), f"\n\n{body}\n" if kept else f"{body}\n")
        else:
            self.around.replace(self.there, at, at, f"{body}\n\n")
        self.changes.write(self.target)
        return self.around.edited(self.target)

    def _place(self, there: Code) -> int | None:
        """Before the first statement that uses it; None: at the end."""
        uses = [use.leaf for use in self._uses if use.code.path == there.path]
        for node in there.root.named_children:
            is_of_others = node.type == "import_statement" or node.child_by_field_name("source") is not None
            if not is_of_others and any(within(leaf, node) for leaf in uses):
                return comments_above(there, node)
        return None
