"""What a symbol is called in texts that nobody reads: by who links it, by a template, by markup, in an example.

Which words of such a text are looked at, `indexer.unread` says; what markup calls a component, `query.facts.components`.
"""

from __future__ import annotations

import re

from indexer import unread
from indexer.embedded import COMPONENT, form_of
from indexer.languages import record_of
from indexer.model import SymbolKind
from query.facts import components
from query.facts.families import languages_of
from query.facts.index import Index
from query.facts.symbols import Symbol

_WORDS = re.compile(r"\w+")
_GETTER = re.compile(r"(?:get|is|has)([A-Z])(\w*)")
_MEMBERS = frozenset(kind.label for kind in (SymbolKind.METHOD, SymbolKind.PROPERTY, SymbolKind.FIELD, SymbolKind.ENUM_MEMBER))
_VALUES = frozenset({SymbolKind.PROPERTY.label, SymbolKind.FIELD.label})


def wanted(index: Index, symbol: Symbol) -> unread.Wanted:
    """The words by which a text may mean the symbol."""
    record = symbol.record
    is_own = form_of(record.path) == COMPONENT and not record.container.endswith("default.")
    is_prop = is_own or record.kind in _VALUES  # what an object of options has, nobody gives
    is_member = record.kind in _MEMBERS
    made = unread.wanted(record.name, owners(symbol), is_member=is_member, read_as=read_by_templates(index, symbol), is_prop=is_prop)
    language = record_of(languages_of(index).get(record.path, ""))
    if language.is_included and record.kind == SymbolKind.FUNCTION.label:
        made = made.begun(record.name)
    return made.also([*components.names_of(symbol), *([f"${record.name}"] if language.runs_words else [])])


def shortest_name(symbol: Symbol) -> str:
    """What to look for: a name of which all others of a component are longer ones."""
    return min(components.names_of(symbol), key=len, default=symbol.record.name)


def read_by_templates(index: Index, symbol: Symbol) -> str:
    """What a template calls the property that a method gives; empty where there is none."""
    if symbol.record.kind != SymbolKind.METHOD.label or not record_of(languages_of(index).get(symbol.record.path, "")).reads_by_getters:
        return ""
    got = _GETTER.fullmatch(symbol.record.name)
    return f"{got[1].lower()}{got[2]}" if got else ""


def owners(symbol: Symbol) -> list[str]:
    """Names of what defines a symbol, one of which stands beside it in an example: of a member its type, else its module and package."""
    record = symbol.record
    if record.kind in _MEMBERS:
        return _WORDS.findall(record.container)[-1:]
    _, _, package, _, *descriptors = [*record.symbol.split(" "), "", "", "", ""]
    return [word for word in _WORDS.findall(f"{package} {' '.join(descriptors)}") if word != record.name]


def is_of_object(symbol: Symbol) -> bool:
    """Whether it is a member of an object that is written out, which is handed over: who names it need not see where that stands."""
    return symbol.record.kind in _MEMBERS and not symbol.record.container.endswith("#")


def is_macro(symbol: Symbol) -> bool:
    """Of C: its text stands where it is used."""
    return symbol.record.signature.startswith("#")
