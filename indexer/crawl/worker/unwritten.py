"""What runs where the text does not name it, from a compiler's own tree: objects that are made, copied, converted and ended, macros' calls.

clangd shows its tree (`textDocument/ast`) with all that the compiler puts in: each node has a kind, and a line in which clang prints it.
That line tells the type of what is made, and the function that is called: its name, and its address, which the node that declares it has
too. Of a template there is but the pattern: what depends on its parameters is not known, and the function that it stands in says so.

Knows nothing of other files: of a type or a function that is declared elsewhere it says the name, and the merge finds out who that is.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from indexer.lsp.decode import TreeNode
from indexer.model import CALLABLE_KINDS, SCOPE_KINDS, Role, SymbolFlag, SymbolKind, Unwritten
from indexer.syntax.model import Definition, Span, Syntax
from indexer.text import ColumnMap

_ADDRESS = re.compile(r"^\w+ (0x[0-9a-f]+)")
_NAMED_AT = re.compile(
    r"^\w+ 0x[0-9a-f]+ (?:parent 0x[0-9a-f]+ )?(?:prev 0x[0-9a-f]+ )?<(?P<extent>[^<>]*)> (?:line:(?P<line>\d+):|col:)(?P<col>\d+)"
)
_LINES = re.compile(r"(?:^|, line:|[^, ]:)(\d+):\d+")
_TYPE = re.compile(r"'(?P<written>[^']*)'(?::'(?P<meant>[^']*)')?")
_MEMBER = re.compile(r"'<bound member function type>' (?:\.|->)(?P<name>.*?) (?P<address>0x[0-9a-f]+)")
_REFERRED = re.compile(
    r" (?P<kind>Function|CXXMethod|CXXConversion|CXXDestructor|NonTypeTemplateParm|FunctionTemplate)"
    r" (?P<address>0x[0-9a-f]+) '(?P<name>[^']*)'"
)
_ALIASED = re.compile(r' "(?P<name>[^"]+)"$')
_QUALIFIERS = re.compile(r"\b(?:const|volatile|struct|class|union|enum|typename)\b|\(anonymous [^)]*\)::|\[[^\]]*\]")
_DEPENDENT = ("dependent type>", "type-parameter-", "auto:", "<overloaded function type>", "<unresolved")

_MAKING = frozenset({"CXXConstruct", "CXXTemporaryObject"})
_CALLING = frozenset({"Call", "CXXMemberCall", "CXXOperatorCall", "UserDefinedLiteral"})
_THROUGH = frozenset(
    {"ImplicitCast", "Paren", "ExprWithCleanups", "CXXFunctionalCast", "CXXStaticCast", "MaterializeTemporary", "ConstantExpr"}
)
_VARIABLES = frozenset({"Var", "Decomposition"})
_DEFINING = frozenset({"Function", "CXXMethod", "CXXConstructor", "CXXDestructor", "CXXConversion"})
_KEPT = frozenset({"Return", "Field", "InitList", "CXXNew", *_MAKING})
"""What holds a value that is made in it, so that no object ends there; so does a variable that ends itself."""
_UNEVALUATED = frozenset(
    {"UnaryExprOrTypeTrait", "CXXNoexcept", "CXXTypeid", "StaticAssert", "Requires", "Decltype", "TypeOf", "TypeOfExpr"}
)
_COROUTINES = frozenset({"CoroutineBodyStmt", "CoroutineBody", "Coawait", "Coyield", "Coreturn", "DependentCoawait"})
_PARAMETERS = frozenset({"TemplateTypeParm", "NonTypeTemplateParm", "TemplateTemplateParm"})


_MOST_LOOKED_AT = 8
"""Calls that are written in what names one function."""


class Row(NamedTuple):
    """Something runs here. `scope`: the type that it is of, as a path with dots; `own`: the document's symbol that is called, or -1."""

    line: int
    col: int
    end_col: int
    enclosing: int
    kind: Unwritten
    name: str
    scope: str
    own: int


