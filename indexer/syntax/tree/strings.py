"""Strings that name something: calls that take names, names with dots, paths; and comments that a linker reads."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from indexer.languages import Lookup
from indexer.model import NameUse, Role
from indexer.syntax.model import NamedString
from indexer.text import OffsetMap

_WORD = rb"[A-Za-z_$\x80-\xef][\w$\x80-\xef]*"
_NAME = re.compile(rb"%b(?:(?:\.|::)%b)*" % (_WORD, _WORD))
_OF_TYPE = re.compile(rb"[\w.$]*#(%b)(?:\([\w., \[\]]*\))?" % _WORD)
"""`package.Type#method(int)`, as tests and documentation of Java have it."""
_IN_STORE = re.compile(rb"(?:[\w$-]+/)+(%b)" % _WORD)
"""`module/name`, as stores of Vue have it."""
_FILE = re.compile(rb"\.{1,2}/[\w@.$/-]*[\w$]")
_FOLDER = re.compile(rb"\.{1,2}(?:/\.{1,2})*/?")
"""A folder that is required as a module: `require("..")`. Elsewhere such a text may be anything."""
_LINKNAME = re.compile(rb"//go:linkname[ \t]+(\w+)(?:[ \t]+([\w./~-]+\.\w+))?[ \t\r]*\Z")
_EXPORT = re.compile(rb"//(?:export|go:wasmexport)[ \t]+(\w+)[ \t\r]*\Z")
_BEGINNING = re.compile(rb"""["'`]([\w@.$/-]{1,100})""")
_PASTED = re.compile(rb"\[\s*<\s*([A-Za-z_]\w+)\s+\$")
"""What a name begins with that a macro puts together."""
_MOST_BYTES, _MOST_TEMPLATE_BYTES = 250, 100_000
_ACTION = re.compile(rb"\{\{[^{}]*\}\}")
_OF_ACTION = re.compile(rb"(?<=\.)%b" % _WORD)
_TEMPLATE = "{{"
"""In place of a call, in a `Lookup`: names with a dot before them, in braces of a template."""

_ARGUMENTS = ("arguments", "argument_list", "annotation_argument_list")
_IMPORTS = ("import_statement", "export_statement", "import_spec", "preproc_include")


class _Taken(NamedTuple):
    """How a string is taken, what for, and the start of the identifier in whose meaning it is looked up; -1: there is none."""

    use: NameUse
    roles: Role
    of: int = -1


