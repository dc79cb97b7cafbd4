"""What a syntax adapter returns. Plain columns, because the crawl handles a million identifiers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from indexer.model import NameUse, SymbolFlag, SymbolKind

ASK = -1
"""Value of `Tokens.symbol` where only a language server knows what the identifier means."""

BUILTIN = -2
"""Value of `Tokens.symbol` for a name that the language itself provides: asked once per server, not where it stands."""


class Span(NamedTuple):
    """Half-open, 0-based; columns in UTF-16 code units."""

    line: int
    col: int
    end_line: int
    end_col: int


@dataclass(slots=True, kw_only=True)
class Definition:
    """A named entity that this file defines.

    One per scope and name: overloads, a property and its setter, and the two arms of an `if` are one symbol with several
    definition tokens. `container` is an ordinal in `Syntax.symbols` (the module itself is ordinal 0, container -1).
    `extra_ranges` are the whole ranges of further definitions of the same symbol.
    `qualifier` names the types or namespaces that it is written to be a member of, where they are not its container here:
    `("Router",)` of Go's `func (r *Router) Handle()`, `("leveldb", "DB")` of C++'s `leveldb::DB::Get() {…}`; see `Syntax.owners`.
    """

    name: str
    kind: SymbolKind
    container: int
    span: Span
    selection: Span
    flags: SymbolFlag
    signature: str = ""
    documentation: str = ""
    extra_ranges: list[Span] = field(default_factory=list[Span])
    qualifier: tuple[str, ...] = ()


class NamedString(NamedTuple):
    """A string, or a comment that a tool reads, which may name a symbol; see `indexer.store.facts.STRINGS`.

    `line`, `col` and `end_col` are those of `name` as it stands in the text. `owner` and `enclosing` are ordinals in `Syntax.symbols`.
    """

    line: int
    col: int
    end_col: int
    name: str
    use: NameUse
    roles: int
    enclosing: int
    owner: int
    of_line: int
    of_col: int


class Tokens:
    """Identifier occurrences in document order, as parallel columns.

    `symbol[i]` is an ordinal in `Syntax.symbols` where the language's scope rules leave no doubt, else `ASK` or `BUILTIN`.
    `same_as[i]` is an earlier or later token whose server answer holds for this one too, else -1.
    `ask[i]` is true where the crawl must put the question (also at call sites of variables, whose callee only types tell).
    `callee_as[i]` is a token at whose place the server's answer also tells what is really called (the name is a variable or an
    import, which may hold a function), or -1.
    `up[i]` says how many packages above the answer of `same_as[i]` this token lies (`a` in `import a.b.c` is 2 above `c`).
    `enclosing[i]` is the innermost function, method, class or module around it, as an ordinal.
    """

    __slots__ = ("ask", "callee_as", "col", "enclosing", "end_col", "line", "name", "roles", "same_as", "symbol", "up")

    def __init__(self) -> None:
        self.line: list[int] = []
        self.col: list[int] = []
        self.end_col: list[int] = []
        self.name: list[str] = []
        self.roles: list[int] = []
        self.enclosing: list[int] = []
        self.symbol: list[int] = []
        self.same_as: list[int] = []
        self.ask: list[bool] = []
        self.up: list[int] = []
        self.callee_as: list[int] = []

    def __len__(self) -> int:
        return len(self.line)


class MacroWord(NamedTuple):
    """A word in the text of a macro, which no server is asked about. `enclosing`: an ordinal in `Syntax.symbols`."""

    line: int
    col: int
    end_col: int
    name: str
    is_called: bool
    enclosing: int


class Receivers:
    """Values on which the text operates without naming the member that may run, in document order, as parallel columns.

    `line`, `col`, `end_col`: the place of the operation. `operation`, `basis`: numbers of `indexer.model.Operation` and `Basis`.
    `at_line[i]`, `at_col[i]`: where the value is named, and where its type is asked for if `ask[i]`.
    `own[i]`: the symbol of its type, or -1. `same_as[i]`: the receiver whose answer holds for this one too, or -1.
    `silent[i]`: number of the basis where the server has no answer.

    Of basis SIGN, the server is asked for the definition of what stands at the place: the member itself.
    """

    __slots__ = ("ask", "at_col", "at_line", "basis", "col", "enclosing", "end_col", "line", "operation", "own", "same_as", "silent")

    def __init__(self) -> None:
        self.line: list[int] = []
        self.col: list[int] = []
        self.end_col: list[int] = []
        self.operation: list[int] = []
        self.enclosing: list[int] = []
        self.basis: list[int] = []
        self.at_line: list[int] = []
        self.at_col: list[int] = []
        self.own: list[int] = []
        self.ask: list[bool] = []
        self.same_as: list[int] = []
        self.silent: list[int] = []

    def __len__(self) -> int:
        return len(self.line)


class Value(NamedTuple):
    """One possibility of what a function gives back or a variable is set to; `line`, `col`: where it is named."""

    symbol: int
    basis: int
    line: int
    col: int
    own: int


class Flows:
    """Where values go, as parallel columns; see `indexer.store.facts.FLOWS`."""

    __slots__ = ("col", "into", "key", "kind", "line", "of", "part")

    def __init__(self) -> None:
        self.kind: list[int] = []
        self.into: list[int] = []
        self.part: list[int] = []
        self.of: list[int] = []
        self.line: list[int] = []
        self.col: list[int] = []
        self.key: list[str] = []

    def __len__(self) -> int:
        return len(self.kind)

    def drop_last(self) -> None:
        for name in self.__slots__:
            getattr(self, name).pop()


@dataclass(slots=True, kw_only=True)
class Syntax:
    """All that one file says by itself.

    `bases` are (class ordinal, token) pairs: the token names a base in the class's own list.
    `members` are (symbol, token) pairs: the token defines the symbol unless the server says that it is defined elsewhere: an
    assignment through `self` that a base class may declare, a C prototype whose body is in another file.
    `owners` are (symbol, token) pairs: the symbol is a member of what the token names: a receiver's type, a qualifier.
    `through_self` are (token, class ordinal, by super) triples: `x` in `self.x`, `cls.x` or `super().x`.
    `imports` are (token, dotted module) pairs, for counting what could not be resolved.
    `strings` may name symbols, by position.
    `macro_words` stand in texts of macros; what these run where they are used, a compiler tells.
    `receivers` are values that the text operates on; `values` what functions give and variables hold.
    `read_of` are (token, token) pairs: the attribute is read of what the other names.
    `seconds` are tokens that mean a variable and read a property of the same name, of which the server is asked.
    `in_texts` are tokens in texts that a macro formats, of which a server may know nothing though it is ready.
    `flows` are where values go: what is bound, handed over, given back, stored.
    `accessors` are (field, operation, line, column): at the place stands the name of the function that runs where the field is used so.
    `error_lines` are lines at which the parser had to skip text; empty for a well-formed file.
    `discovers`: an identifier that the server says is its own definition becomes a symbol, though the text did not show it.
    `adopts`: the text shows no symbols, so the server's outline becomes them.
    `depth`: of the tree, where that is worth telling (`indexer.syntax.depth`); else 0.
    """

    symbols: list[Definition]
    tokens: Tokens
    bases: list[tuple[int, int]]
    members: list[tuple[int, int]]
    through_self: list[tuple[int, int, bool]]
    imports: list[tuple[int, str]]
    line_count: int
    error_lines: list[int]
    owners: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    strings: list[NamedString] = field(default_factory=list[NamedString])
    macro_words: list[MacroWord] = field(default_factory=list[MacroWord])
    receivers: Receivers = field(default_factory=Receivers)
    seconds: frozenset[int] = frozenset()
    in_texts: frozenset[int] = frozenset()
    read_of: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    values: list[Value] = field(default_factory=list[Value])
    accessors: list[tuple[int, int, int, int]] = field(default_factory=list[tuple[int, int, int, int]])
    flows: Flows = field(default_factory=Flows)
    discovers: bool = False
    adopts: bool = False
    depth: int = 0