class Found(NamedTuple):
    """`rows` by position.

    open: functions of which their template's parameters say what runs.
    called: where a function is called that an expression gives: line, column, end, function around it.
    dependent: tokens that only an instance of a template gives a meaning.
    """

    rows: list[Row]
    open: list[int]
    called: list[tuple[int, int, int, int]]
    dependent: set[int]


def read(root: TreeNode, syntax: Syntax, source: bytes) -> Found:
    """What runs unnamed in a document."""
    reading = _Reading(syntax, source)
    reading.declare(root)
    reading.visit(root)
    return Found(sorted(set(reading.rows)), sorted(reading.open), sorted(set(reading.called)), reading.dependent)


def functions(syntax: Syntax) -> list[int]:
    """All that have a body or may have one: of whom nothing is known where there is no tree."""
    return [ordinal for ordinal, symbol in enumerate(syntax.symbols) if symbol.kind in CALLABLE_KINDS]


class _Place(NamedTuple):
    line: int
    col: int
    end_col: int


class _Step(NamedTuple):
    """A node to look at.

    parameters: of the templates around it. function: the symbol in whose body it stands, -1 where its place is to tell that.
    is_kept: a value in it is kept, so that no object ends there. is_called: it names what a call runs.
    """

    node: TreeNode
    around: TreeNode | None
    place: _Place
    parameters: frozenset[str]
    function: int
    is_kept: bool
    is_called: bool


