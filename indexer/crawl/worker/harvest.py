"""A document's syntax and a server's answers, turned into the rows of its shard. Pure: no server, no file, no clock.

`Answers` collects decoded results while a document is crawled; `harvest` joins them with the `Syntax` once it is complete.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from indexer import monikers
from indexer.crawl import methods
from indexer.crawl.units import PlannedDocument
from indexer.crawl.worker import nameless, own_names, unparsed, unwritten
from indexer.crawl.worker.adoption import adopt_kinds, adopt_symbols, discover
from indexer.languages import record_of
from indexer.lsp.decode import Diagnostic, DocumentSymbol, Range, Target
from indexer.model import (
    CALLABLE_KINDS,
    QUESTIONS_CUT,
    TREE_KNOWN,
    Basis,
    CoverageStatus,
    Evidence,
    LossReason,
    Operation,
    Role,
    Severity,
    SkipReason,
    SymbolFlag,
    SymbolKind,
)
from indexer.store.facts import AT_PLACE, DocumentFacts
from indexer.syntax.model import BUILTIN, Syntax, Tokens

Place = tuple[str, int, int, int, int]
"""(uri, line, col, end_line, end_col) of a target."""

_DEFINES = int(Role.DEFINITION | Role.WRITE)

MAX_TARGETS = 40
"""Targets kept per identifier; more than a handful means that the server listed every class with such a member."""

TARGETS_CUT = "targets_cut"
"""Begins the reason of a document with such an identifier: its coverage is `done`, and something is missing all the same."""


@dataclass(slots=True)
class MethodTally:
    """How one method went on one document. `failed` holds a LossReason or an error text of the server, `skipped` why none was asked.

    `cut`: answers with more than MAX_TARGETS places, of which the rest is not kept. `unasked`: questions above the document's limit.
    """

    asked: int = 0
    answered: int = 0
    failed: str = ""
    skipped: str = ""
    unsupported: bool = False
    lost: int = 0
    cut: int = 0
    unasked: int = 0


@dataclass(slots=True)
class Answers:
    """Everything the server said about one document, by the ordinal of what was asked."""

    definitions: dict[int, list[Place]] = field(default_factory=dict[int, "list[Place]"])
    cross_checks: dict[int, list[Place]] = field(default_factory=dict[int, "list[Place]"])
    highlights: dict[int, set[tuple[int, int]]] = field(default_factory=dict[int, "set[tuple[int, int]]"])
    hovers: dict[int, str] = field(default_factory=dict[int, str])
    hovers_chars: int = 0
    supertypes: dict[int, list[Place]] = field(default_factory=dict[int, "list[Place]"])
    types: dict[int, list[Place]] = field(default_factory=dict[int, "list[Place]"])
    signs: dict[int, list[Place]] = field(default_factory=dict[int, "list[Place]"])
    symbols: list[DocumentSymbol] = field(default_factory=list[DocumentSymbol])
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    unwritten: unwritten.Found | None = None
    inactive: list[unparsed.Lines] = field(default_factory=list["unparsed.Lines"])
    tallies: dict[str, MethodTally] = field(default_factory=lambda: {method: MethodTally() for method in methods.METHODS})


def places(targets: list[Target] | Target | None) -> list[Place]:
    """Locations and links alike, in order of uri and position, without repeats."""
    if targets is None:
        return []
    found: set[Place] = set()
    for target in targets if isinstance(targets, list) else [targets]:
        where: Range | None = target.targetSelectionRange or target.range
        uri = target.targetUri or target.uri
        if where is not None and uri:
            start, end = where.start, where.end
            found.add((uri, start.line, start.character, end.line, end.character))
    return sorted(found)


class Surroundings(Protocol):
    """What a document's rows need to know of the world around it.

    `root`: the workspace's path. `builtins`: places of the language's own names.
    `portable`: a place's URI as a relative path, or as the key
    of an external file, whose symbol at that place will then be wanted.
    `package_of`: URI of the package so many levels above a module's file, empty where there is none.
    """

    @property
    def root(self) -> str: ...
    @property
    def builtins(self) -> Mapping[str, list[Place]] | None: ...
    def portable(self, uri: str, place: Place) -> str: ...
    def package_of(self, uri: str, up: int) -> str: ...


def packages_of(found: Sequence[Place], up: int, surroundings: Surroundings) -> list[Place]:
    """The packages that hold the modules in `found`, `up` levels above them."""
    uris = sorted({uri for uri in (surroundings.package_of(place[0], up) for place in found) if uri})
    return [(uri, 0, 0, 0, 0) for uri in uris]


def harvest(document: PlannedDocument, path: str, syntax: Syntax, answers: Answers, *, surroundings: Surroundings) -> DocumentFacts:
    """One document's row of the shard.

    Args:
        path: the document's own, absolute.
        surroundings: what the crawler knows beyond this document.
    """
    if syntax.adopts:
        adopt_symbols(syntax, answers.symbols)
    if record_of(document.language).is_included:
        unparsed.drop(syntax, answers.definitions, path, answers.inactive)
        unparsed.mark(syntax, unparsed.LeftOut(answers.inactive))
    if library_files := record_of(document.language).library_files:
        own_names.prefer(syntax, answers.definitions, path, library_files)
    if syntax.discovers:
        discover(syntax, answers.definitions, path)
    adopt_kinds(syntax, answers.symbols)
    if answers.unwritten is not None:
        for token in answers.unwritten.dependent:
            answers.definitions.pop(token, None)
    facts = DocumentFacts(document.header("", line_count=syntax.line_count, error_lines=syntax.error_lines))
    descriptors = module_prefix(document.language, document.module, document.place)
    add_symbols(facts, syntax, answers.hovers, monikers.package_prefix(document.language, *document.package) + descriptors, document.module)
    targets = Targets(facts, surroundings)
    _add_owners(facts, syntax, answers, targets)
    unresolved = _add_occurrences(facts, syntax, answers, targets, surroundings)
    _add_supertypes(facts, syntax, answers, targets, unresolved, surroundings)
    if any(diagnostic.severity == Severity.ERROR for diagnostic in answers.diagnostics):
        nameless.doubt(syntax)
    nameless.add(facts, syntax, answers.types, answers.signs, targets.number, surroundings, document.language, unresolved)
    if record_of(document.language).is_included:
        _add_unwritten(facts, syntax, answers.unwritten, constructs=record_of(document.language).constructs_by_type)
    _add_diagnostics(facts, answers.diagnostics, surroundings.root)
    _add_unresolved(facts, syntax, unresolved)
    _add_strings(facts, syntax)
    for name, column in facts.tables["flows"].items():
        column += getattr(syntax.flows, name)
    facts.header["status"] = _add_coverage(facts, syntax, answers)
    return facts


def module_prefix(language: str, module: str, place: str) -> str:
    """Descriptors of a file: Python's modules by name, all else by place, for only Python has one file to a module."""
    return monikers.module_descriptors(module) if record_of(language).is_module else monikers.place_descriptors(place)


