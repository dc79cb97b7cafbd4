"""Which lines of a text of Go a definition is: with its comment, of a type with the methods that stand in the same file."""

from __future__ import annotations

import re
from typing import NamedTuple

from indexer.errors import EditRefused, UsageError
from query.refactor.positional.source import Code, Node, walk
from query.refactor.relocate.around import comments_above, top_node, whole_lines

_SPECS = ("type_spec", "type_alias", "var_spec", "const_spec")
_HINTS = ("//go:embed", "//go:linkname", "//export ", "//go:build", "//go:wasmexport", "//go:wasmimport", "//go:cgo")


class Piece(NamedTuple):
    """Lines that move. start, end: of the text that moves. taken: of the lines that go.

    before: what the text gets before it, as one of a group (`type (…)`). at: where that goes. is_indented: it stood in a group.
    """

    start: int
    end: int
    taken: tuple[int, int]
    before: str = ""
    at: int = 0
    is_indented: bool = False


class Block(NamedTuple):
    """node: what declares it, a spec of a group or the whole declaration. kind: its type in the tree, of a method `method_declaration`."""

    name: str
    node: Node
    kind: str
    pieces: list[Piece]

    def holds(self, offset: int) -> bool:
        return any(piece.taken[0] <= offset < piece.taken[1] for piece in self.pieces)


def block_of(code: Code, name: str, offset: int) -> Block:
    """The block of what is named at an offset.

    Raises:
        UsageError: it does not stand at the top of the file. EditRefused: it cannot be moved by its text.
    """
    leaf = code.leaf_at(offset)
    if code.has_errors or leaf is None or code.said(leaf) != name:
        raise EditRefused(f"the text of '{code.path}' is not understood, so nothing is moved out of it")
    top = top_node(code, leaf)
    if top.type in ("function_declaration", "method_declaration"):
        if top.child_by_field_name("name") != leaf:
            raise _not_at_top(name)
        if top.type == "function_declaration" and name in ("init", "_"):
            raise EditRefused(f"'{name}' is run by the language where it stands")
        return Block(name, top, top.type, [_piece(code, top)])
    spec = leaf.parent
    if top.type not in ("type_declaration", "var_declaration", "const_declaration") or spec is None or spec.type not in _SPECS:
        raise _not_at_top(name)
    if leaf not in spec.children_by_field_name("name"):
        raise _not_at_top(name)
    if len(spec.children_by_field_name("name")) > 1:
        raise EditRefused(f"'{name}' is declared together with others: {code.said(spec).partition('=')[0].strip()}; part them first")
    group = [node for node in walk(top) if node.type in _SPECS]
    if spec.type == "const_spec":
        _check_constant(code, name, spec, group)
    pieces = [_piece(code, top) if len(group) == 1 else _of_group(code, top, spec)]
    if top.type == "type_declaration":
        pieces += [_piece(code, node) for node in code.root.named_children if receiver(code, node) == name]
    return Block(name, spec, spec.type, pieces)


def _not_at_top(name: str) -> UsageError:
    return UsageError(f"'{name}' is no function, method, type, variable or constant at the top of a file")


def _check_constant(code: Code, name: str, spec: Node, group: list[Node]) -> None:
    """A constant of a group may take its value from the one above it, or from its number."""
    at = group.index(spec)
    value = spec.child_by_field_name("value")
    below = group[at + 1] if at + 1 < len(group) else None
    counts = any(node.type == "iota" for one in group for node in walk(one))
    if value is None or counts or (below is not None and below.child_by_field_name("value") is None):
        raise EditRefused(f"'{name}' is one of a group of constants that take their values from their places in it")


def _piece(code: Code, node: Node) -> Piece:
    start, end = whole_lines(code, comments_above(code, node), code.end(node))
    _check_hints(code, start, code.start(node))
    return Piece(start, end, (start, end))


def _of_group(code: Code, top: Node, spec: Node) -> Piece:
    start, end = whole_lines(code, comments_above(code, spec), code.end(spec))
    _check_hints(code, start, code.start(spec))
    word = code.said(top.children[0])
    return Piece(start, end, (start, end), before=f"{word} ", at=code.start(spec), is_indented=not _spans_lines(code, spec))


def _spans_lines(code: Code, node: Node) -> bool:
    return any(one.type == "raw_string_literal" and one.start_point[0] != one.end_point[0] for one in walk(node))


def _check_hints(code: Code, start: int, end: int) -> None:
    for line in code.text[start:end].split("\n"):
        if line.strip().startswith(_HINTS):
            raise EditRefused(f"'{line.strip()}' in '{code.path}' holds for the place where the definition stands")


def receiver(code: Code, node: Node) -> str:
    """The type whose method a node declares; empty for what is no method."""
    if node.type != "method_declaration":
        return ""
    inside = walk(node.child_by_field_name("receiver"))
    return next((code.said(one) for one in inside if one.type == "type_identifier"), "")


def constraints_of(code: Code) -> tuple[str, ...]:
    """What chooses the builds that take a file in: its `//go:build` lines, and the end of its name as far as that may tell a system."""
    lines: list[str] = []
    for node in code.root.named_children:
        if node.type != "comment":
            break
        said = code.said(node).strip()
        lines += [said] if said.startswith(("//go:build", "// +build")) else []
    return (*lines, *named_constraints(code.path))


def named_constraints(path: str) -> tuple[str, ...]:
    parts = path.rpartition("/")[2].removesuffix(".go").removesuffix("_test").split("_")[1:]
    return tuple(part for part in parts[-2:] if part in _SYSTEMS)


_SYSTEMS = frozenset(
    (
        *("aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "js", "linux", "nacl", "netbsd"),
        *("openbsd", "plan9", "solaris", "wasip1", "windows", "zos", "unix", "386", "amd64", "amd64p32", "arm", "arm64"),
        *("arm64be", "armbe", "loong64", "mips", "mips64", "mips64le", "mips64p32", "mips64p32le", "mipsle", "ppc"),
        *("ppc64", "ppc64le", "riscv", "riscv64", "s390", "s390x", "sparc", "sparc64", "wasm"),
    )
)


def package_name(code: Code) -> str:
    found = re.search(r"^package[ \t]+(\w+)", code.text, re.MULTILINE)
    return found[1] if found else ""
