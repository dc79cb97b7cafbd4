"""What types and strings record: parameters of types, aliases, references that are written as strings."""

from __future__ import annotations

import re
from typing import Any

from indexer.model import SymbolFlag, SymbolKind
from indexer.syntax.python.imports import Imports
from indexer.syntax.python.nodes import (
    K_ATTRIBUTE,
    K_BINARY_OPERATOR,
    K_CONSTRAINED_TYPE,
    K_EXPRESSION_STATEMENT,
    K_FUNCTION,
    K_GENERIC_TYPE,
    K_IDENTIFIER,
    K_INTERPOLATION,
    K_LIST,
    K_PARENTHESIZED,
    K_STRING,
    K_SUBSCRIPT,
    K_TUPLE,
    K_TYPE,
    PARSER,
    name_of,
)
from indexer.syntax.python.roles import (
    ANNOTATION,
    CALL,
    DEFINITION,
    READ,
    WRITE,
)
from indexer.syntax.python.scopes import (
    BY_TYPE_PARAM,
    TYPE_SCOPE,
    Scope,
    Use,
)

SIMPLE_STRING = re.compile(rb"""^(["'])([^"'\\\n{}]+)\1$""")


TYPES_AT: dict[bytes, tuple[int | bytes, ...]] = {
    b"%s%s" % (module, name): places
    for module in (b"", b"typing.", b"typing_extensions.", b"t.", b"te.", b"tp.")
    for name, places in (
        (b"cast", (0, b"typ")),
        (b"assert_type", (1, b"typ")),
        (b"NewType", (1, b"tp")),
        (b"TypeVar", (1, 2, 3, b"bound")),
        (b"ForwardRef", (0, b"arg")),
    )
}
"""Functions of the language that are given types: at which places, after which keywords. A string there is a type's name."""

_GENERIC = frozenset(
    (
        b"AbstractSet AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator Awaitable Callable ChainMap "
        b"ClassVar Collection Concatenate Container ContextManager Coroutine Counter DefaultDict Deque Dict Final "
        b"FrozenSet Generator Generic ItemsView Iterable Iterator KeysView List Mapping MappingView MutableMapping "
        b"MutableSequence MutableSet NotRequired Optional OrderedDict Protocol ReadOnly Required Reversible Sequence Set "
        b"Tuple Type TypeGuard TypeIs Union Unpack ValuesView defaultdict deque dict frozenset list set tuple type"
    ).split()
)
"""Types of the language that take types in brackets. A string there is a type's name, wherever the whole stands: `X = Optional["Y"]`."""

_BETWEEN = frozenset((K_LIST, K_TUPLE, K_BINARY_OPERATOR, K_PARENTHESIZED))
"""What may stand between such brackets and a string in them: `Callable[["X"], Y]`, `Union["X" | None, Y]`."""


