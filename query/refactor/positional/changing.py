"""The parameters of a function changed, with all calls of it, in languages that pass arguments by place: the texts that come of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from indexer.errors import EditRefused
from indexer.languages import Language
from query.edits.text import Document
from query.refactor.parameters.bracketed import Piece, Replacement, Span
from query.refactor.parameters.changing_signature import Changed, Left
from query.refactor.positional.calls import BLIND, Call, Use, call_of, unnamed_makings, use_at, uses_of_class
from query.refactor.positional.definitions import Definition, Uses, doubts_of, edits_of, is_generated
from query.refactor.positional.go_imports import without_imports
from query.refactor.positional.needed import added_imports, unused, words_in
from query.refactor.positional.placing import Passed, Rewritten, Rules, rewritten
from query.refactor.positional.sites import Site
from query.refactor.positional.source import Code, Node, walk
from query.refactor.positional.texts import is_of_types

_NOT_READ = "the file is not read as a language that this can change"


def rules_of(language: Language) -> Rules:
    return Rules(spreads_results=True) if is_of_types(language) else Rules(filler="undefined")


@dataclass
class _Work:
    """What is being made. seen: calls that were looked at, by where they begin.

    dropped: by file the names in arguments that go.
    """

    definitions: Mapping[int, Definition]
    names: Mapping[int, str]
    codes: Mapping[str, Code]
    rules: Rules
    found: Changed = field(default_factory=Changed)
    replacements: dict[str, list[Replacement]] = field(default_factory=dict[str, list[Replacement]])
    seen: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    dropped: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    owner: int = 0

    def left(self, site: Site, why: str, at: int | None = None) -> None:
        code = self.codes.get(site.path)
        place = code.position(at) if code is not None and at is not None else site.place
        self.found.left.append(Left(site.path, place, why))


def changed_texts(
    definitions: Mapping[int, Definition],
    names: Mapping[int, str],
    codes: Mapping[str, Code],
    sites: Sequence[Site],
    uses: Mapping[int, Uses],
    class_names: Sequence[tuple[str, int]],
    types: Mapping[str, frozenset[int]],
) -> Changed:
    """The texts after a change.

    Args:
        names: of the functions, by key. uses: by key, where their parameters are named.
        class_names: where the names of classes stand, whose text may make objects without naming them.
        types: by path, offsets at which a word names a type.
    Raises:
        EditRefused: a body stands against it, or the text would be damaged.
    """
    language = next(iter(definitions.values())).heads[0][0].code.language
    work = _Work(definitions, names, codes, rules_of(language))
    for key, item in definitions.items():
        code = item.heads[0][0].code
        work.owner += 2 * len(item.heads)
        if is_of_types(language):
            for head, change in item.heads:
                gone = [node for number in change.removed for node in head.items[number].nodes]
                work.dropped.setdefault(code.path, set()).update(words_in(code, gone))
        work.replacements.setdefault(code.path, []).extend(edits_of(item, uses.get(key, {}), work.owner, names[key]))
        work.found.doubts += doubts_of(item, names[key])
        work.owner += 2 * len(item.heads)
    if all(item.change.is_same_shape for item in definitions.values()):
        return _finished(work)
    for site in sorted(sites, key=lambda item: (item.is_follower, item.path, item.place, bool(item.why_unsure))):
        _at_site(work, site, types.get(site.path, frozenset()))
    for path, at in class_names:
        for node in unnamed_makings(codes[path], at) if path in codes else ():
            work.found.left.append(
                Left(path, codes[path].position(codes[path].start(node)), "an object is made there of a class that is not named")
            )
    work.found.left.sort(key=lambda item: (item.path, item.place))
    work.found.doubts += added_imports(definitions.values(), codes, work.replacements)
    return _finished(work)


def _at_site(work: _Work, site: Site, types: frozenset[int]) -> None:
    code = work.codes.get(site.path)
    if code is None:
        return work.left(site, _NOT_READ)
    at = code.offset(site.place)
    if site.is_follower and any(one.path == site.path and one.place[0] == site.place[0] for one in work.found.left):
        return None
    for use in uses_of_class(code, at) if site.is_class else [use_at(code, at)]:
        _of_use(work, site, use, at, types)
    return None


def _of_use(work: _Work, site: Site, use: Use, at: int, types: frozenset[int]) -> None:
    code = work.codes[site.path]
    if use.kind == "idle":
        return
    if use.kind == "value" or use.call is None:
        if site.is_by_name_alone and use.why != BLIND and code.leaf_at(at) is None:
            return
        work.left(site, use.why or BLIND)
        return
    key = (site.path, use.call.start_byte)
    if key in work.seen:
        return
    work.seen.add(key)
    where = None if site.place == code.position(at) and not site.is_class else code.start(use.call)
    if _is_of_type(code, use, types):
        work.left(site, "it is called of a type there, with the object before its arguments", where)
        return
    call = call_of(code, use.call)
    results = {rewritten(work.definitions[one].change, call.arguments, work.rules) for one in site.of}
    if results == {Rewritten()}:
        return
    whys = sorted(item.why for item in results if item.why)
    if site.why_unsure or whys or len(results) > 1:
        work.left(site, site.why_unsure or (whys[0] if whys else "it may call functions with different parameters"), where)
        return
    [result] = results
    if result.arguments is None:
        return
    if _is_damaged(use.call):
        work.left(site, "the text around it is not read", where)
        return
    _rewrite(work, code, use.call, call, result)


def _rewrite(work: _Work, code: Code, node: Node, call: Call, result: Rewritten) -> None:
    arguments = result.arguments or ()
    line = code.line_of(node)
    for number in result.dropped:
        start, end = code.start(call.nodes[number][0]), code.end(call.nodes[number][-1])
        if call.arguments[number].acts:
            work.found.doubts.append(f"{code.path}:{line} would no longer evaluate '{code.text[start:end]}', which may have an effect")
        if is_of_types(code.language):
            work.dropped.setdefault(code.path, set()).update(words_in(code, call.nodes[number]))
    if is_generated(code) and (said := f"'{code.path}' is generated, and would be made again as it was") not in work.found.doubts:
        work.found.doubts.append(said)
    work.owner += 1
    work.found.calls += 1
    wanted: list[tuple[int | None, tuple[Piece, ...]]] = [(item.number, _piece(item, call)) for item in arguments]
    newline = code.document.lines.newline_at(call.listing.start) or "\n"
    pieces = call.listing.arranged(wanted, newline)
    work.replacements.setdefault(code.path, []).append(Replacement(call.listing.start, call.listing.end, pieces, work.owner))


def _piece(item: Passed, call: Call) -> tuple[Piece, ...]:
    if item.number is None:
        return (item.text,)
    element = call.listing.elements[item.number]
    return (Span(element.start, element.end),)


def _is_of_type(code: Code, use: Use, types: frozenset[int]) -> bool:
    """`T.Method(x, …)` and `(*T).Method(x, …)` of Go."""
    if use.receiver is None or not is_of_types(code.language):
        return False
    node = use.receiver
    while node.type in ("parenthesized_expression", "unary_expression", "index_expression", "type_instantiation_expression"):
        if node.type == "unary_expression" and node.parent.type == "parenthesized_expression":
            return code.start(last_word(node)) in types
        node = node.named_children[0]
    return code.start(last_word(node)) in types


def last_word(node: Node) -> Node:
    """The last name of what something is taken of."""
    while node.named_children:
        node = node.child_by_field_name("field") or node.child_by_field_name("property") or node.named_children[-1]
    return node


def receivers(code: Code, place: tuple[int, int]) -> Iterator[tuple[int, int | None]]:
    """Where the last word stands of what is called at a place, and of what that is taken of: asked of the index, which knows types.

    `pkg.T` is a type; `x.T` of a value x is the field that embeds it, of the same name.
    """
    use = use_at(code, code.offset(place))
    if use.receiver is not None:
        node = use.receiver
        while node.type in ("parenthesized_expression", "unary_expression", "index_expression", "type_instantiation_expression"):
            node = node.named_children[0]
        operand = node.child_by_field_name("operand") if node.type == "selector_expression" else None
        yield code.start(last_word(node)), None if operand is None else code.start(last_word(operand))


def _is_damaged(node: Node) -> bool:
    around = node
    while around is not None and around.type not in ("program", "source_file"):
        if around.type == "ERROR":
            return True
        around = around.parent
    return node.has_error


def _finished(work: _Work) -> Changed:
    """The new texts.

    Raises:
        EditRefused: the grammar reads one of them worse than before.
    """
    for path, edits in sorted(work.replacements.items()):
        code = work.codes[path]
        text = code.source.changed(edits)
        if text == code.text:
            continue
        after = _read(code, text)
        if (words := work.dropped.get(path)) and (shorter := without_imports(after, words)) != text:
            after = _read(code, shorter)
        if _errors(after.root) > _errors(code.root):
            raise EditRefused(f"'{path}' would have an error in its text; change it by hand")
        for word in unused(after, sorted(work.dropped.get(path, ()))):
            work.found.doubts.append(f"nothing in '{path}' would use '{word}' any more, which is an error")
        work.found.documents[path] = after.document
    work.found.doubts = list(dict.fromkeys(work.found.doubts))
    return work.found


def _read(code: Code, text: str) -> Code:
    return Code(code.path, code.language, Document(text=text, encoding=code.document.encoding, mark=code.document.mark))


def _errors(root: Node) -> int:
    return sum(1 for node in walk(root) if node.is_error or node.is_missing) if root.has_error else 0