class _Reading:
    def __init__(self, syntax: Syntax, source: bytes) -> None:
        self.rows: list[Row] = []
        self.open: set[int] = set()
        self.called: list[tuple[int, int, int, int]] = []
        self.dependent: set[int] = set()
        self._syntax = syntax
        self._columns = ColumnMap(source)
        self._own: dict[str, int] = {}
        self._around = _Spans(syntax.symbols)
        tokens = syntax.tokens
        self._function = -1
        self._called = [
            (tokens.line[token], tokens.col[token], tokens.name[token], token)
            for token in range(len(tokens))
            if tokens.roles[token] & Role.CALL
        ]
        self._called_at = [called[:2] for called in self._called]
        self._named = {(tokens.line[token], tokens.col[token]): tokens.name[token] for token in range(len(tokens))}

    # ---- what the document declares itself

    def declare(self, root: TreeNode) -> None:
        """Addresses of its functions."""
        by_name: dict[str, list[tuple[int, Definition]]] = {}
        for ordinal, symbol in enumerate(self._syntax.symbols):
            if symbol.kind in CALLABLE_KINDS:
                by_name.setdefault(_plain(symbol.name), []).append((ordinal, symbol))
        for node in _all(root):
            address = _ADDRESS.match(node.arcana) if node.kind in _DEFINING else None
            if address is None or node.range is None or " implicit " in node.arcana:
                continue
            begin, name = node.range.start, node.detail or _name_of(node.arcana)
            found = self._defined(node, by_name.get(_plain(name), ()))
            if found >= 0:
                self._own[address[1]] = found
                if " default" in node.arcana:
                    self.rows.append(Row(begin.line, begin.character, begin.character, found, Unwritten.DEFAULT, name, "", found))

    def _defined(self, node: TreeNode, candidates: Sequence[tuple[int, Definition]]) -> int:
        """The symbol that a node declares, -1 for none: of its name where it stands, or whatever stands where a macro makes its name."""
        if (at := _NAMED_AT.match(node.arcana)) is not None:
            lines = _LINES.findall(at["extent"])
            line = int(at["line"] or (lines[-1] if lines else 0)) - 1
            where = (line, self._columns.utf16(max(line, 0), int(at["col"]) - 1))
            for ordinal, symbol in candidates:
                spans = (symbol.span, *symbol.extra_ranges)
                if any((span.line, span.col) <= where <= (span.end_line, span.end_col) for span in spans):
                    return ordinal
        if node.range is not None and node.children and node.children[-1].kind == "Compound":
            begin = node.range.start
            found = self._around.of(begin.line, begin.character)
            if found and self._syntax.symbols[found].kind in CALLABLE_KINDS and self._syntax.symbols[found].span.line == begin.line:
                return found
        return -1

    # ---- what runs

    def visit(self, root: TreeNode) -> None:
        waiting = [_Step(root, None, _Place(0, 0, 0), frozenset(), -1, is_kept=False, is_called=False)]
        while waiting:
            node, around, place, parameters, self._function, is_kept, is_called = waiting.pop()
            if node.kind in _UNEVALUATED or (node.role == "type" and node.kind in ("Decltype", "TypeOf", "TypeOfExpr")):
                continue
            if node.range is not None:
                start, end = node.range.start, node.range.end
                place = _Place(
                    start.line, start.character, max(end.character, start.character) if end.line == start.line else start.character
                )
            own = {child.detail for child in node.children if child.kind in _PARAMETERS and child.detail}
            parameters = parameters | own if own else parameters
            step = _Step(node, around, place, parameters, self._function, is_kept, is_called)
            if node.role == "attribute":
                self._of_attribute(node, place)
            elif node.role != "type":
                self._look(step)
            function = self._function
            if node.kind in _DEFINING and (address := _ADDRESS.match(node.arcana)) is not None:
                function = self._own.get(address[1], -1)
            elif node.kind == "CXXRecord":
                function = -1
            keeps = node.kind in _KEPT or (is_kept and node.kind in _THROUGH) or (node.kind in _VARIABLES and _ends(node))
            calls = node.kind in _CALLING or (is_called and node.kind in _THROUGH)
            below = node if node.kind != "Decl" else around  # a declaration in a loop is the loop's
            waiting += [
                _Step(
                    child, below, place, parameters, function, keeps, calls and child is node.children[0 if node.kind in _CALLING else -1]
                )
                for child in node.children
            ]

    def _look(self, step: _Step) -> None:
        node, place = step.node, step.place
        if self._is_open(node, step.parameters):
            self.open.add(self._in(place))
            if node.kind == "DependentScopeDeclRef":
                self._without_meaning(node, place)
        elif node.kind in _COROUTINES:
            self.open.add(self._in(place))
        elif node.kind in _CALLING and node.children:
            self._of_call(node, place)
        elif node.kind == "DeclRef" and not step.is_called:
            self._of_value(node, place)
        else:
            self._of_object(step)

    def _of_object(self, step: _Step) -> None:
        node, place = step.node, step.place
        if node.kind in _MAKING and not node.arcana.rstrip().endswith(" elidable"):
            self._add(place, Unwritten.MAKE, "", _type_of(node.arcana))
        elif node.kind == "CXXBindTemporary" and not step.is_kept:
            self._add(place, Unwritten.END, "", _type_of(node.arcana))
        elif node.kind in _VARIABLES:
            self._of_variable(node, step.around, place)
        elif node.kind == "InitList":
            self._add(place, Unwritten.AGGREGATE, "", _type_of(node.arcana))
        elif node.kind == "CXXDelete":
            self._of_delete(node, place)
        elif node.kind == "CXXNew":
            self._allocate(node, place, _type_of(node.arcana))
        elif node.kind == "CXXForRange":
            self._of_loop(node, place)

    def _without_meaning(self, node: TreeNode, place: _Place) -> None:
        """A server says of `make` in `T::make` what `T` is."""
        tokens = self._syntax.tokens
        on_line = range(bisect_left(tokens.line, place.line), bisect_right(tokens.line, place.line))
        self.dependent.update(
            token for token in on_line if place.col <= tokens.col[token] < place.end_col and tokens.name[token] == node.detail
        )

    def _is_open(self, node: TreeNode, parameters: frozenset[str]) -> bool:
        """Whether it is of a type that only an instance of the template has, or a function that is handed to the template."""
        if not parameters or (node.role == "declaration" and node.kind not in _VARIABLES and node.kind != "Field"):
            return False
        if any(word in node.arcana for word in _DEPENDENT) or ("NonTypeTemplateParm" in node.arcana and "(*)" in node.arcana):
            return True
        found = _TYPE.search(node.arcana)
        if found is None:
            return False
        words = re.findall(r"\w+", found["meant"] or found["written"])
        kind = found["meant"] or found["written"]
        return not kind.rstrip().endswith("*") and not parameters.isdisjoint(words)

    def _add(self, place: _Place, kind: Unwritten, name: str, scope: str, own: int = -1) -> None:
        if scope or name:
            self.rows.append(Row(*place, self._in(place), kind, name, scope, own))

    def _of_variable(self, node: TreeNode, around: TreeNode | None, place: _Place) -> None:
        found, scope = _TYPE.search(node.arcana), _type_of(node.arcana)
        if _ends(node) and " static " not in node.arcana:
            self._add(place, Unwritten.END, "", scope)
        if found is not None and around is not None and around.kind == "CXXForRange" and found["written"].rstrip()[-1:] not in ("&", "*"):
            self._add(place, Unwritten.MAKE, "", scope)
        if node.kind == "Decomposition":
            self._add(place, Unwritten.BESIDE, "get", scope)

    def _of_delete(self, node: TreeNode, place: _Place) -> None:
        value = next((child for child in node.children if child.role == "expression"), None)
        scope = _type_of(value.arcana) if value is not None else ""
        self._add(place, Unwritten.DELETE, "", scope)
        self._allocate(node, place, scope)

    def _allocate(self, node: TreeNode, place: _Place, scope: str) -> None:
        if (found := _REFERRED.search(node.arcana)) is not None:
            self._add(place, Unwritten.CALL, found["name"], scope, self._own.get(found["address"], -1))

    def _of_call(self, node: TreeNode, place: _Place) -> None:
        callee = _callee(node)
        name, address, scope = _called(callee, node) if callee is not None else ("", "", "")
        if callee is None or not name:
            if node.children[0].kind != "CXXPseudoDestructor" and (callee is None or not self._is_written(callee, callee.detail)):
                self.called.append((place.line, place.col, place.end_col, self._in(place)))
            return
        own = self._own.get(address, -1)
        if self._is_written(callee, name) and (own < 0 or _plain(self._syntax.symbols[own].name) == _plain(name)):
            return
        if callee.range is not None:
            start = callee.range.start
            place = _Place(start.line, start.character, place.end_col if place.line == start.line else start.character)
        self._add(place, Unwritten.CALL, name, scope, own)

    def _is_written(self, callee: TreeNode, name: str) -> bool:
        """Whether the text shows a call of the name there, told of the very function."""
        if callee.range is None:
            return False
        start, end, tokens = callee.range.start, callee.range.end, self._syntax.tokens
        first = bisect_left(self._called_at, (start.line, start.character))
        return any(
            (line, col) <= (end.line, end.character) and written == name and self._function in (-1, tokens.enclosing[token])
            for line, col, written, token in islice(self._called, first, first + _MOST_LOOKED_AT)
        )

    def _in(self, place: _Place) -> int:
        """The symbol around a place: the compiler knows where a function ends, also where the text is not understood."""
        return self._function if self._function >= 0 else self._around.of(place.line, place.col)

    def _of_loop(self, node: TreeNode, place: _Place) -> None:
        values = [child for child in node.children if child.role == "expression"]
        if values:
            scope = _type_of(values[0].arcana)
            for name in ("begin", "end"):
                self._add(place, Unwritten.BESIDE, name, scope)

    def _of_attribute(self, node: TreeNode, place: _Place) -> None:
        """A function that runs where a variable ends, or that another name stands for."""
        found = _REFERRED.search(node.arcana) if node.kind == "Cleanup" else _ALIASED.search(node.arcana) if node.kind == "Alias" else None
        if found is not None:
            self._add(place, Unwritten.CALL, found["name"], "", self._own.get(found.groupdict().get("address", ""), -1))

    def _of_value(self, node: TreeNode, place: _Place) -> None:
        found = _REFERRED.search(node.arcana)
        if found is None or found["kind"] == "NonTypeTemplateParm" or _plain(self._named.get(place[:2], "")) == _plain(found["name"]):
            return
        if not found["name"].startswith("operator"):
            self._add(place, Unwritten.VALUE, found["name"], "", self._own.get(found["address"], -1))