def add_symbols(facts: DocumentFacts, syntax: Syntax, hovers: Mapping[int, str], prefix: str, module: str) -> None:
    """Symbols with their monikers; a moniker depends on package, module (`prefix`), scope and name only."""
    path = facts.header["path"]
    identities: list[str] = []
    qualified: list[str] = []
    seen: dict[str, int] = {}
    for ordinal, symbol in enumerate(syntax.symbols):
        if ordinal == 0:
            identity, dotted = prefix, module
        else:
            outer = identities[symbol.container] + "".join(f"{monikers.escape(name)}#" for name in symbol.qualifier)
            above = qualified[symbol.container] if symbol.container else record_of(facts.header["language"]).holder(module)
            dotted = ".".join((*([above] if above else ()), *symbol.qualifier, symbol.name))
            is_inside = outer.startswith("local ")
            if is_inside or (SymbolFlag.LOCAL in symbol.flags and SymbolFlag.PARAMETER not in symbol.flags):
                identity = monikers.local(path, outer, monikers.descriptor(symbol.name, symbol.kind, symbol.flags))
            else:
                identity = outer + monikers.descriptor(symbol.name, symbol.kind, symbol.flags)
            # A comprehension's or a lambda's variable may share scope symbol and name with another one: number them.
            count = seen.get(identity, 0)
            seen[identity] = count + 1
            if count:
                numbered = monikers.descriptor(f"{symbol.name}+{count}", symbol.kind, symbol.flags)
                if is_inside or SymbolFlag.LOCAL in symbol.flags:
                    identity = monikers.local(path, outer, numbered)
                elif symbol.kind in CALLABLE_KINDS:
                    identity = f"{outer}{monikers.escape(symbol.name)}(+{count})."
                else:
                    identity = outer + numbered
        identities.append(identity)
        qualified.append(dotted)
        span, selection = symbol.span, symbol.selection
        end_col = selection.end_col if selection.end_line == selection.line else selection.col
        facts.add(
            "symbols",
            moniker=identity,
            name=symbol.name,
            qualified_name=dotted,
            kind=int(symbol.kind),
            flags=int(symbol.flags),
            container=symbol.container,
            start_line=span.line,
            start_col=span.col,
            end_line=span.end_line,
            end_col=span.end_col,
            sel_line=selection.line,
            sel_col=selection.col,
            sel_end_col=end_col,
            signature=symbol.signature,
            documentation=symbol.documentation,
            hover=hovers.get(ordinal, ""),
        )
        for extra in symbol.extra_ranges:
            add_range(facts, ordinal, extra)


