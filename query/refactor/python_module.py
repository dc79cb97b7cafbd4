"""A text of Python as a refactoring needs it: what its module binds, where its imports are, and what a part of it takes from around it.

Positions are those of edits: 0-based lines and UTF-16 columns.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from indexer.errors import EditRefused
from indexer.text import index_to_utf16
from query.edits.text import Document, Edit
from query.refactor.formatted_strings import with_right_positions

BUILTINS = frozenset(dir(builtins)) - {"__name__", "__doc__", "__package__", "__loader__", "__spec__"}
OF_A_MODULE = frozenset({"__name__", "__file__", "__doc__", "__package__", "__loader__", "__spec__", "__path__"})
"""Names that mean something else in every module."""

Import = ast.Import | ast.ImportFrom
Position = tuple[int, int]


class Binding(NamedTuple):
    """One place where a module binds a name. `alias`: of an import. `is_for_types`: only where types are checked."""

    node: ast.AST
    alias: ast.alias | None = None
    is_for_types: bool = False


class Module:
    """A module's text, read.

    Attributes:
        name: dotted, as others import it. package: what its relative imports begin with.
    """

    def __init__(self, path: str, name: str, document: Document) -> None:
        """Raises EditRefused where the text is no Python."""
        self.path, self.name, self.document = path, name, document
        self.package = name if path.rpartition("/")[2] == "__init__.py" else name.rpartition(".")[0]
        try:
            self.tree = with_right_positions(ast.parse(document.text), document.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise EditRefused(f"'{path}' cannot be parsed as Python: {error}") from error

    # ---- places

    def line(self, number: int) -> str:
        low, high = self.document.lines.bounds(number)
        return self.document.text[low:high]

    def position(self, line: int, column: int) -> Position:
        """Of one as `ast` has it: a 1-based line and a column in bytes of UTF-8."""
        text = self.line(line - 1)
        before = len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))
        return line - 1, index_to_utf16(text, before)

    def start(self, node: ast.stmt | ast.expr | ast.alias | ast.arg) -> Position:
        return self.position(node.lineno, node.col_offset)

    def end(self, node: ast.stmt | ast.expr | ast.alias | ast.arg) -> Position:
        return self.position(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)

    def end_of_line(self, number: int) -> Position:
        return self.document.lines.position(self.document.lines.bounds(number)[1])

    def indent(self, node: ast.stmt) -> str:
        """The white space before a statement that begins its line; else nothing."""
        before = self.line(node.lineno - 1)[: node.col_offset]
        return before if not before.strip() else ""

    # ---- names

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """What the module itself binds, also where a function says `global`, in the order of the text."""
        found: dict[str, list[Binding]] = {}
        for name, binding in _bound(self.tree.body, is_for_types=False):
            found.setdefault(name, []).append(binding)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Global):
                for name in node.names:
                    found.setdefault(name, []).append(Binding(node))
        return found

    @cached_property
    def imports(self) -> list[Import]:
        """All, in functions too."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.Import | ast.ImportFrom)]

    @cached_property
    def says_relative(self) -> bool:
        """Whether it imports from its own package with dots."""
        return any(isinstance(node, ast.ImportFrom) and node.level for node in self.imports)

    @cached_property
    def stars(self) -> list[ast.ImportFrom]:
        return [node for node in self.imports if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]

    def quoting(self, name: str) -> list[ast.Constant]:
        """Strings that say a type with this name in it."""
        return [quoted for quoted in self.quoted if name in _names_in(quoted)]

    @cached_property
    def quoted(self) -> list[ast.Constant]:
        return list(_quoted_types(self.tree))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name that the text binds or reads, attributes left out."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            match node:
                case ast.Name(id=name) | ast.arg(arg=name):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.alias(name=name, asname=other):
                    found.add(other or name.partition(".")[0])
                case _:
                    pass
        return frozenset(found)

    def from_module(self, node: ast.ImportFrom) -> str:
        """The dotted name of what a statement imports from."""
        return absolute(node.module or "", node.level, self.package)

    def loads(self, until: int = sys.maxsize) -> set[str]:
        """Dotted names of what may be a module and is imported when this one is loaded: not in functions, nor for types alone.

        The packages that it lies in are left out: they are loaded before it. `until`: a 1-based line, for what is loaded before that.
        """
        found: set[str] = set()
        for node, alias, is_for_types in (binding for bindings in self.bindings.values() for binding in bindings):
            if is_for_types or alias is None or not isinstance(node, ast.Import | ast.ImportFrom) or node.lineno >= until:
                continue
            if isinstance(node, ast.Import):
                found.add(alias.name)
            else:
                module = self.from_module(node)
                found |= {module, f"{module}.{alias.name}"}
        around = {".".join(self.name.split(".")[:number]) for number in range(1, self.name.count(".") + 2)}
        packages = {name.rsplit(".", number)[0] for name in found for number in range(1, name.count(".") + 1)}
        return found | (packages - around)

    def has_future(self, name: str) -> bool:
        return any(
            isinstance(node, ast.ImportFrom) and node.module == "__future__" and any(alias.name == name for alias in node.names)
            for node in self.tree.body
        )

    # ---- edits

    def without(self, node: Import, alias: ast.alias) -> Edit:
        """Takes one name out of a statement, or the whole statement where it is the only one."""
        if len(node.names) == 1:
            lines = (node.lineno - 1, (node.end_lineno or node.lineno) - 1)
            around = self._only_one_in(node)
            if around is not None:
                return self.document.without_lines(around.lineno - 1, (around.end_lineno or around.lineno) - 1)
            if self.is_on_its_own_lines(node) and len(self.block_of(node)) > 1:
                return Edit(start=(lines[0], 0), end=(lines[1] + 1, 0), new_text="")
            return Edit(start=self.start(node), end=self.end(node), new_text="pass")
        at = node.names.index(alias)
        if at + 1 < len(node.names):
            return Edit(start=self.start(alias), end=self.start(node.names[at + 1]), new_text="")
        return Edit(start=self.end(node.names[at - 1]), end=self.end(alias), new_text="")

    def _only_one_in(self, node: ast.stmt) -> ast.If | None:
        """The block for types that holds this statement alone."""
        for one in self.tree.body:
            if isinstance(one, ast.If) and one.body == [node] and not one.orelse and _is_for_types(one, one.body):
                return one
        return None

    def is_on_its_own_lines(self, node: ast.stmt) -> bool:
        return self.indent(node) == self.line(node.lineno - 1)[: node.col_offset] and not self._after(node)

    def block_of(self, wanted: ast.stmt) -> list[ast.stmt]:
        """The statements beside one, itself among them."""
        for node in ast.walk(self.tree):
            for part in ("body", "orelse", "finalbody"):
                block = getattr(node, part, None)
                if isinstance(block, list) and any(item is wanted for item in block):
                    return block
        return []

    def and_also(self, node: ast.ImportFrom, name: str) -> Edit:
        """One name more in a statement, as its others are written."""
        last, end = node.names[-1], self.end(node.names[-1])
        own_line = self.line(last.lineno - 1)[: last.col_offset]
        is_bracketed = (last.end_lineno, last.end_col_offset) != (node.end_lineno, node.end_col_offset)
        apart = f",\n{own_line}" if is_bracketed and last.lineno > node.lineno and not own_line.strip() else ", "
        return Edit(start=end, end=end, new_text=f"{apart}{name}")

    def after(self, node: ast.stmt, text: str) -> Edit:
        """A statement on the line after another one, indented as that is."""
        if self._after(node):  # `import a; import b`
            end = self.end(node)
            return Edit(start=end, end=end, new_text=f"; {text}")
        last = (node.end_lineno or node.lineno) - 1
        place = self.end_of_line(last)
        return Edit(start=place, end=place, new_text=f"\n{self.indent(node)}{text}")

    def beside(self, node: ast.ImportFrom, text: str) -> Edit:
        """A `from` statement more near another one: where the order of those around it, if they have one, wants it; else behind it."""
        run = self._run_of(node)
        written = [_order("." * item.level + (item.module or "")) for item in run]
        wanted = _order(text.split()[1])
        if len(run) == 1 or written != sorted(written):
            return self.after(node, text)
        earlier = [item for item, order in zip(run, written, strict=True) if order < wanted]
        if earlier:
            return self.after(earlier[-1], text)
        start = self.start(run[0])
        return Edit(start=start, end=start, new_text=f"{text}\n{self.indent(run[0])}")

    def _run_of(self, node: ast.ImportFrom) -> list[ast.ImportFrom]:
        """The `from` statements on the lines around one, each on lines of its own."""
        block = self.block_of(node)
        at = block.index(node)
        run = [node]
        for step in (-1, 1):
            here, near = block[at], at + step
            while 0 <= near < len(block) and isinstance(one := block[near], ast.ImportFrom) and one.module != "__future__":
                first, second = (one, here) if step < 0 else (here, one)
                if (first.end_lineno or first.lineno) + 1 != second.lineno or self._after(first):
                    break
                run.insert(0, one) if step < 0 else run.append(one)
                here, near = one, near + step
        return run

    def _after(self, node: ast.stmt) -> str:
        """The code behind a statement on its last line."""
        line = self.line((node.end_lineno or node.lineno) - 1).encode("utf-8", "surrogatepass")[node.end_col_offset :]
        return line.decode("utf-8", "replace").strip().partition("#")[0].strip(" ;")

    @cached_property
    def place_for_imports(self) -> tuple[ast.stmt | None, int]:
        """The last import before the first definition, after which another one goes; without one the line before which it goes."""
        last: ast.stmt | None = None
        line = 0
        for number, node in enumerate(self.tree.body):
            is_documentation = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if isinstance(node, ast.Import | ast.ImportFrom):
                last = node
            elif is_documentation:
                line = node.end_lineno or node.lineno
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                break
        if last is None and line == 0:
            while line < len(self.document.lines) and self.line(line).startswith("#"):
                line += 1
        return last, line