def _callee(node: TreeNode) -> TreeNode | None:
    """What names the function that a call runs."""
    found = node.children[0]
    for _ in range(6):
        if found.kind in ("DeclRef", "Member"):
            return found
        inner = [child for child in found.children if child.role == "expression"]
        if (found.kind not in _THROUGH and found.kind != "UnaryOperator") or not inner:
            return None
        found = inner[-1]
    return None


def _ends(node: TreeNode) -> bool:
    """Whether an object ends with a variable."""
    return node.arcana.rstrip().endswith(" destroyed")


def _called(callee: TreeNode, call: TreeNode) -> tuple[str, str, str]:
    """Name, address and type of what a call names; no name where that is no function."""
    if callee.kind == "DeclRef":
        found = _REFERRED.search(callee.arcana)
        if found is None:
            return "", "", ""
        is_of_first = found["kind"] == "CXXMethod" and call.kind == "CXXOperatorCall" and len(call.children) > 1
        return found["name"], found["address"], _type_of(call.children[1].arcana) if is_of_first else ""
    found = _MEMBER.search(callee.arcana)
    if found is None:
        return "", "", ""
    value = next((child for child in callee.children if child.role == "expression"), None)
    return found["name"], found["address"], _type_of(value.arcana) if value is not None else ""


def _type_of(arcana: str) -> str:
    """The type that a node's line names, as a path with dots: without qualifiers, arguments, stars; empty where it is no name."""
    found = _TYPE.search(arcana)
    if found is None:
        return ""
    text = _without_arguments(_QUALIFIERS.sub("", found["meant"] or found["written"])).strip(" *&")
    parts = [part.strip() for part in text.split("::") if part.strip()]
    return ".".join(parts) if parts and all(re.fullmatch(r"\w+", part) for part in parts) else ""