def add_range(facts: DocumentFacts, ordinal: int, where: tuple[int, int, int, int]) -> None:
    """A further place that means a symbol of the document: line, column, end line, end column."""
    line, col, end_line, end_col = where
    facts.add("extra_ranges", symbol=ordinal, start_line=line, start_col=col, end_line=end_line, end_col=end_col)


class Targets:
    """Numbers the distinct target places of a document."""

    def __init__(self, facts: DocumentFacts, surroundings: Surroundings) -> None:
        self._facts = facts
        self._known: dict[Place, int] = {}
        self._surroundings = surroundings

    def number(self, place: Place) -> int:
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = len(self._known)
            uri, line, col, end_line, end_col = place
            path = self._surroundings.portable(uri, place)
            self._facts.add("targets", path=path, line=line, col=col, end_line=end_line, end_col=end_col, symbol=AT_PLACE)
        return known


def _add_occurrences(facts: DocumentFacts, syntax: Syntax, answers: Answers, targets: Targets, surroundings: Surroundings) -> set[int]:
    """Rows of all tokens; returns the tokens that nobody could resolve."""
    tokens = syntax.tokens
    columns = facts.tables["occurrences"]
    lines, cols, ends, names = (columns[name] for name in ("line", "col", "end_col", "name"))
    roles_column, enclosings, evidences = (columns[name] for name in ("roles", "enclosing", "evidence"))
    symbols, target_column = columns["symbol"], columns["target"]
    unresolved: set[int] = set()
    member_of = {token: owner for owner, token in syntax.members}
    for owner, token in syntax.members:
        facts.add("members", symbol=owner, line=tokens.line[token], end_col=tokens.end_col[token])
    nobody_asked = answers.tallies[methods.DEFINITION].skipped not in ("", SkipReason.NO_SERVER)
    fixture, definition = int(Role.FIXTURE), int(Evidence.DEFINITION)
    certain = [(int(Evidence.SYNTAX), -1, -1)]
    left_out = unparsed.LeftOut(answers.inactive)
    for token, symbol in enumerate(tokens.symbol):
        roles = tokens.roles[token]
        if symbol >= 0 and tokens.callee_as[token] < 0 and not tokens.ask[token] and not roles & fixture:
            rows = certain  # two thirds of all tokens: nobody was asked
        else:
            rows = _meanings(token, syntax, answers, targets, surroundings, member_of)
            if rows[0][1] < 0 and rows[0][2] < 0:
                unresolved.add(token)
                if nobody_asked:  # coverage says so of the whole document
                    continue
        for evidence, own_symbol, target in rows:
            lines.append(tokens.line[token])
            cols.append(tokens.col[token])
            ends.append(tokens.end_col[token])
            names.append(tokens.name[token])
            is_second = symbol >= 0 and own_symbol < 0 and evidence == definition  # `const { size } = x` defines one and reads another
            if rows is not certain and own_symbol < 0 and target < 0 and tokens.line[token] in left_out:
                roles |= Role.MENTION
            roles_column.append((roles & ~_DEFINES) | Role.READ if is_second else roles)
            enclosings.append(tokens.enclosing[token])
            evidences.append(evidence)
            symbols.append(symbol if rows is certain else own_symbol)
            target_column.append(target)
    _add_macro_words(facts, syntax, left_out)
    for token, owner, by_super in syntax.through_self:
        if token in unresolved:
            facts.add("silent_members", line=tokens.line[token], col=tokens.col[token], owner=owner, by_super=by_super)
    return unresolved


