"""A change of parameters of Python as it is asked for, made of what the index and the texts say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from indexer.errors import EditRefused
from indexer.languages import PYTHON
from indexer.servers.registry import language_of
from query.answers.envelope import Reason
from query.answers.paths import listed
from query.edits.scope import Scope
from query.edits.text import decode
from query.facts.callable_sites import keywords_of, types_at
from query.facts.documents import contents
from query.facts.folders import index_command
from query.facts.freshness import is_as_indexed
from query.facts.index import Index
from query.facts.symbols import Symbol
from query.live.outline import hangs
from query.refactor.parameters.call_sites import Code
from query.refactor.parameters.changed_definition import Definition, decorators_of, definition, signature_of
from query.refactor.parameters.changing_signature import Left, Made, Site, changed_texts, receivers
from query.refactor.parameters.handed_classes import handed_over
from query.refactor.parameters.quoted_calls import quoted_calls
from query.refactor.parameters.signature import (
    KEYWORD_ONLY,
    KWARGS,
    NORMAL,
    POSITIONAL_ONLY,
    VARARGS,
    Parameter,
    Rewritten,
    Wish,
    is_compatible,
    rewritten,
)
from query.refactor.parameters.signature_uses import Family, Kin, Uses, called_as, class_family, is_special, paths_of, uses_of
from query.refactor.python_module import Module


def made(index: Index, scope: Scope, symbol: Symbol, kin: Kin, wish: Wish, gaps: Sequence[Reason]) -> Made:
    """The texts after the change.

    Raises:
        UsageError, EditRefused: it cannot be had.
    """
    uses = uses_of(index, kin.members, unknown=True)
    family = class_family(index, symbol)
    codes, digests = _read(index, scope, sorted({*paths_of(kin.members, uses.sites), *(item.record.path for item in family.classes)}))
    doubts: list[str] = []
    if is_special(symbol.record.name):
        doubts.append(f"'{symbol.record.name}' has the form of a special method, and a library may call it by a protocol of its own")
    definitions = _definitions(symbol, kin, codes, wish, doubts)
    shown = receivers(codes, uses.sites)
    types: dict[str, set[int]] = {}
    for path, line, col in types_at(index, {(item.path, *item.place) for item in shown}):
        types.setdefault(path, set()).add(codes[path].offset((line, col)))
    sites = [site._replace(of=of) for site in uses.sites if (of := tuple(one for one in site.of if one in definitions))]
    found = changed_texts(definitions, wish, codes, sites, {path: frozenset(offsets) for path, offsets in types.items()})
    is_safe = all(is_compatible(item.change, is_bound=True) and is_compatible(item.change, is_bound=False) for item in definitions.values())
    found.doubts = [*doubts, *found.doubts]
    if not is_safe:
        found.left += _handed_over(family.classes, codes)
        found.doubts += _of_others(index, scope, kin, definitions, uses, family, codes, sites)
    main = definitions[symbol.sym_id].change
    return Made(
        before=_said(main.before),
        after=_said(main.after),
        functions=[
            symbol.record.qualified_name,
            *sorted(kin.members[key].record.qualified_name for key in definitions if key != symbol.sym_id),
        ],
        changed=found,
        documents={path: code.module.document for path, code in codes.items()},
        digests=digests,
        unknown=[] if is_safe else list(gaps),
    )


def _handed_over(family: Sequence[Symbol], codes: Mapping[str, Code]) -> list[Left]:
    """Where the methods of these classes hand over the class of their object."""
    why = "the class of the object is handed over, and how it is called there is not known"
    return [
        Left(item.record.path, code.position(code.start(node)), why)
        for item in family
        if (code := codes.get(item.record.path)) is not None
        for node in handed_over(code, (item.record.line - 1, item.record.col - 1))
    ]


def _read(index: Index, scope: Scope, paths: Sequence[str]) -> tuple[dict[str, Code], dict[str, str]]:
    """The texts as they are now, and their digests.

    Raises:
        EditRefused: one has changed since the index was made, or is no Python.
    """
    known = contents(index, paths)
    if old := [path for path in paths if path in known and not is_as_indexed(index, path)]:
        raise EditRefused(f"files have changed since the index was made ({listed(old)}); first run: {index_command(index)}")
    texts = {
        path: decode(content, f"'{path}'")
        for path in paths
        if language_of(path) == PYTHON.name and (content := scope.read(path)) is not None
    }
    slow = hangs([(path, text.for_server) for path, text in texts.items()])
    if slow:
        raise EditRefused(f"no parser reads '{list(texts)[min(slow)]}' in a time that fits its size")
    codes: dict[str, Code] = {}
    for path, text in texts.items():
        codes[path] = Code(Module(path, known[path].module if path in known else "", text))
    return codes, {path: text.digest for path, text in texts.items()}


def _definitions(symbol: Symbol, kin: Kin, codes: Mapping[str, Code], wish: Wish, doubts: list[str]) -> dict[int, Definition]:
    """What changes, by number; of others of the family it is said that they stay."""
    doubts += kin.doubts
    found: dict[int, Definition] = {}
    other: list[str] = []
    for key, item in sorted(kin.members.items(), key=lambda pair: pair[0] != symbol.sym_id):
        record = item.record
        code = codes.get(record.path)
        nodes = sorted(code.definitions((record.line - 1, record.col - 1)), key=lambda node: node.lineno) if code is not None else []
        if code is None or not nodes:
            if key == symbol.sym_id:
                raise EditRefused(f"'{record.qualified_name}' is not found as a `def` at {record.path}:{record.line}")
            other.append(f"{record.qualified_name} ({record.path}:{record.line})")
            continue
        if key != symbol.sym_id:
            own, first = signature_of(nodes[-1]), signature_of(found[symbol.sym_id].nodes[-1])
            has = {one.name for one in own}
            if not wish.named <= has or not has.isdisjoint({one.name for one in wish.added}) or _places(own) != _places(first):
                other.append(f"{record.qualified_name} ({record.path}:{record.line})")
                continue
        found[key] = definition(code, nodes, wish, record.qualified_name)
    if other:
        doubts.append(
            f"{listed(other)} may be called in its place (overrides it, is overridden by it, or has what the same protocol asks for), "
            "has other parameters, and stays as it is"
        )
    return found


def _places(signature: Sequence[Parameter]) -> list[str]:

    return [item.name for item in signature if item.kind in (POSITIONAL_ONLY, NORMAL)][1:]


def _of_others(
    index: Index,
    scope: Scope,
    kin: Kin,
    definitions: Mapping[int, Definition],
    uses: Uses,
    family: Family,
    codes: Mapping[str, Code],
    sites: Sequence[Site],
) -> list[str]:
    """What stands against a change that some call could not bear, beside the calls."""
    doubts: list[str] = []
    for key, item in definitions.items():
        record = kin.members[key].record
        if item.unclear:
            said = listed([f"@{word}" for node in item.nodes for word, decorator in decorators_of(node) if decorator in item.unclear])
            doubts.append(
                f"'{record.name}' stands under {said} at {record.path}:{record.line}, which may call it by its parameters or change them"
            )
        if record.is_test and record.name.startswith("test"):
            doubts.append(f"'{record.name}' is a test, which a runner calls by the names of its parameters")
        if scope.read(f"{record.path}i") is not None:
            doubts.append(f"'{record.path}i' declares it too, and stays as it is")
        if uses.elsewhere and rewritten(item.change, (), is_bound=True) != Rewritten():
            doubts.append(
                f"{listed([f'{place.path}:{place.line + 1}' for place in uses.elsewhere])} names what is called without arguments"
            )
    names = {name for item in definitions.values() for name in [*item.change.removed, *item.change.new_names]}
    told = {(site.path, offset) for site in sites if site.path in codes for offset in codes[site.path].keywords_at(site.place)}
    unseen = [
        (path, line, col)
        for path, line, col in keywords_of(index, list(definitions), names)
        if path not in codes or (path, codes[path].offset((line, col))) not in told
    ]
    called = {name for key in definitions for name in called_as(index, kin.members[key])}
    doubts += quoted_calls(index, called, {item.record.name for item in family.classes}, has_bases=family.has_bases)
    if unseen:
        doubts.append(
            f"a parameter is passed by its name at {listed([f'{path}:{line + 1}' for path, line, _ in unseen])}, where no call is known"
        )
    return doubts


def _said(signature: Sequence[Parameter]) -> str:
    """The names of parameters, as a head has them."""
    words: list[str] = []
    for number, item in enumerate(signature):
        before = signature[number - 1].kind if number else None
        if before == POSITIONAL_ONLY and item.kind != POSITIONAL_ONLY:
            words.append("/")
        if item.kind == KEYWORD_ONLY and before not in (KEYWORD_ONLY, VARARGS):
            words.append("*")
        words.append(("*" if item.kind == VARARGS else "**" if item.kind == KWARGS else "") + item.name)
    return f"({', '.join([*words, *(['/'] if signature and signature[-1].kind == POSITIONAL_ONLY else [])])})"
