"""A function's own text under a change of its parameters: the list in its head, their uses in its body, its documentation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from indexer.errors import EditRefused
from query.answers.paths import listed
from query.refactor.parameters.bracketed import Piece, Replacement, Span
from query.refactor.positional.heads import Head
from query.refactor.positional.placing import Change, as_of
from query.refactor.positional.source import Code, Node
from query.refactor.positional.texts import declared, is_of_types, type_alone

_GENERATED = re.compile(r"^(?://|/\*) ?.*\b(?:Code generated\b.*\bDO NOT EDIT|@generated\b)", re.MULTILINE)
_HEAD_OF_FILE = 2_000
_DIRECTIVE = re.compile(r"^//(?:export|go:linkname|go:wasmexport|extern|sys)\b", re.MULTILINE)
_PARAM = r"(?P<before>@param[ \t]+(?:\{{[^}}\n]*\}}[ \t]*)?\[?){name}(?![\w$.])"


_NO_VARIABLES = ("property_identifier", "field_identifier", "private_property_identifier")
"""Names of members."""


class Definition(NamedTuple):
    """A function that is to change. heads: it and what is declared of the same name beside it, with the change of each."""

    heads: tuple[tuple[Head, Change], ...]

    @property
    def change(self) -> Change:
        """That of the declaration with the most parameters: what calls are held against."""
        return max((change for _, change in self.heads), key=lambda item: len(item.before))


def main_head(heads: Sequence[Head]) -> Head:
    """The one with the most parameters; of several the one with a body."""
    return max(heads, key=lambda head: (len(head.items), head.body is not None))


def definition(heads: Sequence[Head], change: Change, name: str) -> Definition:
    """The change of all declarations of one name.

    Raises:
        EditRefused: one of them has other parameters.
    """
    adds = any(item.was is None for item in change.after)
    found: list[tuple[Head, Change]] = []
    for head in heads:
        own = as_of(head.parameters, change, may_take_fewer=not adds)
        if own is None:
            raise EditRefused(f"'{name}' is declared with other parameters on line {head.code.line_of(head.name)}, too; change it by hand")
        found.append((head, own))
    return Definition(tuple(found))


Uses = Mapping[str, Collection[int]]
"""By name of a parameter the offsets at which a text names it, its declaration too."""


def edits_of(found: Definition, uses: Uses, owner: int, name: str) -> Iterator[Replacement]:
    """What is written in the heads, the bodies and the documentation of a function.

    Raises:
        EditRefused: the body stands against it.
    """
    for number, (head, change) in enumerate(found.heads):
        yield from _head_edits(head, change, owner + 2 * number)
        yield from _body_edits(head, change, uses, owner + 2 * number + 1, name)
        yield from _documentation(head, change, owner + 2 * number + 1)


def _head_edits(head: Head, change: Change, owner: int) -> Iterator[Replacement]:
    if change.is_same_shape:
        return
    code = head.code
    if head.listing is None:
        pieces = [piece for item in change.after for piece in [", ", *_pieces(head, item.was, item.text)]][1:]
        if head.bare is not None:
            yield Replacement(code.start(head.bare), code.end(head.bare), ("(", *pieces, ")"), owner)
        return
    wanted: list[tuple[int | None, tuple[Piece, ...]]] = []
    if head.own:
        first = head.listing.elements[0]
        wanted.append((0, (Span(first.start, first.end),)))
    for place, item in enumerate(change.after):
        if item.was is None:
            is_nameless = bool(head.items) and all(one.name is None for one in head.items) and is_of_types(code.language)
            wanted.append((None, (type_alone(item.text) if is_nameless else _added(head, change, place),)))
        else:
            following = change.after[place + 1].was if place + 1 < len(change.after) else None
            wanted.append((item.was + head.own, _pieces(head, item.was, "", following)))
    newline = code.document.lines.newline_at(head.listing.start) or "\n"
    yield Replacement(head.listing.start, head.listing.end, head.listing.arranged(wanted, newline), owner)


def _added(head: Head, change: Change, place: int) -> str:
    """What a head says of an added parameter: a declaration without a body has no values."""
    item, behind = change.after[place], change.after[place + 1 :]
    if head.body is not None or is_of_types(head.code.language):
        return item.text
    is_last = all(other.is_optional or other.is_rest for other in behind)
    return declared(item.text, head.code.path, head.code.language, is_last=is_last)


def _pieces(head: Head, was: int | None, text: str, following: int | None = None) -> tuple[Piece, ...]:
    """`following`: the old number of what will stand behind it, which may say the type of both."""
    if was is None:
        return (text,)
    item, code = head.items[was], head.code
    whole = Span(code.start(item.nodes[0]), code.end(item.nodes[-1]))
    if item.name is None or not item.of_type:
        return (whole,)
    alone = Span(code.start(item.name), code.end(item.name))
    if following is not None and head.items[following].nodes[0].parent == item.nodes[0].parent:
        return (alone,)
    return (alone, f" {item.of_type}") if item.shares else (whole,)


def _body_edits(head: Head, change: Change, uses: Uses, owner: int, name: str) -> Iterator[Replacement]:
    code = head.code
    inside = (code.start(head.function), code.end(head.function))
    for number in change.removed:
        item = head.items[number]
        own = (code.start(item.nodes[0]), code.end(item.nodes[-1]))
        if item.is_member:
            raise EditRefused(f"'{item.parameter.name}' of '{name}' is a member of the class, too; change it by hand")
        used = [
            at
            for node in item.binds
            for at in _uses_of(code, head, code.said(node), uses)
            if inside[0] <= at < inside[1] and not own[0] <= at < own[1]
        ]
        if used:
            lines = sorted({code.position(at)[0] + 1 for at in used})
            said = f"{'line' if len(lines) == 1 else 'lines'} {listed([str(line) for line in lines])} of '{code.path}'"
            raise EditRefused(f"'{item.parameter.name}' is used in the body of '{name}' on {said}")
    for number, new in change.new_names.items():
        item = head.items[number]
        if item.is_member:
            raise EditRefused(f"'{item.parameter.name}' of '{name}' is a member of the class, too; rename that with rename_symbol")
        if item.name is None:
            continue
        _check_free(head, new, name)
        old = code.said(item.name)
        for at in sorted({*_uses_of(code, head, old, uses), code.start(item.name)}):
            if inside[0] <= at < inside[1]:
                leaf = code.leaf_at(at)
                if leaf is None or leaf.type in _NO_VARIABLES:
                    continue  # `{a}.a`, which the server takes for the parameter
                is_short = leaf.type in ("shorthand_property_identifier", "shorthand_property_identifier_pattern")
                yield Replacement(at, at + len(old), (f"{old}: {new}" if is_short else new,), owner)
    if head.body is not None:
        for item in change.after:
            if item.was is None:
                _check_free(head, item.name, name)


def _check_free(head: Head, new: str, name: str) -> None:
    if new != "_" and (used := [node for node in head.code.names_in(head.function, new) if node.type not in _NO_VARIABLES]):
        raise EditRefused(f"'{name}' has a '{new}' already, on line {head.code.line_of(used[0])} of '{head.code.path}'")


def _uses_of(code: Code, head: Head, word: str, uses: Uses) -> list[int]:
    """Where a word in a function is the parameter.

    Raises:
        EditRefused: it stands somewhere as a name of which the index does not know what it means.
    """
    own = {at for at in uses.get(word, ()) if (leaf := code.leaf_at(at)) is None or leaf.type not in _NO_VARIABLES}
    others = set(uses.get("", ()))
    for node in code.names_in(head.function, word):
        at = code.start(node)
        if node.type in _NO_VARIABLES or at in own or at in others:
            continue
        if head.listing is not None and head.listing.start <= at < head.listing.end:
            own.add(at)
            continue
        raise EditRefused(f"what '{word}' means on line {code.line_of(node)} of '{code.path}' is not known; change it by hand")
    return sorted(own)


# ---- documentation


def _comment_above(head: Head) -> Node | None:
    node = head.function
    while node is not None and node.parent is not None:
        before = node.prev_named_sibling
        while before is not None and before.type == "decorator":
            before = before.prev_named_sibling
        if before is not None:
            said = head.code.said(before) if before.type == "comment" else ""  # what begins with `/**` may stand above blank lines
            is_near = bool(said) and (
                said.startswith("/**") or head.code.text[head.code.end(before) : head.code.start(node)].count("\n") <= 1
            )
            return before if is_near else None
        if node.parent.type in ("statement_block", "class_body", "program", "source_file", "interface_body", "arguments"):
            return None
        node = node.parent
    return None


def _documentation(head: Head, change: Change, owner: int) -> Iterator[Replacement]:
    """`@param old` under the new name, and without those that are gone."""
    comment = _comment_above(head)
    code = head.code
    if comment is None or not code.said(comment).startswith("/**"):
        return
    start, text = code.start(comment), code.said(comment)
    for number, new in change.new_names.items():
        for found in re.finditer(_PARAM.format(name=re.escape(change.before[number].name)), text):
            at = start + found.end("before")
            yield Replacement(at, start + found.end(), (new,), owner)
    for number in change.removed:
        if found := re.search(_PARAM.format(name=re.escape(change.before[number].name)), text):
            begin = text.rfind("\n", 0, found.start())
            end = next((one.start() for one in re.finditer(r"\n[ \t]*(?:\*[ \t]*@|\*/)", text) if one.start() > found.end()), -1)
            if begin >= 0 and end > begin and not text[begin : found.start()].strip(" \t\n*"):
                yield Replacement(start + begin, start + end, (), owner)


# ---- what stands against it


def doubts_of(found: Definition, name: str) -> Iterator[str]:
    """Why a change of more than names may be broken code, by what stands in the text of the function."""
    for head, change in found.heads:
        if change.is_same_shape:
            continue
        code = head.code
        where = f"{code.path}:{code.line_of(head.name)}"
        if head.decorators:
            yield f"'{name}' stands under {listed(list(head.decorators))} at {where}, which may call it by its parameters"
        if head.is_value:
            yield f"'{name}' is written at {where} where a value stands, and how it is called by who gets that is not known"
        if head.is_typed:
            yield f"what '{name}' is assigned to at {where} may say its parameters, too, and stays as it is"
        if head.body is not None and code.names_in(head.body, "arguments"):
            yield f"'{name}' looks at 'arguments' at {where}"
        if (comment := _directives(head)) is not None:
            yield f"'{comment}' above '{name}' at {where} gives it to something else, which calls it as it is"
        if is_generated(code):
            yield f"'{code.path}' is generated, and would be made again as it was"


def _directives(head: Head) -> str | None:
    node = head.function.prev_named_sibling
    while node is not None and node.type == "comment":
        if _DIRECTIVE.match(head.code.said(node)):
            return head.code.said(node)
        node = node.prev_named_sibling
    return None


def is_generated(code: Code) -> bool:
    return _GENERATED.search(code.text[:_HEAD_OF_FILE]) is not None
