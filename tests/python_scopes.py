"""An independent opinion on Python's scopes: where each bare name of a file is bound, by `ast` and `symtable`.

Written against CPython's own symbol table, so that `indexer.syntax.python` can be compared with it. It walks the tree in the
order in which CPython's symtable opens its blocks, and stops with an AssertionError where the two lose each other.
"""

from __future__ import annotations

import ast
import symtable
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(eq=False)
class Block:
    """A scope. `owner` is the position of the name of the `def` or `class`; None for lambdas, comprehensions and the module."""

    table: symtable.SymbolTable
    kind: str
    parent: Block | None
    owner: tuple[int, int] | None
    children: Iterator[symtable.SymbolTable] = field(init=False)

    def __post_init__(self) -> None:
        self.children = _blocks(self.table)


@dataclass(frozen=True)
class Name:
    """A bare name: where it stands (0-based line, byte column) and the scope that binds it, None where nothing in the file does.

    `alternatives` are further scopes that would be right: a class body may read the outer name until its own is bound.
    """

    text: str
    line: int
    col: int
    binds: bool
    home: Block | None
    imported: bool
    alternatives: tuple[Block | None, ...]


def _blocks(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        if str(child.get_type()).lower().removeprefix("symboltabletype.") in ("function", "class"):
            yield child
        else:  # type parameters and annotations have blocks of their own since 3.12
            yield from _blocks(child)


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_COMPREHENSION_NAMES = {ast.ListComp: "listcomp", ast.SetComp: "setcomp", ast.DictComp: "dictcomp", ast.GeneratorExp: "genexpr"}


class Scopes:
    """All bare names of one module. `skipped` names (mangled ones and `__class__`) have rules that lspidx does not follow."""

    def __init__(self, source: str) -> None:
        self.tree = ast.parse(source)
        top = symtable.symtable(source, "module", "exec")
        self.lines = source.split("\n")
        self.module = Block(top, "module", None, None)
        self.names: list[Name] = []
        self.blocks = [self.module]
        self._global_writes: dict[str, bool] = {}
        self._collect_globals(top)
        self._found: list[tuple[ast.AST, str, int, int, bool, Block]] = []
        for statement in self.tree.body:
            self._visit(statement, self.module)
        for _, text, line, col, binds, block in self._found:
            if text in ("__class__", "__annotations__") or (text.startswith("__") and not text.endswith("__") and self._in_class(block)):
                continue
            home = self._home(text, block)
            alternatives: tuple[Block | None, ...] = ()
            if block.kind == "class" and home is block and not binds:
                alternatives = (self._home(text, block.parent, through_class=True) if block.parent else None,)
            elif block.kind == "class" and home is not block and not binds:
                alternatives = ()
            self.names.append(Name(text, line, col, binds, home, self._imported(text, home), alternatives))

    @staticmethod
    def _in_class(block: Block | None) -> bool:
        while block is not None:
            if block.kind == "class":
                return True
            block = block.parent
        return False

    def _collect_globals(self, table: symtable.SymbolTable) -> None:
        for child in table.get_children():
            for symbol in child.get_symbols():
                if symbol.is_declared_global() and (symbol.is_assigned() or symbol.is_imported()):
                    imported = self._global_writes.get(symbol.get_name(), False)
                    self._global_writes[symbol.get_name()] = imported or symbol.is_imported()
            self._collect_globals(child)

    def _home(self, text: str, block: Block, *, through_class: bool = False) -> Block | None:
        try:
            symbol = block.table.lookup(text)
        except KeyError:
            symbol = None
        if through_class or symbol is None:  # nobody asked symtable about this name here: look outwards by hand
            outer: Block | None = block
            while outer is not None:
                if outer.kind != "class" or (outer is block and not through_class):
                    try:
                        found = outer.table.lookup(text)
                    except KeyError:
                        found = None
                    if found is not None and found.is_declared_global() and outer.kind != "module":
                        break
                    if found is not None and found.is_local() and outer.kind != "module":
                        return outer
                outer = outer.parent
            return self._module_home(text)
        # is_global() of Python 3.11 is wrong in a function called `top`, hence the order.
        if block.kind == "module" or symbol.is_declared_global():
            return self._module_home(text)
        if symbol.is_local():
            return block
        if symbol.is_free():
            outer = block.parent
            while outer is not None:
                if outer.kind != "class":
                    try:
                        found = outer.table.lookup(text)
                    except KeyError:
                        found = None
                    if found is not None and found.is_local():
                        return outer
                outer = outer.parent
            raise AssertionError(f"free variable {text} has no home")
        return self._module_home(text)

    def _module_home(self, text: str) -> Block | None:
        try:
            symbol = self.module.table.lookup(text)
        except KeyError:
            symbol = None
        bound = symbol is not None and (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace() or symbol.is_annotated())
        return self.module if bound or text in self._global_writes else None

    def _imported(self, text: str, home: Block | None) -> bool:
        if home is None:
            return False
        try:
            here = home.table.lookup(text).is_imported()
        except KeyError:
            here = False
        return here or (home is self.module and self._global_writes.get(text, False)) or self._imported_by_nonlocal(text, home)

    def _imported_by_nonlocal(self, text: str, home: Block) -> bool:
        def inside(table: symtable.SymbolTable) -> bool:
            for child in table.get_children():
                try:
                    symbol = child.lookup(text)
                except KeyError:
                    symbol = None
                if symbol is not None and symbol.is_imported() and symbol.is_nonlocal():
                    return True
                if inside(child):
                    return True
            return False

        return home.kind != "module" and inside(home.table)

    # ---- the walk, in symtable's order

    def _add(self, node: ast.AST, text: str, line: int, col: int, binds: bool, block: Block) -> None:
        self._found.append((node, text, line, col, binds, block))

    def _enter(self, node: ast.AST, name: str, kind: str, block: Block, owner: tuple[int, int] | None) -> Block:
        table = next(block.children)
        opened = f"symtable opens {table.get_name()} in line {table.get_lineno()}"
        assert table.get_name() == name, f"{opened}, the walk {name} in line {getattr(node, 'lineno', 0)}"
        made = Block(table, kind, block, owner)
        self.blocks.append(made)
        return made

    def _name_after(self, node: ast.AST, keyword: str, name: str) -> tuple[int, int]:
        """Position of the name in `def name` and `class name`; decorators are not part of the node."""
        line, col = node.lineno - 1, node.col_offset  # type: ignore[attr-defined]
        text = self.lines[line].encode()
        start = text.index(keyword.encode(), col) + len(keyword)
        return line, text.index(name.encode(), start)

    def _visit(self, node: ast.AST | None, block: Block) -> None:
        if node is None:
            return
        if isinstance(node, ast.Name):
            self._add(node, node.id, node.lineno - 1, node.col_offset, not isinstance(node.ctx, ast.Load), block)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._function(node, block)
        elif isinstance(node, ast.ClassDef):
            self._class(node, block)
        elif isinstance(node, ast.Lambda):
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                self._visit(default, block)
            inner = self._enter(node, "lambda", "lambda", block, None)
            self._arguments(node.args, inner)
            self._visit(node.body, inner)
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node, block)
        elif isinstance(node, ast.AnnAssign):
            self._visit(node.target, block)
            self._visit(node.annotation, block)
            self._visit(node.value, block)
        elif isinstance(node, ast.NamedExpr):
            home = block
            while home.kind == "comprehension" and home.parent is not None:
                home = home.parent
            target = node.target
            self._add(target, target.id, target.lineno - 1, target.col_offset, True, home)
            self._visit(node.value, block)
        elif isinstance(node, ast.Dict):
            for child in [*node.keys, *node.values]:
                self._visit(child, block)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            for child in [*node.body, *node.orelse, *node.handlers, *node.finalbody]:  # type: ignore[attr-defined]
                self._visit(child, block)
        else:
            for child in ast.iter_child_nodes(node):
                self._visit(child, block)

    def _annotations(self, arguments: ast.arguments, returns: ast.expr | None, block: Block) -> None:
        for argument in [*arguments.posonlyargs, *arguments.args]:
            self._visit(argument.annotation, block)
        for argument in (arguments.vararg, arguments.kwarg):
            if argument is not None:
                self._visit(argument.annotation, block)
        for argument in arguments.kwonlyargs:
            self._visit(argument.annotation, block)
        self._visit(returns, block)

    def _arguments(self, arguments: ast.arguments, inner: Block) -> None:
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
            if argument is not None:
                self._add(argument, argument.arg, argument.lineno - 1, argument.col_offset, True, inner)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, block: Block) -> None:
        keyword = "def"
        owner = self._name_after(node, keyword, node.name)
        self._add(node, node.name, *owner, True, block)
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            self._visit(default, block)
        self._annotations(node.args, node.returns, block)
        for decorator in node.decorator_list:
            self._visit(decorator, block)
        inner = self._enter(node, node.name, "function", block, owner)
        self._arguments(node.args, inner)
        for statement in node.body:
            self._visit(statement, inner)

    def _class(self, node: ast.ClassDef, block: Block) -> None:
        owner = self._name_after(node, "class", node.name)
        self._add(node, node.name, *owner, True, block)
        for child in [*node.bases, *node.keywords, *node.decorator_list]:
            self._visit(child, block)
        inner = self._enter(node, node.name, "class", block, owner)
        for statement in node.body:
            self._visit(statement, inner)

    def _comprehension(self, node: ast.AST, block: Block) -> None:
        first, *rest = node.generators  # type: ignore[attr-defined]
        self._visit(first.iter, block)
        inner = self._enter(node, _COMPREHENSION_NAMES[type(node)], "comprehension", block, None)
        self._visit(first.target, inner)
        for condition in first.ifs:
            self._visit(condition, inner)
        for generator in rest:
            self._visit(generator.target, inner)
            self._visit(generator.iter, inner)
            for condition in generator.ifs:
                self._visit(condition, inner)
        if isinstance(node, ast.DictComp):
            self._visit(node.value, inner)
            self._visit(node.key, inner)
        else:
            self._visit(node.elt, inner)  # type: ignore[attr-defined]


