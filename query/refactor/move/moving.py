"""A definition of Python moved to another module: the texts that come of it. Reads and decides; what uses the definition, others say.

The new module gets the definition and imports for what it takes from the old one; who imported it from the old module imports it from the
new one, in the same form (`from … import`, a module's attribute, with dots); who got it through a third module still does.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from indexer.errors import EditRefused
from indexer.text import index_to_utf16
from query.answers.paths import listed
from query.edits.text import Document, Edit
from query.refactor.move.import_edits import imports_for_types, indented, joined, one_more_import, together
from query.refactor.move.moved_block import Block, Needed, block_of, needed_by, registering, said_of
from query.refactor.python_module import BUILTINS, Binding, Import, Module, Position, dotted, literal_all, relative

_DOTTED = re.compile(r"(?<![\w.])([^\W\d]\w*(?:\.\w+)*)\.\Z")
_LONGEST = 500
"""Characters of a dotted name."""
_PAIR = 2
_APART = 2
"""Blank lines around a definition."""
_FROM = re.compile(r"from[ \t]*(\.(?:[ \t]*\.)*(?:[ \t]*(?!import\b)[^\W\d]\w*(?:\.\w+)*)?)")


class Place(NamedTuple):
    """A use that stays as it is, though the definition moves. 0-based line and UTF-16 column."""

    path: str
    line: int
    col: int


@dataclass
class Moved:
    """Attributes:
    documents: by path, what is written. doubts: why that may be broken code. left: uses that could not be rewritten.
    takes: names of the old module's that the definition uses. registers: what may have an effect when it is defined (a decorator, a
        base); empty for nothing. set_from: documents that set the name in the old module, or name it in a string, as patches do.
        is_public: the old module listed it as its own. line: where it stood there, 1-based.
        having: dotted names of modules that import it under its own name, and so have it after the move as before.
    """

    documents: dict[str, Document] = field(default_factory=dict[str, Document])
    doubts: list[str] = field(default_factory=list[str])
    left: list[Place] = field(default_factory=list[Place])
    takes: frozenset[str] = frozenset()
    registers: str = ""
    set_from: set[str] = field(default_factory=set[str])
    is_public: bool = False
    line: int = 0
    having: frozenset[str] = frozenset()


def moved(
    name: str,
    source: Module,
    target: Module,
    users: Sequence[Module],
    places: Mapping[str, Collection[Position]],
    *,
    is_new: bool,
    keeps: bool,
    others: Mapping[str, Document] = {},
    hands_on: Collection[str] = (),
) -> Moved:
    """The texts after a move.

    Args:
        name: of a function, class or variable at the top level of `source`.
        target: where it goes; an empty text where `is_new`.
        users: other modules that name it. places: by path, where it is named, source and target too.
        keeps: the old module goes on having the name, by importing it.
        others: texts that are no Python and name it, such as manifests.
        hands_on: paths of users that have it by a star, from which others take it.
    Raises:
        EditRefused: it cannot be moved by its text.
    """
    found = Moved()
    block = block_of(source, name)
    found.line = block.first + 1
    if not is_new and name in target.bindings and not _is_import_of(target, name, source):
        raise EditRefused(f"'{target.path}' has a '{name}' already")
    needed, futures = needed_by(source, target, name, block, found.doubts, is_new=is_new)
    remaining = _in_source(source, target, name, block, places.get(source.path, ()), found, keeps=keeps)
    if remaining and any(item.module == source.name for item in needed):
        own = ", ".join(sorted(item.name for item in needed if item.module == source.name))
        raise EditRefused(
            f"'{name}' uses {own} of '{source.path}', which goes on using '{name}': each module would import the other; move those first"
        )
    _in_target(source, target, name, block, needed, futures, places.get(target.path, ()), found, is_new=is_new)
    found.having = frozenset(user.name for user in users if _has_by_import(user, source, name))
    for user in users:
        _in_user(user, source, target, name, places.get(user.path, ()), found, remains=remaining, hands_on=user.path in hands_on)
        if user.path in hands_on and not remaining and found.is_public and _makes_all(user):
            found.doubts.append(f"'{user.path}' makes its __all__ as it runs, and may no longer list '{name}' there")
    for path, document in others.items():
        edits = [
            edit for place in places.get(path, ()) if (edit := _in_text(path, document, source, target, name, place, found)) is not None
        ]
        if edits:
            found.documents[path] = document.edited(edits, f"'{path}'")
    found.set_from -= others.keys()
    if _reads(source, name, block) and found.set_from:
        told = "that module goes on using it, and has its own name for it"
        paths = listed(sorted(found.set_from))
        found.doubts.append(f"{paths} set it in '{source.path}', or name it in a string, as a patch does: {told}")
    found.takes, found.registers = frozenset(item.binds for item in needed), registering(source, block)
    return found


# ---- the three kinds of modules


def _in_source(source: Module, target: Module, name: str, block: Block, places: Collection[Position], found: Moved, *, keeps: bool) -> bool:
    """Writes the old module; whether it goes on using the name."""
    edits = [source.document.without_lines(block.first, block.last)]
    outside = [place for place in places if not block.holds(place[0])]
    reads = _reads(source, name, block)
    quoted = [item for item in source.quoting(name) if not block.holds(item.lineno - 1)]
    listed = _listed_in_all(source, name)
    remains = keeps or bool(reads or quoted)
    for place in outside:
        if place not in reads and not any(_is_within(source, item, place) for item in (listed, *quoted)):
            edit = _in_text(source.path, source.document, source, target, name, place, found)
            edits += [edit] if edit is not None else []
    if remains:
        written = relative(target.name, source.package) if source.says_relative else target.name
        edits.append(one_more_import(source, f"from {written} import {name}", target.name, name))
    elif listed is not None:
        found.is_public = True
        edits.append(_out_of_list(source, listed))
    found.documents[source.path] = source.document.edited(joined(edits), f"'{source.path}'")
    return remains


def _reads(source: Module, name: str, block: Block) -> set[Position]:
    """Where the rest of a module uses a name of its own."""
    return {
        source.start(node)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name) and node.id == name and not block.holds(node.lineno - 1)
    }


def _listed_in_all(module: Module, name: str) -> ast.Constant | None:
    for node in module.tree.body:
        found = literal_all(node)
        for item in found.elts if found is not None else ():
            if isinstance(item, ast.Constant) and item.value == name:
                return item
    return None


def _makes_all(module: Module) -> bool:
    return len(module.bindings.get("__all__", ())) > sum(literal_all(node) is not None for node in module.tree.body)


def _is_within(module: Module, item: ast.Constant | None, place: Position) -> bool:
    return item is not None and module.start(item) <= place < module.end(item)


def _out_of_list(module: Module, item: ast.Constant) -> Edit:
    """Takes a string out of a list, its comma and its line with it."""
    start, end = module.start(item), module.end(item)
    line = module.line(start[0])
    rest = line[end[1] :] if line.isascii() else ""
    whole = next(found for node in module.tree.body if (found := literal_all(node)) is not None and item in found.elts)
    if isinstance(whole, ast.Tuple) and len(whole.elts) == _PAIR:
        other = next(one for one in whole.elts if one is not item)
        said = ast.get_source_segment(module.document.text, other)
        return Edit(start=module.start(whole), end=module.end(whole), new_text=f"({said},)")
    if line.isascii() and not line[: start[1]].strip() and rest.partition("#")[0].strip() in (",", ""):
        return Edit(start=(start[0], 0), end=(end[0] + 1, 0), new_text="")
    at = whole.elts.index(item)
    if at and at + 1 == len(whole.elts):
        return Edit(start=module.end(whole.elts[at - 1]), end=end, new_text="")
    after = len(rest) - len(rest.lstrip(", ")) if rest else 0
    return Edit(start=start, end=(end[0], end[1] + after), new_text="")


def _into_list(module: Module, name: str) -> list[Edit]:
    """Adds a name to what a module lists as its own, in order where the others are."""
    whole = next((found for node in module.tree.body if (found := literal_all(node)) is not None), None)
    known = [item for item in whole.elts if isinstance(item, ast.Constant)] if whole is not None else []
    if whole is None or not known or len(known) != len(whole.elts) or any(item.value == name for item in known):
        return []
    values = [str(item.value) for item in known]
    first = known[0]
    mark = (ast.get_source_segment(module.document.text, first) or "'")[0]
    own_line = module.line(first.lineno - 1)[: first.col_offset]
    apart = f",\n{own_line}" if not own_line.strip() else ", "
    quoted = f"{mark}{name}{mark}"
    if values == sorted(values) and name < values[-1]:
        before = module.start(next(item for item in known if str(item.value) > name))
        return [Edit(start=before, end=before, new_text=f"{quoted}{apart}")]
    end = module.end(known[-1])
    return [Edit(start=end, end=end, new_text=f"{apart}{quoted}")]


def _in_target(
    source: Module, target: Module, name: str, block: Block, needed: Sequence[Needed], futures: bool,
    places: Collection[Position], found: Moved, *, is_new: bool,
) -> None:  # fmt: skip
    text = _text_there(source, target, block)
    if is_new:
        made = _new_text(needed, text, futures=futures, own=source.name.partition(".")[0])
        newline = "\r\n" if "\r\n" in source.document.text else "\n"
        found.documents[target.path] = Document(text=made.replace("\n", newline))
        return
    edits: list[Edit] = []
    for node in target.imports:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom) and alias.name == name and target.from_module(node) == source.name:
                if alias.asname:
                    raise EditRefused(f"'{target.path}' has '{name}' as '{alias.asname}'; write it by its own name there first")
                edits.append(target.without(node, alias))
    edits += _attributes(target, source, target, name, places, found)
    edits += _into_list(target, name) if found.is_public else []
    target = Module(target.path, target.name, target.document.edited(joined(edits), f"'{target.path}'"))
    edits = []
    types: list[str] = []
    for item in sorted(needed, key=lambda item: item.is_block):
        if item.is_block:
            if any(ast.unparse(node) == ast.unparse(ast.parse(item.text)) for node in target.tree.body):
                continue
        elif any(_is_same(target, binding, item) and _serves(target, binding, item) for binding in target.bindings.get(item.binds, [])):
            continue
        if any(not _is_same(target, binding, item) for binding in target.bindings.get(item.binds, [])) and (
            not item.text.startswith(f"import {item.binds}.")
        ):
            raise EditRefused(f"it uses '{item.binds}' of '{source.path}', and '{target.path}' has another '{item.binds}'")
        if item.is_for_types:
            types.append(item.text)
        else:
            edits.append(one_more_import(target, item.text, item.module if item.name else "", item.name))
    edits += imports_for_types(target, types) if types else []
    target = Module(target.path, target.name, target.document.edited(joined(edits), f"'{target.path}'"))
    found.documents[target.path] = target.document.edited([_insertion(target, name, text)], f"'{target.path}'")


def _text_there(source: Module, target: Module, block: Block) -> str:
    """The definition's lines; imports with dots in its functions mean what they meant."""
    edits: list[Edit] = []
    for node in (inner for statement in block.nodes for inner in ast.walk(statement)):
        if isinstance(node, ast.ImportFrom) and node.level:
            start = source.document.lines.offset(*source.start(node))
            said = _FROM.match(source.document.text, start)
            if said is None:
                raise EditRefused(f"line {node.lineno} of '{source.path}' imports with dots in a form that is not rewritten")
            edits.append(_replacing(source.document, said.start(1), said.end(1), relative(source.from_module(node), target.package)))
    there = Module(source.path, source.name, source.document.edited(edits))
    return "\n".join(there.line(number) for number in range(block.first, block.last + 1))