def _add_macro_words(facts: DocumentFacts, syntax: Syntax, left_out: unparsed.LeftOut) -> None:
    """What a macro's text names that this build does not have: nobody knows what it means. Of the others the compiler's tree tells."""
    found = [word for word in syntax.macro_words if word.line in left_out]
    for word in found:
        facts.add(
            "occurrences",
            line=word.line, col=word.col, end_col=word.end_col, name=word.name, enclosing=word.enclosing, symbol=-1, target=-1,
            roles=int(Role.READ | Role.MENTION | (Role.CALL if word.is_called else Role(0))), evidence=int(Evidence.DEFINITION),
        )  # fmt: skip
    if found:  # in document order, as all others
        columns = facts.tables["occurrences"]
        places = list(zip(columns["line"], columns["col"], strict=True))
        order = sorted(range(len(places)), key=places.__getitem__)
        for column in columns.values():
            column[:] = [column[number] for number in order]


def _meanings(
    token: int, syntax: Syntax, answers: Answers, targets: Targets, surroundings: Surroundings, member_of: Mapping[int, int]
) -> list[tuple[int, int, int]]:
    """What an identifier means, as (evidence, own symbol or -1, target or -1); never empty: nothing known is (…, -1, -1)."""
    tokens = syntax.tokens
    symbol, same = tokens.symbol[token], tokens.same_as[token]
    found: Sequence[Place] = ()
    rows: list[tuple[int, int, int]] = []
    if symbol >= 0:
        rows.append((int(Evidence.SYNTAX), symbol, -1))
        if tokens.roles[token] & Role.FIXTURE or (tokens.ask[token] and tokens.callee_as[token] < 0):
            own = syntax.symbols[symbol].selection
            others = [place for place in answers.definitions.get(token, ()) if (place[1], place[2]) != (own.line, own.col)]
            evidence = int(Evidence.INFERRED if tokens.roles[token] & Role.FIXTURE else Evidence.DEFINITION)
            rows += [(evidence, -1, targets.number(place)) for place in others]
            if not others and token in syntax.seconds:  # a variable; and a member of what nobody knows
                rows.append((evidence, -1, -1))
        owner = _class_of_cls(symbol, syntax) if tokens.callee_as[token] >= 0 else -1
        if owner >= 0:
            return [*rows, (int(Evidence.CALLEE_TYPE), owner, -1)]
    else:
        if symbol == BUILTIN:
            found = (surroundings.builtins or {}).get(tokens.name[token], ())
        else:
            found = answers.definitions.get(token if same < 0 else same, ())
        if found and tokens.roles[token] & Role.IMPORT and found[0][0].endswith(".go"):
            found = _first_of_package(found)
        if same >= 0 and tokens.up[token]:
            found = packages_of(found, tokens.up[token], surroundings)
        evidence = int(Evidence.DEFINITION if tokens.ask[token] and same < 0 else Evidence.SAME_BINDING)
        rows += [(evidence, -1, targets.number(place)) for place in found]
        if not rows and token in member_of:  # `self.x = …` that the server is silent on: the class's own
            rows.append((int(Evidence.SYNTAX), member_of[token], -1))
        if not rows:
            rows.append((evidence, -1, -1))
    if tokens.callee_as[token] >= 0:
        bound_at = syntax.symbols[symbol].selection if symbol >= 0 else None
        rows += [
            (int(Evidence.CALLEE_TYPE), -1, targets.number(place))
            for place in answers.definitions.get(tokens.callee_as[token], ())
            if place not in found and (bound_at is None or (place[1], place[2]) != (bound_at.line, bound_at.col))
        ]
    return rows


