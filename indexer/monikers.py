"""Symbol identity: strings in the SCIP symbol grammar, never with a line number in them.

    <language> ' ' <manager> ' ' <package> ' ' <version> ' ' <descriptors>      python pip flask . flask/app/Flask#run().
    'local ' <id>                                                             local 0f3k2a9c1m

Descriptors: `name/` namespace, `Name#` type, `name().` method, `name.` term, `(name)` parameter, `[name]` type parameter.
A package inside the workspace has the version `.`: its monikers must not change with every release.
"""

from __future__ import annotations

import hashlib
import re

from indexer.model import SymbolFlag, SymbolKind

_SIMPLE = re.compile(r"[A-Za-z0-9_+\-$]+\Z")
_SUFFIXES = {
    SymbolKind.CLASS: "#",
    SymbolKind.INTERFACE: "#",
    SymbolKind.ENUM: "#",
    SymbolKind.STRUCT: "#",
    SymbolKind.FUNCTION: "().",
    SymbolKind.METHOD: "().",
    SymbolKind.CONSTRUCTOR: "().",
    SymbolKind.MODULE: "/",
    SymbolKind.NAMESPACE: "/",
    SymbolKind.PACKAGE: "/",
}


def escape(name: str) -> str:
    """A name as an identifier of the grammar: in backticks unless it is simple, backticks doubled."""
    return name if _SIMPLE.match(name) else "`" + name.replace("`", "``") + "`"


def package_prefix(scheme: str, manager: str, package: str, version: str) -> str:
    """The part before the descriptors; an empty field is written `.`, a space is doubled."""
    return " ".join((field or ".").replace(" ", "  ") for field in (scheme, manager, package, version)) + " "


def module_descriptors(module: str) -> str:
    """`flask.app` as namespaces: `flask/app/`."""
    return "".join(f"{escape(part)}/" for part in module.split(".") if part)


def place_descriptors(place: str) -> str:
    """`src/app.ts` as namespaces, the file's whole name among them: "src/`app.ts`/"."""
    return "".join(f"{escape(part)}/" for part in place.split("/") if part)


def descriptor(name: str, kind: SymbolKind, flags: SymbolFlag) -> str:
    if SymbolFlag.PARAMETER in flags:
        return f"({escape(name)})"
    if kind == SymbolKind.TYPE_PARAMETER:
        return f"[{escape(name)}]"
    return escape(name) + _SUFFIXES.get(kind, ".")


def key(moniker: str) -> int:
    """The number that stands for a symbol in other files' facts: `moniker_key` of the merge."""
    digest = hashlib.md5(moniker.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little")


def local(document: str, scope: str, name: str) -> str:
    """Moniker of a symbol that no other file can name: a digest of document, scope and name, unique in the index."""
    digest = hashlib.blake2b(f"{document}\0{scope}\0{name}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"local {digest}"
