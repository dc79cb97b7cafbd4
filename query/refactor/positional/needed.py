"""What a change brings into a file or takes out of it: names that the new texts need, and those that nothing uses any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from query.refactor.parameters.bracketed import Replacement
from query.refactor.positional.definitions import Definition
from query.refactor.positional.go_imports import import_edit, imported, paths_of_packages
from query.refactor.positional.source import Code, Node, walk
from query.refactor.positional.texts import free_names, is_of_types

_GLOBAL = frozenset(
    (
        *("undefined", "NaN", "Infinity", "Math", "Date", "console", "process", "globalThis", "window", "document", "Object"),
        *("Array", "String", "Number", "Boolean", "Symbol", "Map", "Set", "WeakMap", "WeakSet", "Promise", "Error", "TypeError"),
        *("RangeError", "JSON", "RegExp", "BigInt", "Uint8Array", "ArrayBuffer", "URL", "Record", "Partial", "Readonly", "Pick"),
        *("Omit", "Function", "ReadonlyArray", "Iterable", "AbortSignal", "AbortController", "Buffer"),
    )
)
PREDECLARED = frozenset(
    (
        *("nil", "true", "false", "iota", "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make"),
        *("max", "min", "new", "panic", "print", "println", "real", "recover", "any", "bool", "byte", "comparable", "complex64"),
        *("complex128", "error", "float32", "float64", "int", "int8", "int16", "int32", "int64", "rune", "string", "uint"),
        *("uint8", "uint16", "uint32", "uint64", "uintptr"),
    )
)


def added_imports(definitions: Iterable[Definition], codes: Mapping[str, Code], replacements: dict[str, list[Replacement]]) -> list[str]:
    """Puts in imports of packages that the new texts name (Go), and says which names are not known where they will stand."""
    doubts: list[str] = []
    known = paths_of_packages(codes.values())
    heads = {head.code.path for item in definitions for head, _ in item.heads}
    changes = [change for item in definitions for _, change in item.heads]
    for path, edits in sorted(replacements.items()):
        code = codes[path]
        written = "\n".join(piece for edit in edits for piece in edit.pieces if isinstance(piece, str))
        wanted: dict[str, bool] = {}
        for change in changes:
            for item in change.after:
                texts = [(change.given.get(item.name, ""), False), (item.text if path in heads else "", True)]
                for text, is_parameter in texts:
                    if item.was is None and text and text in written:
                        wanted |= dict(free_names(text, path, code.language, is_parameter=is_parameter))
        for word, leads_on in sorted(wanted.items()):
            if _is_known(code, word, codes):
                continue
            if leads_on and is_of_types(code.language) and len(found := known.get(word, {word} if word in _STANDARD else set())) == 1:
                edits.append(import_edit(code, next(iter(found))))
            else:
                doubts.append(f"'{word}' is not known in '{path}', where the new text names it")
    return doubts


_STANDARD = frozenset(
    (
        *("bufio", "bytes", "context", "errors", "fmt", "io", "log", "maps", "math", "os", "reflect", "regexp", "slices", "sort"),
        *("strconv", "strings", "sync", "time", "unicode"),
    )
)
"""Packages of Go's library whose path is their name."""


def _is_known(code: Code, word: str, codes: Mapping[str, Code]) -> bool:
    if word in (PREDECLARED if is_of_types(code.language) else _GLOBAL):
        return True
    if not is_of_types(code.language):
        return any(declares(node) for node in code.names.get(word, ()))
    folder = code.path.rpartition("/")[0]
    beside = [other for other in codes.values() if other.path.rpartition("/")[0] == folder]
    return word in imported(code) or any(
        declares(node) and node.parent.type not in ("import_spec",) for other in beside for node in other.names.get(word, ())
    )


def declares(node: Node) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if parent.type in ("import_specifier", "import_clause", "namespace_import"):
        return True
    return node in (parent.child_by_field_name("name"), parent.child_by_field_name("pattern")) and parent.type not in _MEMBERS_ONLY


_MEMBERS_ONLY = (
    "jsx_attribute",
    "jsx_opening_element",
    "jsx_self_closing_element",
    "export_specifier",
    "generic_type",
    "method_definition",
)


# ---- what nothing uses any more


def words_in(code: Code, nodes: Sequence[Node]) -> set[str]:
    return {code.said(one) for node in nodes for one in walk(node) if one.type in ("identifier", "package_identifier")}


def unused(code: Code, words: Iterable[str]) -> list[str]:
    """Those of the words that a new text of Go imports, or binds in a function, and uses nowhere: it would not be compiled."""
    brought = imported(code)
    found: set[str] = set()
    for word in set(words) - {"_"}:
        nodes = [node for node in code.names.get(word, ()) if node.type in ("identifier", "package_identifier")]
        used = [node for node in nodes if not _is_set(node) and node.parent is not None and node.parent.type != "import_spec"]
        if word in brought and not used:
            found.add(word)
        for node in nodes:
            around = _function_around(node)
            if _is_set(node) and around is not None and not any(around.start_byte <= one.start_byte < around.end_byte for one in used):
                found.add(word)
    return sorted(found)


def _is_set(node: Node) -> bool:
    parent = node.parent
    if parent is not None and parent.type == "var_spec":
        return node in parent.children_by_field_name("name")
    if parent is None or parent.type != "expression_list" or parent.parent is None:
        return False
    return parent.parent.child_by_field_name("left") == parent


def _function_around(node: Node) -> Node | None:
    around = node.parent
    while around is not None and around.type not in ("function_declaration", "method_declaration"):
        around = around.parent
    return around