class Annotations(Imports):
    """Records what stands where a type is expected."""

    def type_scope(self, node: Any, scope: Scope, owner: int) -> Scope:
        """The scope of a definition's own type parameters (PEP 695), or `scope` where it has none."""
        parameters = node.child_by_field_name("type_parameters")
        if parameters is None:
            return scope
        made = self.scope(TYPE_SCOPE, scope, scope.symbol)
        self.type_parameters(parameters, made, owner)
        return made

    def type_parameters(self, node: Any, scope: Scope, owner: int) -> None:
        stack = list(reversed(node.named_children))
        while stack:
            child = stack.pop()
            if child.kind_id == K_IDENTIFIER:
                index = self.bind(child, scope, BY_TYPE_PARAM, DEFINITION)
                binding = self.use_binding[index]
                if binding.symbol < 0:
                    span = self.span(child)
                    binding.symbol = self.define(self.tokens.name[index], SymbolKind.TYPE_PARAMETER, owner, span, span, SymbolFlag.LOCAL)
            elif child.type == "constrained_type":  # T: bound
                inner = child.named_children
                if inner:
                    stack.append(inner[0])
                for bound in inner[1:]:
                    self.push(bound, scope, READ | ANNOTATION)
            else:
                stack.extend(reversed(child.named_children))

    def type_(self, node: Any, scope: Scope, roles: int) -> None:
        for child in reversed(node.named_children):
            self.push(child, scope, READ | ANNOTATION)

    def type_alias(self, node: Any, scope: Scope, roles: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.named_child_count and left.named_children[0].kind_id not in (K_IDENTIFIER, K_GENERIC_TYPE):
            self.type_call(node, left.named_children[0], right, scope)
            return
        target = left
        while target is not None and target.kind_id != K_IDENTIFIER and target.named_child_count:
            target = target.named_children[0]
        inner = scope
        if left is not None:
            for child in left.named_children:
                if child.type == "generic_type":
                    inner = self.scope(TYPE_SCOPE, scope, scope.symbol)
                    for parameters in child.named_children[1:]:
                        self.type_parameters(parameters, inner, scope.symbol)
        if target is not None and target.kind_id == K_IDENTIFIER:
            self.target(target, scope, whole=node)
        self.push(right, inner, READ | ANNOTATION)

    def type_call(self, node: Any, left: Any, right: Any, scope: Scope) -> None:
        """`type(x).y = 1` and `type[0] = 1`, which the grammar takes for the alias of a type called `(x).y`."""
        annotation = None
        if left.kind_id == K_CONSTRAINED_TYPE and left.named_child_count == 2:  # type(x).y: int = 1
            left, annotation = left.named_children
            left = left.named_children[0] if left.kind_id == K_TYPE and left.named_child_count else left
        self.push(right.named_children[0] if right is not None and right.named_child_count else right, scope)
        self.push(annotation, scope)
        called = self.source[left.start_byte : left.start_byte + 1] == b"("
        self.read(node.children[0], scope, READ | CALL if called else READ)
        if left.kind_id == K_ATTRIBUTE:
            self.attribute(left, scope, WRITE)
        else:
            self.push(left, scope)

    def string(self, node: Any, scope: Scope, roles: int) -> None:
        """f-strings hold expressions; in an annotation, a plain string *is* an expression."""
        if node.named_child_count:
            for child in reversed(node.named_children):
                if child.kind_id == K_INTERPOLATION:
                    self.push(child, scope)
        if is_type_name(node, roles):
            match = SIMPLE_STRING.match(node.text)
            if match:
                self.string_annotation(node, match.group(2), scope)

    def type_argument(self, function: Any, place: int | bytes, node: Any, scope: Scope) -> None:
        """A string that a call of `TYPES_AT` is given for a type."""
        if function is not None and node is not None and node.kind_id == K_STRING and place in TYPES_AT.get(function.text, ()):
            match = SIMPLE_STRING.match(node.text)
            if match:
                self.string_annotation(node, match.group(2), scope)

    def string_annotation(self, node: Any, text: bytes, scope: Scope) -> None:
        """Names inside a quoted annotation. Positions are kept by parsing the text at its own place in a blank file."""
        line, col = node.start_point
        tree = PARSER.parse(b"\n" * line + b"(" + b" " * col + text + b")")
        shift = node.start_byte + 1 - (line + 1 + col)
        stack: list[Any] = [tree.root_node]
        if tree.root_node.has_error:
            return
        while stack:
            child = stack.pop()
            kind = child.kind_id
            if kind == K_IDENTIFIER:
                parent = child.parent
                attribute = parent.child_by_field_name("attribute") if parent.kind_id == K_ATTRIBUTE else None
                index = self.token(child, scope, READ | ANNOTATION, name_of(child.text), start=child.start_byte + shift)
                if attribute is not None and attribute.start_byte == child.start_byte:
                    self.tokens.ask[index] = True
                else:
                    self.uses.append(Use(index, self.tokens.name[index], scope, len(self.source), False))
            elif kind != K_STRING:
                stack.extend(reversed(child.named_children))


def is_type_name(node: Any, roles: int) -> bool:
    """Whether a string is a reference to a type that is written as a string."""
    return not _is_plain_argument(node) if roles & ANNOTATION else _is_type_argument(node)


def _is_type_argument(node: Any) -> bool:
    """Whether a string outside of an annotation stands in the brackets of a type of the language."""
    child, outer = node, node.parent
    while outer is not None and outer.kind_id in _BETWEEN:
        child, outer = outer, outer.parent
    if outer is None or outer.kind_id != K_SUBSCRIPT:
        return False
    head = outer.child_by_field_name("value")
    return head is not None and head.start_byte != child.start_byte and head.text.rsplit(b".", 1)[-1] in _GENERIC


def _is_plain_argument(node: Any) -> bool:
    """Whether a string in an annotation is no forward reference: in `Literal["x"]`, or metadata in `Annotated[int, "x"]`."""
    child, outer = node, node.parent
    while outer is not None and outer.kind_id not in (K_SUBSCRIPT, K_GENERIC_TYPE):
        if outer.kind_id in (K_EXPRESSION_STATEMENT, K_FUNCTION):
            return False
        if outer.kind_id == K_TYPE or outer.named_child_count == 1:
            child = outer
        outer = outer.parent
    if outer is None:
        return False
    head = outer.text.split(b"[", 1)[0].rstrip().rsplit(b".", 1)[-1]
    if head == b"Annotated":
        between = outer.text[: child.start_byte - outer.start_byte].split(b"[", 1)[-1]
        return b"," in between
    return head == b"Literal"