def _first_of_package(found: Sequence[Place]) -> list[Place]:
    """A Go package is many files, and an import leads to each: its first that is no test stands for it."""
    first = next((place for place in found if not place[0].endswith("_test.go")), found[0])
    return [(first[0], 0, 0, 0, 0)]


def _add_unwritten(facts: DocumentFacts, syntax: Syntax, found: unwritten.Found | None, *, constructs: bool) -> None:
    """What runs where nothing names it. Without a compiler's tree nobody knows that of a function, where a language has such."""
    for row in found.rows if found is not None else ():
        facts.add("unwritten", **row._asdict() | {"kind": int(row.kind)})
    for line, col, end_col, enclosing in found.called if found is not None else ():
        facts.add(
            "nameless_calls",
            line=line, col=col, end_col=end_col, operation=int(Operation.CALL), enclosing=enclosing, basis=int(Basis.UNKNOWN),
            at_line=line, at_col=col, own=-1, target=-1,
        )  # fmt: skip
    for ordinal in found.open if found is not None else unwritten.functions(syntax) if constructs else ():
        at = syntax.symbols[ordinal].selection
        facts.add(
            "nameless_calls",
            line=at.line, col=at.col, end_col=at.end_col if at.end_line == at.line else at.col, operation=int(Operation.INSTANTIATE),
            enclosing=ordinal, basis=int(Basis.UNKNOWN), at_line=at.line, at_col=at.col, own=-1, target=-1,
        )  # fmt: skip


def _class_of_cls(symbol: int, syntax: Syntax) -> int:
    """The class that `cls()` makes, where the symbol is the first parameter of a class method; else -1."""
    parameter = syntax.symbols[symbol]
    if SymbolFlag.PARAMETER not in parameter.flags or symbol != parameter.container + 1:
        return -1
    method = syntax.symbols[parameter.container]
    if SymbolFlag.CLASSMETHOD not in method.flags and method.name != "__new__":
        return -1
    owner = syntax.symbols[method.container] if method.container >= 0 else None
    return method.container if owner is not None and owner.kind in (SymbolKind.CLASS, SymbolKind.ENUM, SymbolKind.INTERFACE) else -1


def _add_supertypes(
    facts: DocumentFacts, syntax: Syntax, answers: Answers, targets: Targets, unresolved: set[int], surroundings: Surroundings
) -> None:
    tokens = syntax.tokens
    rows: list[tuple[int, int, int, int]] = []
    for owner, token in syntax.bases:
        if tokens.symbol[token] >= 0:
            rows.append((owner, -1, tokens.symbol[token], int(Evidence.SUBCLASS_LIST)))
        elif token not in unresolved:
            source = token if tokens.same_as[token] < 0 else tokens.same_as[token]
            builtin = tokens.symbol[token] == BUILTIN
            found = (surroundings.builtins or {}).get(tokens.name[token], ()) if builtin else answers.definitions.get(source, ())
            rows += [(owner, targets.number(place), -1, int(Evidence.SUBCLASS_LIST)) for place in found]
    for owner, found in sorted(answers.supertypes.items()):
        rows += [(owner, targets.number(place), -1, int(Evidence.TYPE_HIERARCHY)) for place in found]
    for owner, target, own, evidence in rows:
        facts.add("supertypes", symbol=owner, target=target, own=own, evidence=evidence)


def _add_owners(facts: DocumentFacts, syntax: Syntax, answers: Answers, targets: Targets) -> None:
    for symbol, token in syntax.owners:
        own = syntax.tokens.symbol[token]
        if own >= 0:
            facts.add("owners", symbol=symbol, target=-1, own=own)
            continue
        for place in answers.definitions.get(token, ()):
            facts.add("owners", symbol=symbol, target=targets.number(place), own=-1)