def _order(written: str) -> tuple[int, str]:
    """Of modules as sorters of imports have them: by how far up they are, then by their names."""
    level = len(written) - len(written.lstrip("."))
    return (-level if level else -sys.maxsize, written.lstrip(".").lower())


def absolute(module: str, level: int, package: str) -> str:
    """The dotted name that `from ..module import` means in a package."""
    if not level:
        return module
    parts = package.split(".")
    return ".".join(part for part in [*parts[: len(parts) - level + 1], module] if part)


def relative(module: str, package: str) -> str:
    """How a package says a module of the same top-level package with dots; itself of another one."""
    own, wanted = package.split("."), module.split(".")
    shared = 0
    while shared < min(len(own), len(wanted)) and own[shared] == wanted[shared]:
        shared += 1
    return module if not package or not shared else "." * (len(own) - shared + 1) + ".".join(wanted[shared:])


def free_names(text: str) -> set[str]:
    """What statements take from around them: names that they read or declare global and do not bind themselves; in quoted annotations, too.

    Raises:
        SyntaxError: they do not stand by themselves.
    """
    found: set[str] = set()
    bound: set[str] = set()

    def look(table: symtable.SymbolTable, *, is_top: bool) -> None:
        for symbol in table.get_symbols():
            if is_top:
                (bound if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace() else found).add(symbol.get_name())
            elif symbol.is_global():
                found.add(symbol.get_name())
        for child in table.get_children():
            look(child, is_top=False)

    look(symtable.symtable(text, "moved", "exec"), is_top=True)
    for quoted in _quoted_types(ast.parse(text)):
        found |= _names_in(quoted)
    return found - bound