def named_strings(
    captures: Mapping[str, Sequence[Any]],
    lookups: Sequence[Lookup],
    offsets: OffsetMap,
    enclosing: Callable[[int], int],
    owner: Callable[[int], int] = lambda _: -1,
) -> list[NamedString]:
    """By position.

    Args:
        lookups: of the language. enclosing: the symbol around a byte offset. owner: the type of `this` there, -1 where nobody knows it.
    """
    by_call: dict[str, list[Lookup]] = {}
    for lookup in lookups:
        by_call.setdefault(lookup.call, []).append(lookup)
    found: set[NamedString] = set()

    def add(start: int, name: bytes, taken: _Taken, of_type: int = -1) -> None:
        line, col = offsets.position(start)
        of_line, of_col = offsets.position(taken.of if taken.of >= 0 else start)
        end_col = offsets.position(start + len(name))[1]
        roles = int(taken.roles | Role.MENTION)
        text = name.decode("utf-8", "replace")
        found.add(NamedString(line, col, end_col, text, taken.use, roles, enclosing(start), of_type, of_line, of_col))

    for node in captures.get("string", ()):
        for taken in (_Taken(lookup.use, lookup.roles) for lookup in by_call.get(_TEMPLATE, ())):
            for start, name in _in_template(node):
                add(start, name, taken)
        if node.end_byte - node.start_byte > _MOST_BYTES:
            continue
        text = node.text
        literal = node.parent
        if _FILE.fullmatch(text) or (_FOLDER.fullmatch(text) and _is_required(literal)):
            if literal is not None and literal.parent is not None and literal.parent.type not in _IMPORTS:
                add(node.start_byte, text, _Taken(NameUse.FILE, Role(0)))
        elif (within := _OF_TYPE.fullmatch(text) or _IN_STORE.fullmatch(text)) is not None:
            for taken in _ways(literal, by_call):
                add(node.start_byte + within.start(1), within[1], taken)
        elif _NAME.fullmatch(text):
            ways = list(_ways(literal, by_call))
            if not ways and b"." in text and b":" not in text:
                ways = [_Taken(NameUse.DOTTED, Role.READ)]
            for taken in ways:
                add(node.start_byte, text, taken)
    for node in captures.get("made_module", ()):
        match = _BEGINNING.match(node.text)
        add(node.start_byte, _without_sign(match) if match else b"", _Taken(NameUse.MODULE, Role.READ | Role.CALL))
    for node in captures.get("made_name", ()):  # `this["visit_" + kind]`: who keeps it may call it later
        index, holder = node.child_by_field_name("index"), _inner(node.child_by_field_name("object"))
        match = _BEGINNING.match(index.text)
        if match is None or holder is None:
            continue
        is_called = node.parent is not None and node.parent.child_by_field_name("function") == node
        taken = _Taken(NameUse.BEGINNING, Role.READ | Role.CALL if is_called else Role.READ, _last_name(holder))
        add(index.start_byte, _without_sign(match), taken, owner(node.start_byte) if holder.type == "this" else -1)
    for node in captures.get("made_lookup", ()):  # the argument of what looks a member up
        match = _BEGINNING.match(node.text)
        add(node.start_byte, _without_sign(match) if match else b"", _Taken(NameUse.BEGINNING, Role.READ | Role.CALL))
    for node in captures.get("pasted", ()):
        if match := _PASTED.match(node.text):
            for use in (NameUse.BEGINNING, NameUse.GLOBAL_BEGINNING):
                add(node.start_byte + match.start(1), match[1], _Taken(use, Role.READ | Role.CALL))
    for node in captures.get("comment", ()):
        text = node.text
        exported = _EXPORT.match(text) if text.startswith((b"//export", b"//go:wasmexport")) else None
        if exported is not None:
            add(node.start_byte + exported.start(1), exported[1], _Taken(NameUse.GLOBAL, Role.READ))
        match = _LINKNAME.match(text) if text.startswith(b"//go:linkname") else None
        if match is not None:
            add(node.start_byte + match.start(1), match[1], _Taken(NameUse.GLOBAL, Role.READ))
            if match[2]:
                add(node.start_byte + match.start(2), match[2], _Taken(NameUse.LINKED, Role.READ))
    return sorted(found)


def _without_sign(match: re.Match[bytes]) -> bytes:
    """The beginning of a name that is made, without the sign of an expression that follows: `do` of `do${name}`."""
    beginning: bytes = match[1]
    return beginning[:-1] if beginning.endswith(b"$") and match.string[match.end() : match.end() + 1] == b"{" else beginning


def _is_required(literal: Any) -> bool:
    """Whether a text is all that `require` or `import` is given."""
    arguments = literal.parent if literal is not None else None
    if arguments is None or arguments.type not in _ARGUMENTS or arguments.named_child_count != 1 or arguments.parent is None:
        return False
    function = arguments.parent.child_by_field_name("function")
    return function is not None and function.text in (b"require", b"import")


def _in_template(node: Any) -> Iterator[tuple[int, bytes]]:
    if node.end_byte - node.start_byte <= _MOST_TEMPLATE_BYTES and b"{{" in (text := node.text):
        for action in _ACTION.finditer(text):
            for name in _OF_ACTION.finditer(text, action.start(), action.end()):
                yield node.start_byte + name.start(), name[0]