def disagreements(source: bytes) -> list[str]:
    """Every bare name that `indexer.syntax.python` binds elsewhere than CPython does, as `line:col name: what`."""
    from indexer.model import SymbolFlag
    from indexer.syntax.model import BUILTIN
    from indexer.syntax.python import BUILTINS, OF_MODULES, parse
    from indexer.text import ColumnMap

    text = source.decode("utf-8-sig")
    shift = 3 if source.startswith(b"\xef\xbb\xbf") else 0
    scopes = Scopes(text)
    syntax = parse(source, "module")
    tokens = syntax.tokens
    columns = ColumnMap(source)
    at = {(tokens.line[i], tokens.col[i]): i for i in range(len(tokens))}
    star = any(isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names) for node in ast.walk(scopes.tree))
    problems: list[str] = []

    def token_of(line: int, col: int) -> int:
        return at.get((line, columns.utf16(line, col + (shift if line == 0 else 0))), -1)

    owner_symbol: dict[int, int] = {}
    for block in scopes.blocks:
        if block.kind == "module":
            owner_symbol[id(block)] = 0
        elif block.owner is not None:
            token = token_of(*block.owner)
            owner_symbol[id(block)] = tokens.symbol[token] if token >= 0 else -9
        else:
            assert block.parent is not None
            owner_symbol[id(block)] = owner_symbol[id(block.parent)]

    symbol_home: dict[int, tuple[int, str]] = {}
    home_symbol: dict[tuple[int, str], int] = {}
    imported_of: dict[tuple[int, str], bool] = {}
    for name in scopes.names:
        if name.home is not None:
            key = (id(name.home), name.text)
            imported_of[key] = name.imported

    def judge(name: Name, home: Block | None, token: int) -> str:
        symbol = tokens.symbol[token]
        if home is None:
            if (name.text in BUILTINS and not star) or (name.text in OF_MODULES and symbol == BUILTIN):
                return "" if symbol == BUILTIN else "is a builtin"
            if symbol >= 0 or symbol == BUILTIN:
                return "is bound nowhere"
            return "" if tokens.ask[token] or tokens.same_as[token] >= 0 else "is bound nowhere and not asked"
        key = (id(home), name.text)
        if name.imported if home is name.home else scopes._imported(name.text, home):
            if symbol == BUILTIN:
                return "is an import, not a builtin"
            if symbol >= 0 and not name.binds:
                return "is (also) an import: must be asked"
            return ""
        if symbol < 0:
            return f"is bound in {home.kind} {home.table.get_name()} line {home.table.get_lineno()}, we say {symbol}"
        definition = syntax.symbols[symbol]
        if definition.name != unicodedata.normalize("NFKC", name.text):
            return f"means a symbol called {definition.name}"
        known = home_symbol.get(key, symbol)
        if known != symbol:
            return f"is one binding of {home.kind} {home.table.get_name()}, but two symbols"
        claimed = symbol_home.get(symbol, key)
        if claimed != key:
            return "shares its symbol with another scope's"
        if definition.container != owner_symbol[id(home)]:
            return f"belongs to {home.kind} {home.table.get_name()}, our container is {syntax.symbols[definition.container].name}"
        local = any(b.kind in ("function", "lambda", "comprehension") for b in _outwards(home))
        if local != (SymbolFlag.LOCAL in definition.flags):
            return f"has the wrong LOCAL flag ({definition.flags!r})"
        home_symbol[key], symbol_home[symbol] = symbol, key
        return ""

    for name in scopes.names:
        token = token_of(name.line, name.col)
        if token < 0:
            problem = "has no token"
        elif tokens.name[token] != unicodedata.normalize("NFKC", name.text):
            problem = f"our token there is {tokens.name[token]}"
        else:
            problem = judge(name, name.home, token)
            if problem and any(not judge(name, other, token) for other in name.alternatives):
                problem = ""
        if problem:
            problems.append(f"{name.line + 1}:{name.col + 1} {name.text}: {problem}")
    return problems


def _outwards(block: Block | None) -> Iterator[Block]:
    while block is not None:
        yield block
        block = block.parent