def literal_all(node: ast.stmt) -> ast.List | ast.Tuple | None:
    """The list of names that a statement gives to `__all__` or adds to it."""
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) or not isinstance(node.value, ast.List | ast.Tuple):
        return None
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return node.value if any(isinstance(item, ast.Name) and item.id == "__all__" for item in targets) else None


def passes_by_star(module: Module, name: str) -> bool:
    """Whether `from module import *` brings a name that the module has. True where its `__all__` is made as it runs."""
    if "__all__" not in module.bindings:
        return not name.startswith("_")
    listed = [literal_all(node) for node in module.tree.body]
    known = [item.value for found in listed if found is not None for item in found.elts if isinstance(item, ast.Constant)]
    return name in known or len([found for found in listed if found is not None]) < len(module.bindings["__all__"])


def dotted(node: ast.expr) -> str:
    """`a.b` as it is written; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def declares_global(node: ast.AST) -> set[str]:
    return {name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names}


def _quoted_types(tree: ast.AST) -> Iterator[ast.Constant]:
    """Strings that say a type: in annotations, and where `cast` and `TypeVar` take one."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation) if annotation is not None:
                said: list[ast.expr] = [annotation]
            case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns) if returns is not None:
                said = [returns]
            case ast.Call(func=ast.Name(id="cast") | ast.Attribute(attr="cast"), args=[first, _]):
                said = [first]
            case ast.Call(func=ast.Name(id="TypeVar") | ast.Attribute(attr="TypeVar"), args=[_, *types], keywords=keywords):
                said = [*types, *(keyword.value for keyword in keywords if keyword.arg in ("bound", "default"))]
            case _:
                continue
        for inner in (inner for one in said for inner in ast.walk(one)):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                yield inner


def _names_in(quoted: ast.Constant) -> set[str]:
    try:
        return {node.id for node in ast.walk(ast.parse(str(quoted.value), mode="eval")) if isinstance(node, ast.Name)}
    except (SyntaxError, ValueError, RecursionError):
        return set()


def _bound(body: Sequence[ast.stmt], *, is_for_types: bool) -> Iterator[tuple[str, Binding]]:
    """Names that statements bind in the scope that they stand in."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, Binding(node, None, is_for_types)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    name = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
                    yield name, Binding(node, alias, is_for_types)
            case _:
                for name in _targets(node):
                    yield name, Binding(node, None, is_for_types)
                for part in _bodies(node):
                    yield from _bound(part, is_for_types=is_for_types or _is_for_types(node, part))


def _targets(node: ast.stmt) -> Iterator[str]:
    """Names that a statement assigns, those in its own expressions (`:=`) among them."""
    inner: list[ast.AST] = [node]
    blocks = {id(statement) for part in _bodies(node) for statement in part}
    while inner:
        one = inner.pop()
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store | ast.Del):
            yield one.id
        elif isinstance(one, ast.ExceptHandler) and one.name:
            yield one.name
        if not isinstance(one, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            inner += [child for child in ast.iter_child_nodes(one) if id(child) not in blocks]


def _bodies(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a statement that makes no scope."""
    match node:
        case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
            return [node.body, node.orelse]
        case ast.With() | ast.AsyncWith():
            return [node.body]
        case ast.Try() | ast.TryStar():
            return [node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody]
        case ast.Match():
            return [case.body for case in node.cases]
        case _:
            return []


def _is_for_types(node: ast.stmt, part: list[ast.stmt]) -> bool:
    if not isinstance(node, ast.If) or part is not node.body:
        return False
    match node.test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case _:
            return False