def _ways(literal: Any, by_call: Mapping[str, list[Lookup]]) -> Iterator[_Taken]:
    """How the call or the attribute takes a literal that it stands in; nothing where it takes no names."""
    if literal is None or literal.parent is None or not by_call:
        return
    around = literal.parent
    if around.type == "array" and "=" not in by_call and around.parent is not None:  # `mapActions(["name"])`
        literal, around = around, around.parent
    if around.type in ("variable_assignment", "array"):  # a shell runs what a variable holds
        for lookup in by_call.get("=", ()):
            yield _Taken(lookup.use, lookup.roles)
        return
    if around.type == "element_value_array_initializer" and around.parent is not None:
        literal, around = around, around.parent
    if around.type in ("argument", "annotation_argument", "element_value_pair") and around.parent is not None:
        literal, around = around, around.parent
    start: int = literal.start_byte
    if around.type == "token_tree":  # Rust: `#[serde(default = "path")]`
        children = around.children
        place = next((number for number, child in enumerate(children) if child.start_byte == start), 0)
        if place >= 2 and children[place - 1].type == "=":
            for lookup in by_call.get(f"#{children[place - 2].text.decode('utf-8', 'replace')}", ()):
                yield _Taken(lookup.use, lookup.roles)
        return
    if around.type == "binary_expression":  # `"name" in value`
        operator, left = around.child_by_field_name("operator"), around.child_by_field_name("left")
        for lookup in by_call.get(f" {operator.type}", ()) if operator is not None and literal == left else ():
            yield _Taken(lookup.use, lookup.roles, _last_name(around.child_by_field_name("right")))
        return
    if around.type == "literal_type":
        yield from _in_type(around, by_call)
        return
    if around.type not in _ARGUMENTS or around.parent is None:
        return
    call = around.parent
    function = call.child_by_field_name("function") or call.child_by_field_name("name") or call.child_by_field_name("type")
    if function is None:
        return
    *before, called = (part.strip().decode("utf-8", "replace") for part in re.split(rb"\.|->|::", function.text[-200:]))
    owner = call.child_by_field_name("object")
    if owner is not None and not before:
        before = [owner.text[-200:].decode("utf-8", "replace").rpartition(".")[2]]
    arguments = [child for child in around.named_children if "comment" not in child.type]
    position = next((number for number, child in enumerate(arguments) if child.start_byte == start), -1)
    prefix = "@" if "annotation" in call.type else ""
    named = [prefix + called, *([f"{before[-1]}.{called}"] if before else [])]
    for lookup in (lookup for name in named for lookup in by_call.get(name, ())):
        if lookup.argument in (position, -1):
            of = arguments[lookup.of] if 0 <= lookup.of < len(arguments) else None
            yield _Taken(lookup.use, lookup.roles, _last_name(of))


def _in_type(literal: Any, by_call: Mapping[str, list[Lookup]]) -> Iterator[_Taken]:
    """How a type takes a name that it is given, alone or as one of several: `Omit<Options, "depth" | "width">`."""
    given = literal
    while given.parent is not None and given.parent.type == "union_type":
        given = given.parent
    arguments = given.parent
    if arguments is None or arguments.type != "type_arguments" or arguments.parent is None:
        return
    name = arguments.parent.child_by_field_name("name")
    types = [child for child in arguments.named_children if "comment" not in child.type]
    position = next((number for number, child in enumerate(types) if child == given), -1)
    for lookup in by_call.get(f"<{name.text.decode('utf-8', 'replace')}", ()) if name is not None else ():
        if lookup.argument == position:
            of = types[lookup.of] if 0 <= lookup.of < len(types) else None
            held = of.child_by_field_name("name") if of is not None and of.type == "generic_type" else of
            yield _Taken(lookup.use, lookup.roles, _last_name(held))


def _inner(node: Any) -> Any:
    """What stands in brackets, without what it is taken for: `(this as any)`."""
    while node is not None and node.type in ("parenthesized_expression", "as_expression", "non_null_expression") and node.named_child_count:
        node = node.named_child(0)
    return node


def _last_name(node: Any) -> int:
    """Where the identifier begins whose meaning an expression has; -1 where it has none of one."""
    if node is None:
        return -1
    last = node.child_by_field_name("property") or node.child_by_field_name("field") or node
    if last.text == b"prototype" and (owner := node.child_by_field_name("object")) is not None:
        return _last_name(owner)
    return last.start_byte if "identifier" in last.type else -1


def enclosing_at(changes: Sequence[tuple[int, Any, Any]], ordinal: Callable[[Any], int]) -> Callable[[int], int]:
    """The symbol around a byte offset.

    Args:
        changes: where what is around changes, as `outline.Sweep` has them. ordinal: of what is around.
    """
    starts = [start for start, _, _ in changes]
    return lambda offset: ordinal(changes[max(0, bisect_right(starts, offset) - 1)][1])