def _insertion(target: Module, name: str, text: str) -> Edit:
    """Before the first statement of the module that uses the name; without one at its end."""
    for node in target.tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom) and any(
            isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node)
        ):
            line = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))]) - 1
            while line > 0 and target.line(line - 1).startswith("#"):
                line -= 1
            blank = next((above for above in range(line) if target.line(line - 1 - above).strip()), line)
            before = "\n" * max(0, _APART - blank) if line > blank and _is_definition(text) else ""
            after = "\n" * (_APART if _is_definition(text) or not isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) else 0)
            return Edit(start=(line, 0), end=(line, 0), new_text=f"{before}{text}\n{after}")
    last = len(target.document.lines) - 1
    used = last
    while used > 0 and not target.line(used).strip():
        used -= 1
    if not target.line(used).strip():  # an empty text
        return Edit(start=(0, 0), end=target.end_of_line(last), new_text=f"{text}\n")
    return Edit(start=target.end_of_line(used), end=target.end_of_line(last), new_text=f"\n\n\n{text}\n")


def _is_definition(text: str) -> bool:
    return isinstance(ast.parse(text).body[0], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _new_text(needed: Sequence[Needed], text: str, *, futures: bool, own: str) -> str:
    """A module of the imports, by groups (the standard library, others, its own package), and the definition."""
    groups: dict[int, list[str]] = {}
    for item in sorted((item for item in needed if not item.is_for_types and not item.is_block), key=lambda item: item.line):
        first = item.text.split()[1].partition(".")[0]
        group = 2 if item.text.split()[1].startswith(".") or first == own else 0 if first in sys.stdlib_module_names else 1
        groups.setdefault(group, []).append(item.text)
    types = [item.text for item in needed if item.is_for_types]
    if types and not any("TYPE_CHECKING" in line for line in groups.get(0, [])):
        groups.setdefault(0, []).append("from typing import TYPE_CHECKING")
    parts = ["from __future__ import annotations"] if futures else []
    parts += ["\n".join(together(groups[group])) for group in sorted(groups)]
    parts += dict.fromkeys(item.text for item in needed if item.is_block)
    if types:
        parts.append("\n".join(["if TYPE_CHECKING:", *indented(together(types))]))
    head = "\n\n".join(parts)
    return f"{head}\n\n\n{text}\n" if head else f"{text}\n"


def _in_user(
    user: Module, source: Module, target: Module, name: str, places: Collection[Position], found: Moved, *, remains: bool, hands_on: bool
) -> None:  # fmt: skip
    edits: list[Edit] = []
    for node in user.imports:
        if not isinstance(node, ast.ImportFrom) or user.from_module(node) != source.name:
            continue
        for alias in node.names:
            if alias.name == name:
                edits += _import_moved(user, node, alias, target)
            elif alias.name == "*" and not remains and (hands_on or any(_is_name(user, place) for place in places)):
                written = relative(target.name, user.package) if node.level else target.name
                edits.append(user.after(node, f"from {written} import {name}"))
    edits += _attributes(user, source, target, name, places, found)
    if not edits:
        return
    found.documents[user.path] = user.document.edited(joined(edits), f"'{user.path}'")


def _has_by_import(user: Module, source: Module, name: str) -> bool:
    """Whether a module always has the name, by importing it from the old one."""
    return any(
        isinstance(node, ast.ImportFrom)
        and user.from_module(node) == source.name
        and any(alias.name == name and alias.asname in (None, name) for alias in node.names)
        for node in user.tree.body
    )


def _is_name(user: Module, place: Position) -> bool:
    return any(isinstance(node, ast.Name) and user.start(node) == place for node in ast.walk(user.tree)) or any(
        _is_within(user, item, place) for item in user.quoted
    )


def _import_moved(user: Module, node: ast.ImportFrom, alias: ast.alias, target: Module) -> list[Edit]:
    """An import from the old module as one from the new one."""
    written = relative(target.name, user.package) if node.level else target.name
    there = _statement_from(user, target.name, beside=node)
    if there is not None:
        return [user.without(node, alias), user.and_also(there, said_of(alias))]
    text = f"from {written} import {said_of(alias)}"
    if len(node.names) == 1:
        return [Edit(start=user.start(node), end=user.end(node), new_text=text)]
    return [user.without(node, alias), user.beside(node, text)]


def _statement_from(module: Module, name: str, beside: ast.stmt) -> ast.ImportFrom | None:
    """A statement that imports from a module already, in the same block as another one."""
    for node in module.block_of(beside):
        if isinstance(node, ast.ImportFrom) and module.from_module(node) == name and node.names[0].name != "*":
            return node
    return None


def _attributes(user: Module, source: Module, target: Module, name: str, places: Collection[Position], found: Moved) -> list[Edit]:
    """Uses as an attribute of the old module; in the new module itself they become the bare name. And what else names it there."""
    edits: list[Edit] = []
    by_end = {user.end(node): node for node in ast.walk(user.tree) if isinstance(node, ast.Attribute) and node.attr == name}
    width = _width(name)
    plain = {user.start(node) for node in ast.walk(user.tree) if isinstance(node, ast.Name)}
    for alias in (alias for node in user.imports for alias in node.names):
        (line, col), other = user.end(alias), alias.asname or ""
        plain |= {user.start(alias), (line, col - _width(other))}
    added: set[str] = set()
    listed, quoted = _listed_in_all(user, name), user.quoting(name)  # of what it imports
    for place in sorted(places):
        node = by_end.get((place[0], place[1] + width))
        if place in plain or any(_is_within(user, item, place) for item in (listed, *quoted)):
            continue
        if node is not None:
            said, start, end = dotted(node.value), user.start(node), user.end(node)
        elif any(_is_within(user, item, place) for item in user.quoted) and (said := _before(user, place)):
            start, end = (place[0], place[1] - len(said) - 1), (place[0], place[1] + width)
        else:
            edit = _in_text(user.path, user.document, source, target, name, place, found)
            edits += [edit] if edit is not None else []
            continue
        meant, statements = meant_by(user, said)
        if meant and meant != source.name:
            continue  # a third module hands it on, and still does
        if node is not None and not isinstance(node.ctx, ast.Load):
            found.set_from.add(user.path)
        if not meant:
            found.left.append(Place(user.path, *place))
        elif user is target:
            edits.append(Edit(start=start, end=end, new_text=name))
        else:
            written, text = _spelled(user, target, statements[0], said)
            edits.append(Edit(start=start, end=end, new_text=f"{written}.{name}"))
            if text and text not in added:
                added.add(text)
                edits += [user.after(statement, text) for statement in _outermost(user, statements)]
    return edits


def _before(user: Module, place: Position) -> str:
    """The dotted name that a place in a quoted type is an attribute of."""
    text = user.document.text
    at = user.document.lines.offset(*place)
    found = _DOTTED.search(text, max(0, at - _LONGEST), at)
    return found.group(1) if found is not None and found.group(1).isascii() else ""


def _width(name: str) -> int:
    return index_to_utf16(name, len(name))


def meant_by(user: Module, said: str) -> tuple[str, list[Import]]:
    """The module that `a.b` means where a text says it, and the statements that bind its first name; nothing where that is unclear."""
    first, _, rest = said.partition(".")
    found: dict[str, list[Import]] = {}
    for node in user.imports:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                if (alias.asname or alias.name) == first:
                    found.setdefault(".".join(part for part in (user.from_module(node), alias.name, rest) if part), []).append(node)
            elif alias.asname == first:
                found.setdefault(".".join(part for part in (alias.name, rest) if part), []).append(node)
            elif not alias.asname and alias.name.partition(".")[0] == first:
                found.setdefault(said, []).append(node)
    return next(iter(found.items())) if len(found) == 1 else ("", [])


def _outermost(user: Module, statements: Sequence[Import]) -> Sequence[Import]:
    """Those that bind a name for others: one of the module itself, else each of the functions'."""
    return next(([node] for node in statements if node in user.tree.body), statements)


def _spelled(user: Module, target: Module, statement: Import, said: str) -> tuple[str, str]:
    """How the new module is written where the old one was, and the statement that it takes; none where it is imported so already."""
    parent, _, last = target.name.rpartition(".")
    if isinstance(statement, ast.Import) and not any(alias.asname == said for alias in statement.names):
        text = f"import {target.name}"
        return target.name, "" if any(_says(node, text) for node in user.tree.body) else text
    of_parent = [node for node in user.tree.body if isinstance(node, ast.ImportFrom) and user.from_module(node) == parent]
    if any(alias.name == last and not alias.asname for node in of_parent for alias in node.names):
        return last, ""
    if last in user.words or last in BUILTINS or not last:
        return target.name, f"import {target.name}"
    if not parent:
        return last, f"import {last}"
    is_relative = isinstance(statement, ast.ImportFrom) and statement.level
    return last, f"from {relative(parent, user.package) if is_relative else parent} import {last}"


def _says(node: ast.stmt, text: str) -> bool:
    return isinstance(node, ast.Import) and any(f"import {alias.name}" == text and not alias.asname for alias in node.names)


def _in_text(path: str, document: Document, source: Module, target: Module, name: str, place: Position, found: Moved) -> Edit | None:
    """A dotted name in a string or a manifest (`shop.util.helper`, `shop.util:helper`)."""
    low, high = document.lines.bounds(place[0])
    line = document.text[low:high]
    at = document.lines.offset(*place) - low
    for mark in (".", ":"):
        before = f"{source.name}{mark}"
        begin = at - len(before)
        if line[max(0, begin) : at] == before and not (begin > 0 and (line[begin - 1].isalnum() or line[begin - 1] in "._")):
            found.set_from.add(path)
            return _replacing(document, low + begin, low + at, f"{target.name}{mark}")
        if line[at:].startswith(f"{before}{name}"):
            found.set_from.add(path)
            return _replacing(document, low + at, low + at + len(source.name), target.name)
    owner = _DOTTED.search(line[:at])
    if line[at : at + len(name)] == name and (owner is None or owner[1] not in found.having):  # there it is what it was
        found.left.append(Place(path, *place))
    return None


def _replacing(document: Document, start: int, end: int, text: str) -> Edit:
    return Edit(start=document.lines.position(start), end=document.lines.position(end), new_text=text)


def _is_same(module: Module, binding: Binding, item: Needed) -> bool:
    """Whether a module has a name already as the definition takes it."""
    node, alias, _ = binding
    if alias is None:
        return False
    if isinstance(node, ast.Import):
        return f"import {said_of(alias)}" == item.text
    return isinstance(node, ast.ImportFrom) and module.from_module(node) == item.module and said_of(alias) == item.name


def _serves(module: Module, binding: Binding, item: Needed) -> bool:
    """Whether a module has the name always, and not under a condition that the definition knows nothing of."""
    return any(node is binding.node for node in module.tree.body) or (item.is_for_types and binding.is_for_types)


def _is_import_of(module: Module, name: str, source: Module) -> bool:
    return all(
        isinstance(binding.node, ast.ImportFrom) and module.from_module(binding.node) == source.name for binding in module.bindings[name]
    )
