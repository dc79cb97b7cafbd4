"""From captures to a `Syntax`: every identifier with its roles, what surrounds it, and what is certain about it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import tree_sitter

from indexer.languages import Lookup
from indexer.model import Role, SymbolFlag, SymbolKind
from indexer.syntax import ecmascript
from indexer.syntax.c_tokens import TYPES_OF_C, words_of_macro
from indexer.syntax.depth import depth_of
from indexer.syntax.ecmascript.operands import Operands
from indexer.syntax.model import ASK, Definition, MacroWord, Span, Syntax, Tokens
from indexer.syntax.tree.alike import alike
from indexer.syntax.tree.binary import add_sides
from indexer.syntax.tree.damage import deep_offset
from indexer.syntax.tree.formats import named_in_formats
from indexer.syntax.tree.grammars import LoadedGrammar
from indexer.syntax.tree.imports import named_imports
from indexer.syntax.tree.lookup import certain, of_module
from indexer.syntax.tree.markup import ELSEWHERE, VALUE, markup_in
from indexer.syntax.tree.modules import ModuleNames
from indexer.syntax.tree.operations import receivers
from indexer.syntax.tree.outline import Sweep
from indexer.syntax.tree.parsing import parse, valid_utf8
from indexer.syntax.tree.scopes import (
    CALLABLES,
    CLASS_LIKE,
    FUNCTION,
    VARIABLES,
    Entry,
    Group,
    Scope,
    plain_name,
)
from indexer.syntax.tree.strings import enclosing_at, named_strings
from indexer.syntax.tree.symbols import Symbols, enclosing_ordinal, type_of_this
from indexer.syntax.tree.values import Values
from indexer.text import OffsetMap

MAX_ERRORS = 100
MAX_MACRO_TEXT = 10_000
MIN_DEPTH = 1_000
"""Nodes at least this deep are read in a file of any size."""
_DEPTH_TIMES_BYTES = 1_500_000_000
"""A query takes time in proportion to the depth of a node, so a text made to be deep is read down to here only."""

READ, WRITE, DEFINITION = int(Role.READ), int(Role.WRITE), int(Role.DEFINITION)
CALL, IMPORT, ANNOTATION = int(Role.CALL), int(Role.IMPORT), int(Role.ANNOTATION)
ARGUMENT, DELETE, CONFINED = int(Role.ARGUMENT), int(Role.DELETE), int(Role.CONFINED)
KEYWORD, SUPERTYPE = int(Role.KEYWORD), int(Role.SUPERTYPE)

_ADDED = {
    "argument": ARGUMENT,
    "base": SUPERTYPE,
    "base.embedded": SUPERTYPE,
    "base.trait": SUPERTYPE,
    "call": CALL,
    "delete": DELETE,
    "decorator": int(Role.DECORATOR),
    "import": IMPORT,
    "confined": CONFINED,
    "keyword": KEYWORD,
    "type": ANNOTATION,
    "write": WRITE,
}
_NAMES = frozenset({"token", "token.value", "drop", "unsure", "update"})
_CHANGES = WRITE | DELETE
_READLESS = IMPORT | KEYWORD | WRITE | DELETE
_OF_VALUES = ARGUMENT | CONFINED


class Adapter:
    """One file on its way to a `Syntax`."""

    def __init__(
        self, grammar: LoadedGrammar, path: str, source: bytes, module: str, *, definitions_only: bool, lookups: Sequence[Lookup] = ()
    ) -> None:
        source = valid_utf8(source)
        self.lookups = lookups
        self.definitions_only = definitions_only
        self.source = source
        self.rules = grammar.rules
        self.offsets = OffsetMap(source)
        root, errors, self.hidden, self.blanks = parse(grammar, source)
        self.error_lines = sorted({self.offsets.line(offset) for offset in errors[:MAX_ERRORS]})
        query = grammar.definitions if definitions_only else grammar.full
        cursor = tree_sitter.QueryCursor(query)
        deepest = max(MIN_DEPTH, _DEPTH_TIMES_BYTES // max(1, len(source)))
        cursor.set_max_start_depth(deepest)
        unread = deep_offset(root, deepest)
        if unread >= 0:  # text that is passed over is said to be
            self.error_lines = sorted({*self.error_lines, self.offsets.line(unread)})
        self.captures: dict[str, list[Any]] = cursor.captures(root)
        add_sides(self.captures)
        self._add_blanked(query)
        self.line_count = source.count(b"\n") + (0 if source.endswith(b"\n") or not source else 1)
        self.module = Definition(
            name=module,
            kind=SymbolKind.MODULE,
            container=-1,
            span=Span(0, 0, max(self.line_count, len(self.offsets.line_starts) - 1), 0),
            selection=Span(0, 0, 0, 0),
            flags=SymbolFlag.EXPORTED,
        )
        self.root = root
        self.markup = markup_in(path, root, source)
        self.reading: set[int] = set()
        self.in_texts: set[int] = set()
        self.seconds = {node.start_byte for node in self.captures.get("second", ())}
        self.sweep = Sweep(self.captures, size=len(source), inherits=self.rules.inherits)
        self.starts = [start for start, _, _ in self.sweep.changes]
        self.symbols = Symbols(self.sweep, source, self.offsets, self.rules, path)
        self._names: Counter[str] | None = None

    def _add_blanked(self, query: tree_sitter.Query) -> None:
        """What stands in branches that the tree passes over is read as it is in the tree of the whole text: names, no definitions."""
        if self.blanks is None:
            return
        cursor = tree_sitter.QueryCursor(query)
        for start, end in self.blanks.places:
            cursor.set_byte_range(start, end)
            for capture, nodes in cursor.captures(self.blanks.whole).items():
                if capture in _ADDED or capture in _NAMES:
                    self.captures.setdefault(capture, []).extend(one for one in nodes if start <= one.start_byte and one.end_byte <= end)

    def syntax(self) -> Syntax:
        self.symbols.group()
        self.symbols.order()
        definitions = self.symbols.definitions(self.module, self.captures)
        result = Syntax(
            symbols=definitions,
            tokens=Tokens(),
            bases=[],
            members=[],
            through_self=[],
            imports=[],
            line_count=self.line_count,
            error_lines=self.error_lines,
            discovers=True,
            depth=depth_of(self.root),
        )
        at = self._tokens(result.tokens, result.members)
        for entry in self.sweep.entries:
            group = entry.group
            if group is not None and entry.bases and entry.kind in CLASS_LIKE:
                result.bases += [(group.ordinal, at[start]) for start in entry.bases if start in at]
        result.bases += [(group.ordinal, at[start]) for group, start in self.symbols.bases if start in at]
        result.bases = sorted(set(result.bases))
        result.members.sort()
        result.seconds = frozenset(self.reading)
        result.in_texts = frozenset(at[start] for start in self.in_texts if start in at)
        result.owners = sorted({(group.ordinal, at[start]) for group, start in self.symbols.owners if start in at})
        result.imports = named_imports(self.captures, self.source, at, self.rules.path_separator)
        known: dict[Entry | None, int] = {None: 0}
        around = enclosing_at(self.sweep.changes, lambda entry: enclosing_ordinal(entry, known))
        result.strings = named_strings(
            self.captures, self.lookups, self.offsets, around, lambda start: type_of_this(definitions, around(start))
        )
        result.macro_words = self._macro_words(around)
        if self.rules.signs:
            values = Values(self.root, self._declared, asks_at_end=self.rules.signs == "all")
            operands = None
            if self.rules.flow == "ecmascript":
                assigned, apart = self.captures.get("write", ()), self.captures.get("def.assign", ())
                operands = Operands(self.root, self._declared_once, assigned, apart)
            result.receivers = receivers(self.captures, values, self.offsets, around, self.rules.signs, operands)
        if self.rules.flow and not self.definitions_only:
            result.flows = ecmascript.read(self.root, self.offsets, definitions, around)
        self.sweep.release()
        return result

    def _macro_words(self, enclosing: Callable[[int], int]) -> list[MacroWord]:
        """What the texts of macros name, beside their parameters."""
        found: list[MacroWord] = []
        for node in self.captures.get("text_of_macro", ()):
            parameters = node.parent.child_by_field_name("parameters")
            own = set() if parameters is None else {child.text for child in parameters.named_children}
            for start, end in words_of_macro(node.text[:MAX_MACRO_TEXT]):
                name = node.text[start:end]
                if name in own:
                    continue
                line, col = self.offsets.position(node.start_byte + start)
                end_col = self.offsets.position(node.start_byte + end)[1]
                is_called = node.text[end : end + 1] == b"("
                text = name.decode("utf-8", "replace")
                found.append(MacroWord(line, col, end_col, text, is_called, enclosing(node.start_byte)))
        return sorted(found)

    # ---- tokens

    def _roles(self) -> dict[int, int]:
        roles: dict[int, int] = {}
        for capture, role in _ADDED.items():
            for node in self.captures.get(capture, ()):
                start = node.start_byte
                roles[start] = roles.get(start, 0) | role
        for start in self.sweep.writes:
            roles[start] = roles.get(start, 0) | WRITE
        for start, bits in roles.items():
            if bits & (CALL | SUPERTYPE):
                bits &= ~ANNOTATION
            if bits & IMPORT:
                bits &= ~(ANNOTATION | CALL)
            if not bits & _READLESS:
                bits |= READ
            roles[start] = bits
        unparsed = [(node.start_byte, node.end_byte) for node in self.captures.get("unparsed", ())]
        for start, end in unparsed + self.hidden:
            if self.source.startswith(b"(", end):
                roles[start] = READ | CALL
            elif self.source.startswith((b".", b"::"), end) and not self.source.startswith(b"..", end):
                roles[start] = READ | CONFINED
        for node in self.captures.get("value", ()):  # a type's name that makes a value: no annotation
            roles[node.start_byte] = roles.get(node.start_byte, READ) & ~ANNOTATION
        for node in self.captures.get("handed", ()):
            roles[node.start_byte] = READ | ARGUMENT
        for node in self.captures.get("update", ()):
            roles[node.start_byte] = READ | WRITE
        return roles

    def _tokens(self, tokens: Tokens, members: list[tuple[int, int]]) -> dict[int, int]:
        """Fills the columns; returns the token at each byte offset."""
        ends, lookable, values = self._named()
        starts = sorted(ends)
        for node in self.captures.get("drop.names", ()):
            for start in starts[bisect_left(starts, node.start_byte) : bisect_left(starts, node.end_byte)]:
                ends.pop(start, None)
        roles = self._token_roles(starts)
        if self.markup is not None:
            self.markup.call(roles, ends, lookable)
        get_role = roles.get
        placed = self._lay_out(starts, ends, tokens)
        uses = self._mean(placed, tokens, members, get_role, ends, lookable, values)
        at = {start: index for index, (start, _, _) in enumerate(placed)}
        self._share(tokens, at, uses)
        return at

    def _named(self) -> tuple[dict[int, int], set[int], frozenset[int]]:
        """Where identifiers begin and end; those that may be looked up in scopes; and of a module, those that name values."""
        captures, source = self.captures, self.source
        ends: dict[int, int] = {}
        lookable: set[int] = set()
        for entry in self.sweep.entries:
            if entry.group is not None:
                ends[entry.start] = entry.end
        for node in captures.get("token", ()):
            ends[node.start_byte] = node.end_byte
        for node in captures.get("token.value", ()):
            start = node.start_byte
            ends[start] = node.end_byte
            lookable.add(start)
        for start, end in named_in_formats(captures.get("format", ())):
            ends[start] = end
            lookable.add(start)
            self.in_texts.add(start)
        if not self.definitions_only:
            for start, end in self.hidden:
                ends.setdefault(start, end)
        for capture in ("drop", "component"):
            for node in captures.get(capture, ()):
                start = node.start_byte
                if capture == "drop" or source[start : start + 1].islower():
                    ends.pop(start, None)
        if self.markup is not None:
            bound = {entry.name for entry in self.sweep.entries if self.markup.is_markup(entry.start)}
            for start in self.markup.values({start: ends[start] for start in lookable if start in ends}, bound):
                del ends[start]
        if self.rules.macros:  # `unsigned(1)` is a call of a name to the grammar
            for start in [start for start, end in ends.items() if source[start:end] in TYPES_OF_C]:
                del ends[start]
        values = frozenset(lookable) if self.rules.exports == "export" else frozenset[int]()
        for capture in ("ask", "keyword"):
            lookable.difference_update(node.start_byte for node in captures.get(capture, ()))
        return ends, lookable, values

    def _token_roles(self, starts: list[int]) -> dict[int, int]:
        roles = self._roles()
        for node in self.captures.get("component", ()):
            roles[node.start_byte] = READ | CALL
        for node in self.captures.get("import.names", ()):
            for start in starts[bisect_left(starts, node.start_byte) : bisect_left(starts, node.end_byte)]:
                roles[start] = IMPORT
        return roles

    def _lay_out(self, starts: list[int], ends: dict[int, int], tokens: Tokens) -> list[tuple[int, int, Scope | None]]:
        """Positions and names of all tokens; returns where each begins, the symbol around it, and its scope."""
        source, blank = self.source, self.rules.blank
        is_ascii = self.offsets.is_identity
        text = source.decode("latin-1") if is_ascii else ""
        units, line_starts, changes = self.offsets.units, self.offsets.line_starts, self.sweep.changes
        last_line, last_change, beyond = len(line_starts) - 1, len(changes) - 1, len(source) + 2
        change, enclosing = 0, 0
        _, around, scope = changes[0]
        line, line_start, line_units = 0, 0, 0
        next_line = line_starts[1] if last_line else beyond
        next_change = changes[1][0] if last_change else beyond
        is_plain = is_ascii or source[:next_line].isascii()
        lines, cols, end_cols, names = tokens.line, tokens.col, tokens.end_col, tokens.name
        enclosing_of: dict[Entry | None, int] = {None: 0}
        placed: list[tuple[int, int, Scope | None]] = []
        for start in starts:
            end = ends.get(start, start)
            name = text[start:end] if is_ascii else source[start:end].decode("utf-8", "replace")
            if start == end or name == blank or name[0].isdigit() or "\n" in name:
                continue
            if " " in name:
                name = plain_name(name)
            elif name[0] == '"':  # the path of an import
                name = name.strip('"').rpartition("/")[2]
            if start >= next_line:
                while line < last_line and line_starts[line + 1] <= start:
                    line += 1
                line_start = line_starts[line]
                next_line = line_starts[line + 1] if line < last_line else beyond
                is_plain = is_ascii or source[line_start:next_line].isascii()
                line_units = line_start if is_plain else units(line_start)
            if start >= next_change:
                while change < last_change and changes[change + 1][0] <= start:
                    change += 1
                _, around, scope = changes[change]
                next_change = changes[change + 1][0] if change < last_change else beyond
                enclosing = enclosing_of[around] if around in enclosing_of else enclosing_ordinal(around, enclosing_of)
            lines.append(line)
            if is_plain:
                cols.append(start - line_start)
                end_cols.append(end - line_start)
            else:
                column = units(start) - line_units
                cols.append(column)
                end_cols.append(column + units(end) - units(start))
            names.append(name)
            placed.append((start, enclosing, scope))
        return placed

    def _mean(
        self,
        placed: list[tuple[int, int, Scope | None]],
        tokens: Tokens,
        members: list[tuple[int, int]],
        get_role: Callable[[int, int], int],
        ends: dict[int, int],
        lookable: set[int],
        values: frozenset[int],
    ) -> list[tuple[int, int]]:
        """What each token means by this file alone, and whether a server is asked; returns tokens that share the answer at a place."""
        captures, source, names = self.captures, self.source, tokens.name
        defined = {entry.start: entry for entry in self.sweep.entries if entry.group is not None}
        all_roles, enclosings, meant, asked, callees = tokens.roles, tokens.enclosing, tokens.symbol, tokens.ask, tokens.callee_as
        module = ModuleNames(self.root, captures, self.sweep.module) if self.rules.exports == "export" else None
        lexical = lookable.union(node.start_byte for node in captures.get("lexical", ()))
        type_members = {node.start_byte for node in captures.get("member", ())}
        lexical -= type_members
        uses: list[tuple[int, int]] = []
        unknown: list[int] = []  # of which the server would say what the module binds, which they do not mean
        namespace, namespace_end = -1, 0  # the import that the last token means, where it is `import * as name`; and its end
        parts: dict[tuple[int, str, int, bool], int] = {}
        found: tuple[Group, bool] | None
        for index, (start, enclosing, scope) in enumerate(placed):
            entry = defined.get(start)
            if entry is not None:
                self._definition(entry, index, tokens, members, enclosing)
                continue
            name, bits = names[index], get_role(start, READ)
            all_roles.append(bits)
            enclosings.append(enclosing)
            holder, namespace = namespace, -1
            if scope is not None and start in lookable and (found := self.look_up(name, start, scope)) is not None:
                group, sure_callee = found
                call = bits & CALL and not sure_callee
                if bits & CONFINED and group.entries[0].kind in VARIABLES:  # nobody asks where its value goes
                    all_roles[-1] = bits & ~CONFINED
            elif start in self.in_texts and (group := of_module(name, scope)) is not None:
                call = 0
            else:
                group, call = None, 0
                member = self.markup.meaning(name, start) if self.markup is not None and start in lexical else None
                if member is not None and member in defined:
                    group = defined[member].group
                elif member is not None:
                    unknown.append(index)
                    if member not in (ELSEWHERE, VALUE):
                        uses.append((index, member))
                elif module is not None and scope is not None and start in lexical and not bits & IMPORT:
                    is_type = start not in values
                    imported = module.imported(name, scope, is_type=is_type)
                    if imported >= 0:
                        uses.append((index, imported))
                        # `instanceof` also leads to what decides it, which is nobody else's answer.
                        if name in module.namespaces and not source.endswith(b"instanceof ", 0, start):
                            namespace, namespace_end = imported, ends.get(start, start)
                    else:
                        group = module.meaning(name, scope, is_type=is_type)
                        call = bits & CALL and group is not None and group.entries[0].kind in VARIABLES
                elif holder >= 0 and not bits & _CHANGES and source[namespace_end:start].strip() == b".":
                    first = parts.setdefault((holder, name, bits & ~_OF_VALUES, start in type_members), start)
                    if first != start:
                        uses.append((index, first))
            if group is None:
                meant.append(ASK)
                asked.append(True)
                callees.append(-1)
            else:
                is_second = start in self.seconds
                if is_second:
                    self.reading.add(index)
                meant.append(group.ordinal)
                asked.append(bool(call) or is_second)
                callees.append(index if call else -1)
        for index in unknown:
            asked[index] = False
        return [*uses, *alike(tokens, placed, defined)] if self.rules.alike else uses

    def _share(self, tokens: Tokens, at: dict[int, int], uses: list[tuple[int, int]]) -> None:
        """One question for all tokens that mean what stands at one place."""
        tokens.same_as = [-1] * len(tokens.line)
        for node in self.captures.get("alias", ()):  # an import's own name for what its path names
            path = node.parent.child_by_field_name("path")
            if path is not None and node.start_byte in at:
                uses.append((at[node.start_byte], path.start_byte))
        for index, start in uses:
            if start in at:
                tokens.same_as[index] = at[start]
                tokens.ask[index] = False
        tokens.up = [0] * len(tokens.line)

    def _definition(self, entry: Entry, index: int, tokens: Tokens, members: list[tuple[int, int]], enclosing: int) -> None:
        group = entry.group
        assert group is not None
        roles = READ | CALL if entry.invoked else DEFINITION
        kind = entry.draft.kind
        if kind == "anonymous":  # its value is made where it stands
            roles |= CALL
        if (
            kind in ("variable", "var", "global", "constant", "condition")
            and entry.kind not in CALLABLES
            and (entry.draft.init or len(entry.draft.entries) > 1)
        ):
            roles |= WRITE
        # The body in this file may be that of another overload.
        declared = entry.declared and (self.rules.overloads or all(other.declared for other in group.entries))
        tokens.roles.append(roles)
        if kind == "parameter" and entry.scope.kind == FUNCTION:
            owner = entry.scope.owner
            if owner is not None and owner.group is not None:
                enclosing = owner.group.ordinal
        tokens.enclosing.append(enclosing)
        tokens.symbol.append(ASK if declared or entry.invoked else group.ordinal)
        tokens.ask.append(declared or entry.invoked or entry.start in self.seconds)
        tokens.callee_as.append(-1)
        if entry.start in self.seconds:
            self.reading.add(index)
        if declared:
            members.append((group.ordinal, index))

    def _declared(self, name: str, start: int) -> int:
        """Where the local variable is declared that a name certainly means; -1 where it means nothing of the kind."""
        place = bisect_right(self.starts, start) - 1
        scope = self.sweep.changes[max(0, place)][2]
        found = self.look_up(name, start, scope) if scope is not None else None
        return -1 if found is None or found[0].entries[0].kind not in VARIABLES else found[0].entries[0].start

    def _declared_once(self, name: str, start: int) -> int:
        """As `_declared`, also of a module's own constant, where nothing else in the file has its name."""
        found = self._declared(name, start)
        group = None if found >= 0 else self.sweep.module.names.get(name)
        if group is None or len(group.entries) > 1 or group.entries[0].draft.kind != "constant":
            return found
        if self._names is None:
            self._names = Counter(entry.name for entry in self.sweep.entries)
        return group.entries[0].start if self._names[name] == 1 else -1

    def look_up(self, name: str, start: int, scope: Scope) -> tuple[Group, bool] | None:
        """See `lookup.certain`; what a macro may stand for is nothing certain."""
        return None if name in self.symbols.macros else certain(name, start, scope, self.rules)
