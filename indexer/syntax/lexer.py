"""Any other language: identifiers by Pygments' lexer, and nothing else.

No scopes, no definitions: a server's documentSymbol supplies symbols, and each identifier is asked. A language that Pygments
does not know either has no tokens. Of a text that no parser may read, `parse_words` takes every word for an identifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Name
from pygments.util import ClassNotFound

from indexer.model import Role, SymbolFlag, SymbolKind
from indexer.syntax.model import ASK, Definition, Span, Syntax, Tokens

_READ, _CALL = int(Role.READ), int(Role.READ | Role.CALL)
_LOOK_AHEAD = 200
_WORD = re.compile(r"[^\W\d]\w*(?:-\w+)*[?!]?")
"""What a lexer calls a name may carry more: `$x`, `math.floor`, `@field`; hyphens and marks belong to names where a lexer says so."""


def parse(language: str, path: str, source: bytes, module: str, *, definitions_only: bool = False) -> Syntax:
    """The identifiers of a file, each to be asked; `symbols` is the module alone.

    Args:
        language: LSP language id, which Pygments may know by that name; else `path` decides.
        source: the file's bytes, UTF-8.
        definitions_only: no tokens at all, since no definition is known.
    """
    lexer = None if definitions_only else _lexer(language, path)
    text = source.decode("utf-8", "replace")
    return _syntax(source, module, _tokens(text, _names(lexer, text) if lexer is not None else ()))


def parse_words(source: bytes, module: str) -> Syntax:
    """Every word of a text, in comments and strings too, in a time that grows with its size whatever it holds."""
    text = source.decode("utf-8", "replace")
    return _syntax(source, module, _tokens(text, ((found.start(), found.group()) for found in _WORD.finditer(text))))


def _syntax(source: bytes, module: str, tokens: Tokens) -> Syntax:
    line_count = source.count(b"\n") + (0 if source.endswith(b"\n") or not source else 1)
    symbol = Definition(
        name=module,
        kind=SymbolKind.MODULE,
        container=-1,
        span=Span(0, 0, line_count, 0),
        selection=Span(0, 0, 0, 0),
        flags=SymbolFlag.EXPORTED,
    )
    return Syntax(
        symbols=[symbol],
        tokens=tokens,
        bases=[],
        members=[],
        through_self=[],
        imports=[],
        line_count=line_count,
        error_lines=[],
        discovers=True,
        adopts=True,
    )


def _lexer(language: str, path: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        pass
    try:
        return get_lexer_for_filename(path.rsplit("/", 1)[-1])
    except ClassNotFound:
        return None


def _names(lexer: Lexer, text: str) -> Iterator[tuple[int, str]]:
    """Where what the lexer calls a name begins, and what it is."""
    for at, kind, value in lexer.get_tokens_unprocessed(text):  # as it stands: `get_tokens` would change line ends
        if kind in Name and kind not in Name.Builtin.Pseudo:
            for word in _WORD.finditer(value):
                yield at + word.start(), word.group()


def _tokens(text: str, names: Iterable[tuple[int, str]]) -> Tokens:
    tokens = Tokens()
    line, units_at, units = 0, 0, 0  # UTF-16 units of the line up to a place in it
    for start, name in names:
        if start < units_at:  # a lexer for two languages at once may go back
            continue
        newlines = text.count("\n", units_at, start)
        if newlines:
            line += newlines
            units_at, units = text.rindex("\n", units_at, start) + 1, 0
        units += _units(text[units_at:start])
        units_at = start
        tokens.line.append(line)
        tokens.col.append(units)
        tokens.end_col.append(units + _units(name))
        tokens.name.append(name)
        end = start + len(name)
        after = text[end : end + _LOOK_AHEAD].lstrip()
        tokens.roles.append(_CALL if after.startswith("(") else _READ)
    count = len(tokens)
    tokens.enclosing = [0] * count
    tokens.symbol = [ASK] * count
    tokens.same_as = [-1] * count
    tokens.ask = [True] * count
    tokens.up = [0] * count
    tokens.callee_as = [-1] * count
    return tokens


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
