"""The parameters of a function changed, with all calls of it: the texts that come of it. Where it is used, others say."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from indexer.errors import EditRefused
from query.answers.envelope import Reason
from query.edits.text import Document
from query.refactor.formatted_strings import with_right_positions
from query.refactor.parameters.bracketed import Element, Piece, Replacement, Span
from query.refactor.parameters.call_sites import Code, Use
from query.refactor.parameters.changed_definition import Definition, edits_of, prints_its_name
from query.refactor.parameters.signature import UNKNOWN_CALL, Argument, Passed, Rewritten, Wish, is_compatible, rewritten
from query.refactor.python_module import Position

_ONE = (Argument(),)
_BLIND = "it is handed over, and how it is called there is not known"


class Site(NamedTuple):
    """A place that names one of the functions, or calls it by another name.

    of: the functions that are meant, as keys. is_constructor: a class is named whose objects it makes.
    why_unsure: why something else may be meant there; empty where that is certain. gives_what_is_called: that is so only since values
    were followed, so it may be what the function gives, which a decorator calls at once.
    """

    path: str
    place: Position
    of: tuple[int, ...]
    is_constructor: bool = False
    is_by_name_alone: bool = False
    why_unsure: str = ""
    gives_what_is_called: bool = False


class Left(NamedTuple):
    """A use that stays as it is, though it may not fit the new parameters."""

    path: str
    place: Position
    why: str


@dataclass
class Changed:
    """Attributes:
    documents: by path, what is written. doubts: why that may be broken code. left: uses that stay. calls: how many were rewritten.
    """

    documents: dict[str, Document] = field(default_factory=dict[str, Document])
    doubts: list[str] = field(default_factory=list[str])
    left: list[Left] = field(default_factory=list[Left])
    calls: int = 0


class Made(NamedTuple):
    """What is shown or written, of any language.

    before, after: the parameters as a list in brackets. functions: names of what changes together, the one that is meant first.
    documents: the texts that were read, by path; digests: git's names of them. unknown: reasons why uses may be unknown, where those
    could break.
    """

    before: str
    after: str
    functions: list[str]
    changed: Changed
    documents: Mapping[str, Document]
    digests: dict[str, str]
    unknown: list[Reason]


class Shown(NamedTuple):
    """What a place that is called by an attribute stands behind: asked of the index, which knows classes from objects."""

    path: str
    place: Position


def receivers(codes: Mapping[str, Code], sites: Sequence[Site]) -> list[Shown]:
    """Where the words stand before the dot of what is called at the sites."""
    found: list[Shown] = []
    for site in sites:
        use = codes[site.path].use_at(site.place) if site.path in codes else Use("unread")
        if isinstance(use.name, ast.Attribute):
            value = use.name.value
            while isinstance(value, ast.Subscript):
                value = value.value
            if isinstance(value, ast.Name | ast.Attribute):
                found.append(Shown(site.path, codes[site.path].position_of(value)))
    return found


def changed_texts(
    definitions: Mapping[int, Definition], wish: Wish, codes: Mapping[str, Code], sites: Sequence[Site], types: Mapping[str, frozenset[int]]
) -> Changed:
    """The texts after a change.

    Args:
        definitions: by key the functions that change together.
        types: by path, offsets at which a word names a class.
    Raises:
        EditRefused: a body stands against it, or the text would be no Python.
    """
    found = Changed()
    replacements: dict[str, list[Replacement]] = {}
    owner = 0
    for item in definitions.values():
        owner += 1
        replacements.setdefault(item.code.module.path, []).extend(edits_of(item, wish, owner, found.doubts))
        for old in item.change.new_names:
            if any(prints_its_name(item.code, node, old) for node in item.nodes):
                found.doubts.append(f"'{item.nodes[-1].name}' prints '{old}' by its name, which is another one then")
    seen: set[tuple[str, int]] = set()
    written: dict[str, dict[ast.Call, tuple[Passed, ...]]] = {}
    for site in sorted(sites, key=lambda item: (item.path, item.place, bool(item.why_unsure))):
        code = codes.get(site.path)
        if code is None:
            if any(rewritten(definitions[one].change, UNKNOWN_CALL, is_bound=True) != Rewritten() for one in site.of):
                found.left.append(Left(site.path, site.place, "the file is not read as Python"))
            continue
        key = (site.path, code.offset(site.place))
        if key in seen:
            continue
        seen.add(key)
        owner += 1
        replacements.setdefault(site.path, []).extend(
            _at_site(
                code,
                site,
                [definitions[one] for one in site.of],
                types.get(site.path, frozenset()),
                owner,
                found,
                written.setdefault(site.path, {}),
            )
        )
    for path, edits in sorted(replacements.items()):
        code = codes[path]
        text = code.source.changed(edits)
        if text == code.source.text:
            continue
        _check(code, text, written.get(path, {}))
        document = code.module.document
        found.documents[path] = Document(text=text, encoding=document.encoding, mark=document.mark)
    return found


def _at_site(
    code: Code,
    site: Site,
    meant: Sequence[Definition],
    types: frozenset[int],
    owner: int,
    found: Changed,
    written: dict[ast.Call, tuple[Passed, ...]],
) -> list[Replacement]:
    use = code.use_at(site.place)
    if site.path.endswith(".pyi"):  # nothing runs there
        return []
    if use.kind == "idle" or (use.kind == "unread" and site.is_by_name_alone and code.is_keyword(site.place)):
        return []
    attribute = code.attribute_of(use)
    if site.is_by_name_alone and attribute and not _is_of_what_is_called(attribute) and not any(item.unclear for item in meant):
        return []
    results = {_result(code, use, item, site, types) for item in meant}
    if results <= {(None, (), "")}:
        return []

    def left(why: str) -> list[Replacement]:
        found.left.append(Left(site.path, site.place, why))
        return []

    if use.kind == "set":
        return left("something else is put in its place")
    whys = sorted(why for _, _, why in results if why)
    if whys:
        return left(whys[0])
    if site.why_unsure and not (site.gives_what_is_called and use.call is not None and code.is_decorator(use.call)):
        return left(site.why_unsure)
    if len(results) > 1:
        return left("it may call functions with different parameters")
    [(arguments, dropped, _)] = results
    if use.call is None or arguments is None:
        return left(_BLIND)
    if dropped:
        nodes = code.argument_nodes(use.call)
        for number in dropped:
            said = ast.unparse(nodes[number])
            found.doubts.append(f"{site.path}:{site.place[0] + 1} would no longer evaluate '{said}', which may have an effect")
    found.calls += 1
    written[use.call] = arguments
    return _call_edits(code, use.call, arguments, owner)


_Shape = tuple[str, tuple[str, ...]]
"""What is called, by its last word, and the names of its arguments in their order."""


def _check(code: Code, text: str, written: Mapping[ast.Call, Sequence[Passed]]) -> None:
    """Holds a new text against what was meant: all calls of the old one, those that are rewritten with their new arguments.

    Raises:
        EditRefused: it is another one, or no Python.
    """
    path = code.module.path
    try:
        tree = with_right_positions(ast.parse(text), text)
    except SyntaxError as error:
        raise EditRefused(f"'{path}' would be no Python on line {error.lineno}; change it by hand") from error
    wanted: Counter[_Shape] = Counter()
    gone: set[ast.AST] = set()
    for call, arguments in written.items():
        kept = {item.number for item in arguments}
        gone |= {inner for number, node in enumerate(code.argument_nodes(call)) if number not in kept for inner in ast.walk(node)}
        for item in arguments:
            wanted.update(_shapes(ast.parse(f"({item.text})"), {}, set()) if item.number is None else ())
    wanted.update(_shapes(code.module.tree, written, gone))
    got = Counter(_shapes(tree, {}, set()))
    names = {name for shape in wanted.keys() | got.keys() for name in shape[:1] if wanted[shape] != got[shape]}
    known = {_last_word(call.func) for call in written}
    if wrong := sorted(names & known):
        raise EditRefused(f"calls of '{wrong[0]}' in '{path}' would not become what they should; change them by hand")


def _shapes(tree: ast.AST, written: Mapping[ast.Call, Sequence[Passed]], gone: Set[ast.AST]) -> Iterator[_Shape]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node not in gone:
            nodes = sorted([*node.args, *node.keywords], key=lambda item: (item.lineno, item.col_offset))
            names = tuple(item.name for item in written[node]) if node in written else tuple(map(_name_of, nodes))
            yield _last_word(node.func), names


def _last_word(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _name_of(node: ast.expr | ast.keyword) -> str:
    if isinstance(node, ast.keyword):
        return "**" if node.arg is None else node.arg
    return "*" if isinstance(node, ast.Starred) else ""


_Result = tuple[tuple[Passed, ...] | None, tuple[int, ...], str]


def _result(code: Code, use: Use, item: Definition, site: Site, types: frozenset[int]) -> _Result:
    """What becomes of a use of one function."""
    if use.kind == "unread":
        how = rewritten(item.change, UNKNOWN_CALL, is_bound=True)
        other = rewritten(item.change, UNKNOWN_CALL, is_bound=False)
        why = "a string names it, and how it is used by that is not known" if code.is_in_string(site.place) else ""
        return (None, (), "" if how == other == Rewritten() else why or "it is named there in a form that is not read")
    if use.kind == "set":
        return (None, (), "something else is put in its place")
    is_bound = item.change.bound and (
        (site.is_constructor and not _says_member(use, item)) or item.is_of_class or code.is_of_object(use, types)
    )
    arguments = _arguments(code, use)
    result = rewritten(item.change, arguments, is_bound=is_bound)
    if use.kind != "call":
        if result == Rewritten():
            return (None, (), "")
        if code.attribute_of(use):
            return (None, (), "an attribute of it is read, and what that has to do with its parameters is not known")
        return (None, (), _BLIND if use.kind != "decorates" else "as a decorator it is called by Python")
    if result.why and is_compatible(item.change, is_bound=is_bound):
        return (None, (), "")
    if result.is_unfit and (site.is_by_name_alone or site.why_unsure):
        other = rewritten(item.change, arguments, is_bound=not is_bound)
        why = "" if other == Rewritten() or other.is_unfit else "it may be called of a class there, with an object before its arguments"
        return (None, (), why)
    if is_bound and not item.is_of_class and _is_unclear(use):
        other = rewritten(item.change, arguments, is_bound=not is_bound)
        if other != result and not (other.why and not result.why):
            return (None, (), "whether it is called of a class or of an object is not clear")
    return (tuple(result.arguments) if result.arguments is not None else None, result.dropped, result.why)


def _is_of_what_is_called(attribute: str) -> bool:
    """Whether functions have such an attribute, or mocks that stand for them: the name of something else with others may be anything."""
    return attribute.startswith(("__", "assert_", "call", "mock", "method_calls", "side_effect", "return_value", "reset_mock", "await"))


def _says_member(use: Use, item: Definition) -> bool:
    """`C.__init__(…)` rather than `C(…)`."""
    return isinstance(use.name, ast.Attribute) and use.name.attr == item.nodes[-1].name


def _is_unclear(use: Use) -> bool:
    """Whether it is called of a name that looks like a class, though it is not known for one."""
    if not isinstance(use.name, ast.Attribute) or not isinstance(use.name.value, ast.Name):
        return False
    name = use.name.value.id.lstrip("_")
    return name[:1].isupper() and not name.isupper()


def _arguments(code: Code, use: Use) -> Sequence[Argument]:
    if use.kind == "call" and use.call is not None:
        return code.arguments(use.call)
    if use.kind == "decorates":
        return _ONE
    return UNKNOWN_CALL


def _call_edits(code: Code, call: ast.Call, arguments: Sequence[Passed], owner: int) -> list[Replacement]:
    """What is written between the brackets of a call.

    Raises:
        EditRefused: its arguments cannot be told apart.
    """
    where = f"the call on line {call.lineno} of '{code.module.path}'"
    listing = code.source.brackets(code.source.behind(code.end(call.func)), where)
    nodes = code.argument_nodes(call)
    is_generator = len(nodes) == 1 and isinstance(nodes[0], ast.GeneratorExp) and code.source.text[code.start(nodes[0])] == "("
    is_bare = is_generator and code.start(nodes[0]) == listing.start - 1
    if is_bare:
        first, last = listing.elements[0], listing.elements[-1]
        elements = [first._replace(end=last.end, beside=last.beside)]
        listing = type(listing)(start=listing.start, end=listing.end, elements=elements, comma=listing.comma, closing=listing.closing)
    if len(listing.elements) != len(nodes):
        raise EditRefused(f"{where} cannot be read; change it by hand")
    edits: list[Replacement] = []
    if [item.number for item in arguments] == list(range(len(nodes))):
        for item in arguments:
            node, element = nodes[item.number or 0], listing.elements[item.number or 0]
            if isinstance(node, ast.keyword) and node.arg is not None and node.arg != item.name:
                end = element.start + len(node.arg)
                pieces = (item.name,) if item.name else ()
                edits.append(Replacement(element.start, end if item.name else code.start(node.value), pieces, owner))
            elif not isinstance(node, ast.keyword) and item.name not in ("", "*"):
                opening, closing = ("(", ")") if _needs_brackets(code, node, element) else ("", "")
                edits.append(Replacement(element.start, element.start, (f"{item.name}={opening}",), owner))
                if closing:
                    edits.append(Replacement(element.end, element.end, (closing,), owner))
        if not is_bare or not edits:
            return edits
    wanted = [(item.number, _pieces(code, item, nodes, listing.elements, is_bare=is_bare)) for item in arguments]
    newline = code.module.document.lines.newline_at(listing.start) or "\n"
    return [Replacement(listing.start, listing.end, listing.arranged(wanted, newline), owner)]


def _pieces(
    code: Code, item: Passed, nodes: Sequence[ast.expr | ast.keyword], elements: Sequence[Element], *, is_bare: bool
) -> tuple[Piece, ...]:
    if item.number is None:
        return (f"{item.name}={item.text}" if item.name else item.text,)
    node = nodes[item.number]
    element = elements[item.number]
    start, end = element.start, element.end
    if isinstance(node, ast.keyword) and node.arg is not None:
        text = code.source.text
        behind = start + len(node.arg)
        while text[behind].isspace():
            behind += 1
        value = behind + 1
        while text[value].isspace():
            value += 1
        return (f"{item.name}=", Span(value, end)) if item.name else (Span(value, end),)
    is_open = is_bare or (item.name not in ("", "*", "**") and _needs_brackets(code, node, element))
    body: tuple[Piece, ...] = ("(", Span(start, end), ")") if is_open else (Span(start, end),)
    return (f"{item.name}=", *body) if item.name not in ("", "*", "**") else body


def _needs_brackets(code: Code, node: ast.expr | ast.keyword, element: Element) -> bool:
    """`f(x := 1)` is a call, `f(a=x := 1)` is none."""
    return isinstance(node, ast.NamedExpr) and code.start(node) == element.start
