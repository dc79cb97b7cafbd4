"""Modules of TypeScript and JavaScript as a move needs them: what their statements import and pass on, and which files their paths mean."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from query.refactor.positional.source import Code, Node, walk

ENDINGS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_COMPILED = {".js": (".ts", ".tsx", ".js", ".jsx"), ".jsx": (".tsx", ".jsx"), ".mjs": (".mts", ".mjs"), ".cjs": (".cts", ".cjs")}
_COMPILES_TO = {".ts": ".js", ".tsx": ".js", ".mts": ".mjs", ".cts": ".cjs"}


class Name(NamedTuple):
    """One name of an import or an export. name: in the other module, `default` and `*` too. local: here. node: what names it.

    is_type: it is brought for types only, by a word of its own or of the statement.
    """

    name: str
    local: str
    node: Node
    is_type: bool


class Statement(NamedTuple):
    """An import or an export of another module. path: as it is written. is_type: `import type`."""

    node: Node
    path: str
    names: list[Name]
    is_export: bool
    is_type: bool
    is_star: bool = False


def statements(code: Code) -> list[Statement]:
    """Imports, and exports of what other modules have, in the order of the text."""
    return [found for node in code.root.named_children if (found := _statement(code, node)) is not None]


def _statement(code: Code, node: Node) -> Statement | None:
    if node.type not in ("import_statement", "export_statement"):
        return None
    source = node.child_by_field_name("source")
    if source is None:
        return None
    is_export = node.type == "export_statement"
    is_type = any(child.type == "type" for child in node.children[:3])
    found = Statement(node, unquoted(code, source), [], is_export, is_type, is_star=is_export and any(c.type == "*" for c in node.children))
    for child in node.named_children:
        if child.type == "import_clause":
            for part in child.named_children:
                if part.type == "identifier":
                    found.names.append(Name("default", code.said(part), part, is_type))
                elif part.type == "namespace_import":
                    found.names.append(Name("*", code.said(part.named_children[0]), part, is_type))
                else:
                    found.names.extend(_names(code, part, is_type))
        elif child.type == "export_clause":
            found.names.extend(_names(code, child, is_type))
        elif child.type == "namespace_export":
            found.names.append(Name("*", code.said(child.named_children[0]), child, is_type))
    return found


def _names(code: Code, clause: Node, is_type: bool) -> Iterator[Name]:
    for spec in clause.named_children:
        if spec.type in ("import_specifier", "export_specifier"):
            name = spec.child_by_field_name("name")
            alias = spec.child_by_field_name("alias")
            own = any(child.type == "type" for child in spec.children)
            yield Name(code.said(name), code.said(alias if alias is not None else name), spec, is_type or own)


def exports_of_own(code: Code) -> Iterator[tuple[Node, Name]]:
    """Names that a module lists as its own, each with its statement: `export { a, b as c }`."""
    for node in code.root.named_children:
        if node.type == "export_statement" and node.child_by_field_name("source") is None:
            is_type = any(child.type == "type" for child in node.children[:3])
            for child in node.named_children:
                if child.type == "export_clause":
                    for name in _names(code, child, is_type):
                        yield node, name


def unquoted(code: Code, node: Node) -> str:
    return code.said(node)[1:-1]


def is_module(code: Code) -> bool:
    """Whether the text imports or exports something by a statement."""
    return any(node.type in ("import_statement", "export_statement") for node in code.root.named_children)


def is_readable(code: Code) -> bool:
    """Whether the grammar knows what stands at the top of the text, and its imports and exports; it may not know all inside of others."""
    for node in code.root.named_children:
        imports = node.type == "import_statement" or node.child_by_field_name("source") is not None
        if node.type == "ERROR" or (imports and node.has_error):
            return False
    return True


def file_of(paths: Collection[str], path: str, said: str) -> str:
    """The file of the workspace that a relative path in a module means; empty where none is known."""
    if not said.startswith("."):
        return ""
    base = posixpath.normpath(posixpath.join(posixpath.dirname(path), said)).removeprefix("./")
    stem, ending = posixpath.splitext(base)
    tries = [base, *(stem + one for one in _COMPILED.get(ending, ())), *(base + one for one in ENDINGS)]
    tries += [base + one for one in _DECLARATIONS]
    tries += [posixpath.join(base, "index") + one if base != "." else "index" + one for one in ENDINGS]
    return next((one for one in tries if one in paths), "")


def without_ending(path: str) -> str:
    return next((path.removesuffix(one) for one in ENDINGS if path.endswith(one)), path)


def aliased(like: str, old: str) -> str | None:
    """The folder that a path without dots is written from, where it seems to mean the file `old`: its start, and how that is written.

    `@/lib/text` for `src/lib/text.ts` gives `@` for `src`; None where it means something else.
    """
    stem = without_ending(like)
    parts, path = stem.split("/"), without_ending(old).split("/")
    if path[-1:] == ["index"] and parts[-1:] != ["index"]:
        path = path[:-1]
    same = 0
    while same < min(len(parts), len(path)) and parts[-1 - same] == path[-1 - same]:
        same += 1
    if not same or same < len(parts) - 1:
        return None
    return "/".join(parts[: len(parts) - same])


def written(user: str, target: str, like: str, old: str) -> str:
    """How a module writes the path of another one, in the way that it wrote that of `old`.

    Args:
        like: how the path of `old` was written, from whatever module.
    """
    ending = posixpath.splitext(like)[1]
    stem, own = without_ending(target), target[len(without_ending(target)) :]
    shown = ""
    if ending in ENDINGS:
        shown = own if old.endswith(ending) else _COMPILES_TO.get(own, own)
    if not like.startswith(".") and (start := aliased(like, old)) is not None:
        tail = without_ending(like)[len(start) :].strip("/")
        base = without_ending(old)
        base = base.removesuffix("/index") if not tail.endswith("index") else base
        folder = base[: len(base) - len(tail)].rstrip("/")
        if not folder or stem.startswith(f"{folder}/"):
            rest = stem[len(folder) :].lstrip("/")
            return (f"{start}/{rest}" if start else rest) + shown
    relative = posixpath.relpath(stem, posixpath.dirname(user) or ".")
    return (relative if relative.startswith(".") else f"./{relative}") + shown


def other_mentions(code: Code, meant: Collection[str], paths: Collection[str]) -> Iterator[Node]:
    """Strings that name one of the files and stand in no statement of imports: `import("./a")`, `require("./a")`, `vi.mock("./a")`."""
    for node in walk(code.root):
        if node.type == "string" and node.parent is not None and node.parent.type not in ("import_statement", "export_statement"):
            said = unquoted(code, node)
            if re.fullmatch(r"\.{1,2}(?:/[^\s'\"]*)?", said) and file_of(paths, code.path, said) in meant:
                yield node


def relative(user: str, path: str) -> str:
    """The path of a file that is not known, without what its ending would be."""
    found = posixpath.relpath(path, posixpath.dirname(user) or ".")
    return found if found.startswith(".") else f"./{found}"


def ending_like(shown: str, of: str, path: str) -> str:
    """The ending that one file is written with, where another one is written with `shown`."""
    if shown not in ENDINGS:
        return ""
    own = path[len(without_ending(path)) :]
    return own if of.endswith(shown) else _COMPILES_TO.get(own, own)
