"""Strings that name something: dotted names wherever they stand, bare names where something looks names up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from indexer.languages import PYTHON, Lookup
from indexer.model import NameUse, Operation, Role
from indexer.syntax.model import NamedString
from indexer.syntax.python.annotations import Annotations, is_type_name
from indexer.syntax.python.computed import may_be_called
from indexer.syntax.python.nodes import (
    K_ARGUMENT_LIST,
    K_ATTRIBUTE,
    K_BINARY_OPERATOR,
    K_CALL,
    K_EXPRESSION_STATEMENT,
    K_IDENTIFIER,
    K_INTERPOLATION,
    K_KEYWORD_ARGUMENT,
    K_STRING,
    kind_id,
    name_of,
)
from indexer.syntax.python.roles import ANNOTATION, READ
from indexer.syntax.python.scopes import Scope, self_owner

K_STRING_CONTENT = kind_id("string_content")
K_CONDITIONAL = kind_id("conditional_expression")

_PART = rb"[A-Za-z_\x80-\xef][\w\x80-\xef]*"
_NAME = re.compile(_PART)
_DOTTED = re.compile(rb"%b(?:\.%b)*(?::%b(?:\.%b)*)?" % (_PART, _PART, _PART, _PART))
_ENTRY = re.compile(rb"[\w .-]+=\s*(%b(?:\.%b)*:%b(?:\.%b)*)\s*(?:\[[\w, ]*\])?" % (_PART, _PART, _PART, _PART))
"""An entry point as `setup.py` writes it: `name = a.b:f [extra]`."""

_MOST_BYTES = 250
"""Longer strings are no names."""

_LEAST_BEGINNING = 2
_LAST_PART = re.compile(rb"\.(%b)\Z" % _PART)
"""The end of a dotted name that is put together."""

_PROTOCOLS = (b"ext://",)
_LENGTH = len(_PROTOCOLS[0])
"""`ext://sys.stdout` in a configuration of `logging`."""

_OF_PATCH = frozenset((b"spec", b"create", b"spec_set", b"autospec", b"new_callable", b"target"))
"""Parameters of `patch.multiple` itself."""

_BY_CALL: dict[str, list[Lookup]] = {}
for _lookup in PYTHON.lookups:
    _BY_CALL.setdefault(_lookup.call, []).append(_lookup)
_LAST_NAMES = frozenset(call.rpartition(".")[2].encode() for call in _BY_CALL)

_NAMESPACES = (b"globals", b"vars")
"""Calls whose result has names as keys."""

_OWN_MODULE = re.compile(rb"(?:sys\.)?modules\[__name__\]|(?:importlib\.)?import_module\(__name__\)|__import__\(__name__\)")
"""The module that this text is."""

_READS_KEY = (b"get", b"pop", b"setdefault", b"__getitem__")
_RUNS_TEXT = (b"eval", b"exec")
_TYPE_COMMENT = re.compile(rb"#\s*type:\s*(?!ignore\b)")
_BEGINNINGS = {NameUse.MEMBER: NameUse.BEGINNING, NameUse.GLOBAL: NameUse.GLOBAL_BEGINNING, NameUse.FIXTURE: NameUse.FIXTURE}


class _Place(NamedTuple):
    """How a string at some place is taken, in the meaning of which expression (None where there is none), and what for."""

    use: NameUse
    of: Any
    roles: Role = Role.READ


class Strings(Annotations):
    """Records strings by what they may name. A call is visited before its arguments, and says how their strings are taken."""

    def __init__(self, source: bytes, module_name: str, is_test: bool) -> None:
        super().__init__(source, module_name, is_test)
        self.awaited: dict[int, list[_Place]] = {}  # by start byte of a string

    def names_in_call(self, function: Any, arguments: Any, scope: Scope) -> None:
        """Says of the strings among the arguments how they are taken, where what is called takes names."""
        if function is None or arguments.kind_id != K_ARGUMENT_LIST:
            return
        last = function.child_by_field_name("attribute") if function.kind_id == K_ATTRIBUTE else function
        if last is None or last.kind_id != K_IDENTIFIER:
            return
        called = last.text
        receiver = function.child_by_field_name("object") if function.kind_id == K_ATTRIBUTE else None
        if called in _READS_KEY and receiver is not None:
            namespace = self.namespace(receiver)
            if namespace is not None and arguments.named_child_count:
                self.expect(arguments.named_children[0], namespace, scope, arguments.parent)
            return
        if called in _RUNS_TEXT and receiver is None and arguments.named_child_count:
            self.names_in_text(_content(arguments.named_children[0]), 0, scope)
        if called not in _LAST_NAMES:
            return
        name = called.decode()
        lookups = _BY_CALL.get(name, [])
        if receiver is not None:
            before = receiver.child_by_field_name("attribute") if receiver.kind_id == K_ATTRIBUTE else receiver
            lookups = _BY_CALL.get(f"{before.text.decode('utf-8', 'replace')}.{name}", lookups) if before is not None else lookups
        if name == "multiple":
            self._replaced_by_keywords(arguments, scope)
        for lookup in lookups:
            plain = [child for child in arguments.named_children if child.kind_id != K_KEYWORD_ARGUMENT]
            of = plain[lookup.of] if 0 <= lookup.of < len(plain) else None
            place = _Place(lookup.use, of, lookup.roles)
            if of is not None and lookup.use is NameUse.MEMBER and _OWN_MODULE.fullmatch(of.text):
                place = _Place(NameUse.GLOBAL, None, lookup.roles)
            for argument in _arguments(lookup, arguments, plain):
                self.expect(argument, place, scope, arguments.parent)

    def _replaced_by_keywords(self, arguments: Any, scope: Scope) -> None:
        """`patch.multiple("module", name=…)` replaces what its keywords name, for a test."""
        for child in arguments.named_children:
            key = child.child_by_field_name("name") if child.kind_id == K_KEYWORD_ARGUMENT else None
            if key is not None and key.text not in _OF_PATCH:
                self.add_string(key, 0, key.text, _Place(NameUse.MEMBER, None, Role(0)), scope)

    def namespace(self, node: Any) -> _Place | None:
        """What has names as keys: `globals()`, `vars(x)`, `x.__dict__`."""
        if node.kind_id == K_ATTRIBUTE:
            last = node.child_by_field_name("attribute")
            return _keys_of(node.child_by_field_name("object")) if last is not None and last.text == b"__dict__" else None
        if node.kind_id != K_CALL:
            return None
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or function.text not in _NAMESPACES:
            return None
        if function.text == b"globals":
            return _Place(NameUse.GLOBAL, None)
        return _keys_of(arguments.named_children[0]) if arguments.named_child_count else None

    def subscript(self, node: Any, scope: Scope, roles: int) -> None:
        value = node.child_by_field_name("value")
        namespace = self.namespace(value) if value is not None else None
        if namespace is not None:
            for key in node.children_by_field_name("subscript"):
                self.expect(key, namespace, scope, node)
        passed = roles & ANNOTATION | READ
        for child in reversed(node.named_children):
            self.push(child, scope, passed)

    def expect(self, node: Any, place: _Place, scope: Scope, lookup: Any) -> None:
        """Notes how a string is taken that will be visited, and records at once the beginning of a name that is made there.

        Args:
            lookup: the whole expression that looks the name up.
        """
        if node.kind_id == K_CONDITIONAL:
            for part in (node.named_children[0], node.named_children[-1]):
                self.expect(part, place, scope, lookup)
            return
        if node.kind_id == K_STRING and not any(child.kind_id == K_INTERPOLATION for child in node.named_children):
            self.awaited.setdefault(node.start_byte, []).append(place)
            return
        if place.use is NameUse.OBJECT and (last := _last_content(node)) is not None and (end := _LAST_PART.search(last.text)):
            # `MODULE + ".name"`: of what it is a member, nobody knows
            self.add_string(last, end.start(1), end[1], _Place(NameUse.MEMBER, None, place.roles), scope)
            return
        beginning = _BEGINNINGS.get(place.use)
        if beginning is None or not place.roles & (Role.READ | Role.CALL):
            return  # what is set under a name that is made is new, and refers to nothing
        content = _first_content(node)
        match = _NAME.match(content.text) if content is not None else None
        place = place._replace(use=beginning)
        if beginning is NameUse.FIXTURE:
            if node.kind_id != K_STRING:
                self.add_string(node, 0, b"", place, scope)  # any fixture
        elif (
            content is not None
            and match is not None
            and match.end() >= _LEAST_BEGINNING
            and content.text[match.end() : match.end() + 1] in (b"", b"%", b"{")
        ):
            self.add_string(content, 0, match[0], place, scope)
        elif node.kind_id != K_STRING:
            called = may_be_called(lookup)
            self.add_string(node, 0, b"", place._replace(roles=Role.CALL) if called else place, scope)
            if called and beginning is NameUse.BEGINNING:
                self.operate(Operation.LOOK_UP, place.of, scope, lookup)

    def names_in_text(self, content: Any, start: int, scope: Scope) -> None:
        """Text that is read as code in this module: all of its words may be names."""
        for match in _NAME.finditer(content.text, start) if content is not None and b"\n" not in content.text else ():
            self.add_string(content, match.start(), match[0], _Place(NameUse.GLOBAL, None), scope)

    def comment(self, node: Any, scope: Scope, roles: int) -> None:
        match = _TYPE_COMMENT.match(node.text)
        if match is not None:
            self.names_in_text(node, match.end(), scope)

    def string(self, node: Any, scope: Scope, roles: int) -> None:
        super().string(node, scope, roles)
        places = self.awaited.pop(node.start_byte, None)
        if node.end_byte - node.start_byte > _MOST_BYTES or is_type_name(node, roles):
            return
        content = _content(node)
        if content is None:
            return
        text = content.text
        if text.startswith(_PROTOCOLS) and _DOTTED.fullmatch(text, _LENGTH) is not None and b"." in text:
            self.add_string(content, _LENGTH, text[_LENGTH:], _Place(NameUse.DOTTED, None), scope)
            return
        if _DOTTED.fullmatch(text) is None:
            if b":" in text and (entry := _ENTRY.fullmatch(text)) is not None:
                self.add_string(content, entry.start(1), entry[1], _Place(NameUse.ENTRY, None, Role.CALL), scope)
            return
        is_bare = b"." not in text and b":" not in text
        for place in places or ():
            if place.use in (NameUse.MEMBER, NameUse.GLOBAL, NameUse.FIXTURE) and not is_bare:
                offset = 0
                for part in text.split(b"."):  # `attrgetter("a.b")`
                    self.add_string(content, offset, part, place._replace(of=None), scope)
                    offset += len(part) + 1
            else:
                self.add_string(content, 0, text, place, scope)
        if not places and not is_bare and node.parent.kind_id != K_EXPRESSION_STATEMENT:
            self.add_string(content, 0, text, _Place(NameUse.DOTTED, None), scope)

    def add_string(self, content: Any, offset: int, name: bytes, taken: _Place, scope: Scope) -> None:
        line, start = content.start_point
        start += offset
        col, end_col = self.columns.utf16(line, start), self.columns.utf16(line, start + len(name))
        place, owner = (line, col), -1
        if taken.of is not None and (looked := _last_name(taken.of)) is not None:
            if not _is_attribute(looked):
                owner = self_owner(name_of(looked.text), scope)
            of_line, of_start = looked.start_point
            place = (of_line, self.columns.utf16(of_line, of_start))
        roles = int(taken.roles | Role.MENTION)
        self.strings.append(NamedString(line, col, end_col, name.decode("utf-8", "replace"), taken.use, roles, scope.symbol, owner, *place))


def _last_content(node: Any) -> Any:
    """The text that a string ends with which is put together: by `+`, or after an expression in it; None of all else."""
    if node.kind_id == K_BINARY_OPERATOR:
        right = node.child_by_field_name("right")
        return _content(right) if right is not None else None
    if node.kind_id != K_STRING or node.named_child_count < 3:
        return None
    last = node.named_children[-2]
    return last if last.kind_id == K_STRING_CONTENT and not last.named_child_count else None


def _keys_of(node: Any) -> _Place:
    """What the names are those of which an expression has, as keys of its dictionary."""
    return _Place(NameUse.GLOBAL, None) if _OWN_MODULE.fullmatch(node.text) else _Place(NameUse.MEMBER, node)


def _arguments(lookup: Lookup, arguments: Any, plain: list[Any]) -> Iterator[Any]:
    """The arguments that a call takes for names."""
    if lookup.argument == -1:
        yield from plain
    elif 0 <= lookup.argument < len(plain):
        yield plain[lookup.argument]
    if lookup.keyword:
        for child in arguments.named_children:
            key = child.child_by_field_name("name") if child.kind_id == K_KEYWORD_ARGUMENT else None
            if key is not None and key.text == lookup.keyword.encode():
                yield child.child_by_field_name("value")


def _last_name(node: Any) -> Any:
    """The identifier whose meaning an expression has, or whose class it is asked for: `b` of `a.b`, `x` of `type(x)`, `x.__class__`."""
    if node.kind_id == K_CALL:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or function.text != b"type" or arguments is None or arguments.named_child_count != 1:
            return None
        return _last_name(arguments.named_children[0])
    if node.kind_id == K_ATTRIBUTE:
        last = node.child_by_field_name("attribute")
        return _last_name(node.child_by_field_name("object")) if last is not None and last.text == b"__class__" else last
    return node if node.kind_id == K_IDENTIFIER else None


def _is_attribute(identifier: Any) -> bool:
    parent = identifier.parent
    last = parent.child_by_field_name("attribute") if parent.kind_id == K_ATTRIBUTE else None
    return last is not None and last.start_byte == identifier.start_byte


def _content(node: Any) -> Any:
    """The text between the quotes, where it is all of the string and nothing in it is escaped; none of bytes."""
    if node.kind_id != K_STRING or node.named_child_count != 3 or node.named_children[0].text[:1] in b"bB":
        return None
    content = node.named_children[1]
    return content if content.kind_id == K_STRING_CONTENT and not content.named_child_count else None


def _first_content(node: Any) -> Any:
    """The text that an expression puts before what it is made with: `"do_" + x`, `f"do_{x}"`, `"do_%s" % x`, `"do_{}".format(x)`."""
    if node.kind_id == K_BINARY_OPERATOR:
        node = node.child_by_field_name("left")
    elif node.kind_id == K_CALL:
        function = node.child_by_field_name("function")
        if function is None or function.kind_id != K_ATTRIBUTE or function.child_by_field_name("attribute").text != b"format":
            return None
        node = function.child_by_field_name("object")
    if node is None or node.kind_id != K_STRING or node.named_child_count < 2:
        return None
    content = node.named_children[1]
    return content if content.kind_id == K_STRING_CONTENT else None