def _without_arguments(text: str) -> str:
    out, depth = [], 0
    for char in text:
        depth += char == "<"
        if not depth:
            out.append(char)
        depth -= char == ">"
    return "".join(out)


def _name_of(arcana: str) -> str:
    """Of a constructor or a destructor, which have no `detail`."""
    found = re.search(r"> (?:line:\d+:\d+|col:\d+)(?: (?:used|referenced|constexpr|invalid))* (~?\w+)", arcana)
    return found[1] if found else ""


def _plain(name: str) -> str:
    return name.replace(" ", "")


def _all(root: TreeNode) -> Iterator[TreeNode]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


class _Spans:
    """Tells the innermost symbol that statements stand in."""

    def __init__(self, symbols: Sequence[Definition]) -> None:
        found = [
            (span, ordinal)
            for ordinal, symbol in enumerate(symbols)
            if ordinal and symbol.kind in SCOPE_KINDS and symbol.kind != SymbolKind.PROPERTY and SymbolFlag.PARAMETER not in symbol.flags
            for span in (symbol.span, *symbol.extra_ranges)
        ]
        self._spans: list[tuple[Span, int]] = sorted(
            found, key=lambda item: (item[0].line, item[0].col, -item[0].end_line, -item[0].end_col)
        )
        self._starts = [(span.line, span.col) for span, _ in self._spans]

    def of(self, line: int, col: int) -> int:
        """0 for the document itself."""
        at = bisect_right(self._starts, (line, col)) - 1
        while at >= 0:
            span, ordinal = self._spans[at]
            if (line, col) < (span.end_line, span.end_col):
                return ordinal
            at -= 1
        return 0
