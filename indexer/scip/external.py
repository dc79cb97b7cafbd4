"""Symbols that a file of SCIP names and defines nowhere: of the standard library, of packages.

They have no place on this machine. So the server that answers from the file leads to a place by their names, `scip:x.go/<symbol>`, where
`x.go` is of the language that asks; and whoever reads files outside of the workspace reads the names out of it, and no file.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from indexer.model import SymbolKind

SCHEME = "scip:"
_BUILTINS = "builtins"
"""The module of Python's own names, in every indexer's symbols."""

_MOST_CHARS = 1_000
_MOST_DEEP = 20
_FIELD = r"((?:[^ ]|  )+) "
_FIELDS = re.compile(_FIELD * 4)
_NAME = r"(?:([A-Za-z0-9_+\-$]+)|`((?:[^`]|``)+)`)"
_DESCRIPTOR = re.compile(rf"{_NAME}(/|#|\.|:|!|\([A-Za-z0-9_+\-$]*\)\.)|\[{_NAME}\]|\({_NAME}\)")


class Descriptor(NamedTuple):
    """A part of a symbol. `symbol`: all of it up to here."""

    symbol: str
    name: str
    kind: SymbolKind


class ExternalSymbol(NamedTuple):
    """`manager`, `package`, `version`: as the symbol has them, empty for `.`. `module`: the namespaces, at least one.

    `descriptors`: those after the namespaces; none where the symbol is a namespace. key: names it on every machine.
    """

    manager: str
    package: str
    version: str
    module: Descriptor
    dotted: str
    descriptors: list[Descriptor]
    key: str


def uri_of(symbol: str, path: str) -> str:
    """The place of a symbol that is named in this file; empty where the symbol is none of the grammar."""
    if parse(symbol) is None:
        return ""
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return f"{SCHEME}{quote(f'x.{ending}' if dot and stem else name, safe='')}/{quote(symbol, safe='')}"


def of_place(place: str) -> tuple[str, ExternalSymbol] | None:
    """The name of a file of the language that has asked, and the symbol; None for any other place."""
    if not place.startswith(SCHEME):
        return None
    name, _, symbol = place.removeprefix(SCHEME).partition("/")
    found = parse(unquote(symbol))
    return (unquote(name), found) if found is not None else None


def builtin_name(symbol: str) -> str:
    """The name of what the language has by itself; empty for all else."""
    if _BUILTINS not in symbol:
        return ""
    found = parse(symbol)
    return found.descriptors[0].name if found is not None and found.dotted == _BUILTINS and len(found.descriptors) == 1 else ""


def above(place: str, up: int) -> str:
    """The place of the namespace so many levels above one; empty where there is none, or the place is no namespace's."""
    name, _, symbol = place.removeprefix(SCHEME).partition("/")
    symbol = unquote(symbol)
    fields = _FIELDS.match(symbol)
    if not place.startswith(SCHEME) or fields is None or parse(symbol) is None:
        return ""
    parts = [part.group(0) for part in _DESCRIPTOR.finditer(symbol, fields.end())]
    if len(parts) <= up or not all(part.endswith("/") for part in parts):
        return ""
    return f"{SCHEME}{name}/{quote(fields.group(0) + ''.join(parts[:-up]), safe='')}"


def package_of(symbol: str) -> str:
    """What of a symbol says which package it is of."""
    return " ".join(symbol.split(" ", 4)[:4])


def parse(symbol: str) -> ExternalSymbol | None:
    """The parts of a symbol that holds in all documents; None where it is none, or none that anybody should be shown."""
    if len(symbol) > _MOST_CHARS or not symbol.isprintable():
        return None
    fields = _FIELDS.match(symbol)
    if fields is None or fields.group(1).startswith("local"):
        return None
    manager, package, version = ("" if text == "." else text.replace("  ", " ") for text in fields.groups()[1:])
    prefix, at = fields.group(0), fields.end()
    parts: list[tuple[str, str, int]] = []
    while at < len(symbol):
        part = _DESCRIPTOR.match(symbol, at)
        if part is None or len(parts) > _MOST_DEEP:
            return None
        simple, escaped, suffix, *others = part.groups()
        name = simple or escaped or next(filter(None, others), "")
        parts.append((name.replace("``", "`"), suffix or part.group(0)[0], part.end()))
        at = part.end()
    if not parts:
        return None
    names = [name for name, suffix, _ in parts if suffix == "/"]
    first = next((number for number, (_, suffix, _) in enumerate(parts) if suffix != "/"), len(parts))
    names = names[:first]
    home = symbol[: parts[first - 1][2]] if first else f"{prefix}`{(package or 'none').replace('`', '``')}`/"
    module = Descriptor(home, names[-1] if names else package, SymbolKind.MODULE)
    rest: list[Descriptor] = []
    for name, suffix, end in parts[first:]:
        rest.append(Descriptor(symbol[:end], name, _kind(suffix, rest[-1].kind if rest else SymbolKind.MODULE)))
    key = f"{fields.group(1)}:{package}@{version}/{symbol[fields.end() :]}"
    return ExternalSymbol(manager, package, version, module, ".".join(names) or package, rest, key)


def _kind(suffix: str, around: SymbolKind) -> SymbolKind:
    in_type = around is SymbolKind.CLASS
    if suffix == "#":
        return SymbolKind.CLASS
    if suffix.endswith(")."):
        return SymbolKind.METHOD if in_type else SymbolKind.FUNCTION
    if suffix == "[":
        return SymbolKind.TYPE_PARAMETER
    if suffix == "!":
        return SymbolKind.FUNCTION
    return SymbolKind.FIELD if in_type and suffix == "." else SymbolKind.VARIABLE