def _portable_message(message: str, root: str) -> str:
    """The first paragraph, without the workspace's own path: what follows lists search paths of this machine."""
    return message.split("\n\n", 1)[0].replace(root, ".")


def _add_diagnostics(facts: DocumentFacts, diagnostics: list[Diagnostic], root: str) -> None:
    rows = sorted(
        (
            item.range.start.line,
            item.range.start.character,
            item.range.end.line,
            item.range.end.character,
            item.severity,
            "" if item.code is None else str(item.code),
            item.source or "",
            _portable_message(item.message, root),
        )
        for item in diagnostics
    )
    for line, col, end_line, end_col, severity, code, source, message in rows:
        facts.add(
            "diagnostics",
            line=line, col=col, end_line=end_line, end_col=end_col, severity=severity, code=code, source=source, message=message,
        )  # fmt: skip


def _add_unresolved(facts: DocumentFacts, syntax: Syntax, unresolved: set[int]) -> None:
    for token, module in syntax.imports:
        if token in unresolved:
            facts.add("unresolved_imports", line=syntax.tokens.line[token], module=module)


def _add_strings(facts: DocumentFacts, syntax: Syntax) -> None:
    for string in syntax.strings:
        facts.add("strings", **string._asdict() | {"use": int(string.use)})


def _add_coverage(facts: DocumentFacts, syntax: Syntax, answers: Answers) -> str:
    """One row per method; returns the document's own status: ok, partial (something lost) or lost (nothing from a server)."""
    unread = answers.tallies[methods.SYNTAX]
    answers.tallies[methods.SYNTAX] = MethodTally(
        asked=len(syntax.tokens), answered=len(syntax.tokens), skipped=unread.skipped, failed=unread.failed
    )
    if syntax.error_lines:
        answers.tallies[methods.SYNTAX].failed = TREE_KNOWN if answers.unwritten is not None else LossReason.SYNTAX_ERROR
    statuses: list[CoverageStatus] = []
    for method in methods.METHODS:
        tally = answers.tallies[method]
        is_read_in_part = method == methods.SYNTAX and tally.failed in (LossReason.SYNTAX_ERROR, TREE_KNOWN)
        if tally.unsupported:
            status = CoverageStatus.UNSUPPORTED
        elif tally.skipped and not tally.failed:
            status = CoverageStatus.SKIPPED
        elif tally.failed and not is_read_in_part:
            status = CoverageStatus.LOST
            statuses.append(status)
        elif tally.asked == 0:
            status = CoverageStatus.SKIPPED if method in (methods.HOVER, methods.DIAGNOSTIC) or tally.unasked else CoverageStatus.EMPTY
        else:
            status = CoverageStatus.DONE if tally.answered else CoverageStatus.EMPTY
            statuses.append(status)
        cut = f"{TARGETS_CUT}: {tally.cut}" if tally.cut else ""
        if tally.unasked and method != methods.SYNTAX:
            cut = f"{QUESTIONS_CUT}: {tally.asked} of {tally.asked + tally.unasked} asked"
        reason = tally.failed or tally.skipped or cut
        facts.add("coverage", method=method, status=str(status), reason=reason, asked=tally.asked, answered=tally.answered)
    asked = [answers.tallies[method] for method in methods.METHODS[1:] if not answers.tallies[method].unsupported]
    if any(tally.failed for tally in asked):
        return "lost" if all(tally.failed or not tally.answered for tally in asked) else "partial"
    return "partial" if any(tally.skipped or tally.unasked for tally in asked) else "ok"


def sample(path: str, tokens: Tokens, share: float) -> list[int]:
    """Tokens that need no question of their own and are asked all the same: about `share` of them, the same in every run."""
    if share <= 0:
        return []
    certain = [token for token, ask in enumerate(tokens.ask) if not ask]
    stride = max(1, round(1 / share))
    return certain[zlib.crc32(path.encode("utf-8", "surrogatepass")) % stride :: stride]
