"""A change of parameters as it is asked for, made of what the index and the texts say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from indexer.errors import EditRefused, UsageError
from indexer.languages import Language, names_of, record_of
from indexer.servers.registry import language_of
from query.answers.envelope import Reason
from query.answers.paths import listed
from query.edits.scope import Scope
from query.edits.text import decode
from query.facts.callable_sites import known_at, parameter_uses, types_at, values_at
from query.facts.documents import contents
from query.facts.folders import index_command
from query.facts.freshness import is_as_indexed
from query.facts.index import Index
from query.facts.registration import is_called_by_name
from query.facts.symbols import Symbol
from query.live.outline import hangs
from query.refactor.parameters.changing_signature import Made
from query.refactor.parameters.signature import Wish
from query.refactor.parameters.signature_uses import Kin
from query.refactor.positional.changing import changed_texts, receivers
from query.refactor.positional.definitions import Definition, Uses, definition, main_head
from query.refactor.positional.heads import Head, heads_at
from query.refactor.positional.placing import Change, Parameter, as_of, changed
from query.refactor.positional.sites import Site, classes_of, sites_of, takes_by_place
from query.refactor.positional.source import Code
from query.refactor.positional.texts import added, check_expression, is_of_types


class Asked(NamedTuple):
    """adds: parameters as they were written."""

    wish: Wish
    adds: Sequence[str]


def language_for(symbol: Symbol) -> Language:
    return record_of(language_of(symbol.record.path) or "")


def made(index: Index, scope: Scope, symbol: Symbol, kin: Kin, asked: Asked, gaps: Sequence[Reason]) -> Made:
    """The texts after the change.

    Raises:
        UsageError, EditRefused: it cannot be had.
    """
    language = language_for(symbol)
    record = symbol.record
    classes = classes_of(index, symbol)
    languages = names_of(lambda one: one.family == language.family)
    sites = sites_of(index, kin.members, classes, languages)
    paths = sorted({*(item.record.path for item in (*kin.members.values(), *classes.values())), *(site.path for site in sites)})
    codes, digests = _read(index, scope, paths)
    heads = _heads_of(symbol, codes)
    main = main_head(heads)
    change = changed(main.parameters, asked.wish, _added(asked, record.path, language), may_leave_out=not is_of_types(language))
    doubts = list(kin.doubts)
    definitions = {symbol.sym_id: definition(heads, change, record.qualified_name)}
    _add_kin(symbol, kin, codes, change, definitions, doubts)
    names = {key: kin.members[key].record.name for key in definitions}
    sites = [site._replace(of=of) for site in sites if (of := tuple(one for one in site.of if one in definitions))]
    class_names = [(item.record.path, _offset(codes[item.record.path], item)) for item in classes.values() if item.record.path in codes]
    found = changed_texts(definitions, names, codes, sites, _uses_of(index, definitions, codes), class_names, _types(index, codes, sites))
    is_safe = all(own.is_same_shape for item in definitions.values() for _, own in item.heads)
    found.doubts = list(dict.fromkeys([*doubts, *found.doubts, *([] if is_safe else _of_names(scope, kin, definitions, language, main))]))
    return Made(
        before=_said(main, change.before),
        after=_said(main, change.after),
        functions=[record.qualified_name, *sorted(kin.members[key].record.qualified_name for key in definitions if key != symbol.sym_id)],
        changed=found,
        documents={path: code.document for path, code in codes.items()},
        digests=digests,
        unknown=[] if is_safe else list(gaps),
    )


def _added(asked: Asked, path: str, language: Language) -> list[Parameter]:
    from query.refactor.rename import check_name

    for name in asked.wish.renamed.values():
        check_name(name, language.name)
    found = [added(text, path, language) for text in asked.adds]
    for name, value in asked.wish.given.items():
        check_expression(name, value, path, language)
    return found


def _read(index: Index, scope: Scope, paths: Sequence[str]) -> tuple[dict[str, Code], dict[str, str]]:
    """The texts as they are now, and their digests.

    Raises:
        EditRefused: one has changed since the index was made.
    """
    known = contents(index, paths)
    if old := [path for path in paths if path in known and not is_as_indexed(index, path)]:
        raise EditRefused(f"files have changed since the index was made ({listed(old)}); first run: {index_command(index)}")
    texts = {path: decode(content, f"'{path}'") for path in paths if takes_by_place(path) and (content := scope.read(path)) is not None}
    if slow := hangs([(path, text.for_server) for path, text in texts.items()]):
        raise EditRefused(f"no parser reads '{list(texts)[min(slow)]}' in a time that fits its size")
    codes = {path: Code(path, record_of(language_of(path) or ""), text) for path, text in texts.items()}
    return codes, {path: text.digest for path, text in texts.items()}


def _offset(code: Code, symbol: Symbol) -> int:
    return code.offset((symbol.record.line - 1, symbol.record.col - 1))


def _heads_of(symbol: Symbol, codes: Mapping[str, Code]) -> list[Head]:
    """The declarations of the function that is meant.

    Raises:
        UsageError, EditRefused: it is none whose parameters could be changed.
    """
    record = symbol.record
    code = codes.get(record.path)
    heads = heads_at(code, _offset(code, symbol)) if code is not None else []
    if not heads:
        raise UsageError(f"'{record.qualified_name}' is not written as a function at {record.path}:{record.line}, so it has no parameters")
    if any(head.is_accessor for head in heads):
        raise EditRefused(f"'{record.qualified_name}' is a getter or a setter, which is read and set as a field is; change it by hand")
    is_declared = any(
        head.function.type in ("method_elem", "method_signature", "abstract_method_signature", "function_type") for head in heads
    )
    if not is_declared and all(head.body is None for head in heads):
        raise EditRefused(f"'{record.qualified_name}' has no body here, so something else knows its parameters; change it by hand")
    return heads


def _add_kin(
    symbol: Symbol, kin: Kin, codes: Mapping[str, Code], change: Change, definitions: dict[int, Definition], doubts: list[str]
) -> None:
    """What changes with it; of others it is said that they stay."""
    other: list[str] = []
    package = _package(codes[symbol.record.path])
    for key, item in sorted(kin.members.items()):
        record = item.record
        if key == symbol.sym_id:
            continue
        code = codes.get(record.path)
        if code is not None and record.kind == "function" and _package(code) != package:
            continue  # a test's package in the same folder
        heads = heads_at(code, _offset(code, item)) if code is not None else []
        own = as_of(main_head(heads).parameters, change, may_take_fewer=not is_of_types(language_for(symbol))) if heads else None
        is_apart = record.path.endswith(".d.ts") or any(head.is_accessor for head in heads)
        if own is None or is_apart:
            other.append(f"{record.qualified_name} ({record.path}:{record.line})")
            continue
        definitions[key] = Definition(tuple((head, as_of(head.parameters, change, may_take_fewer=True) or own) for head in heads))
    if other:
        doubts.append(
            f"{listed(other)} may be called in its place (overrides it, is overridden by it, or has what the same interface asks for), "
            "has other parameters, and stays as it is"
        )


def _package(code: Code) -> str:
    clause = next((node for node in code.root.named_children if node.type == "package_clause"), None)
    return code.said(clause) if clause is not None else ""


def _uses_of(index: Index, definitions: Mapping[int, Definition], codes: Mapping[str, Code]) -> Mapping[int, Uses]:
    """By function where its parameters are named, by name; under "" all places of which it is known that something is named there."""
    found: dict[int, dict[str, set[int]]] = {key: {} for key in definitions}
    for use in parameter_uses(index, list(definitions)):
        code = codes.get(use.path)
        if code is not None:
            found[use.of].setdefault(use.name, set()).add(code.offset((use.line, use.col)))
    for key, item in definitions.items():
        for head, change in item.heads:
            code = head.code
            words = {code.said(node) for number in (*change.removed, *change.new_names) for node in head.items[number].binds}
            spots = {
                (code.path, *code.position(at))
                for word in words
                for node in code.names_in(head.function, word)
                if (at := code.start(node)) not in found[key].get(word, ())
            }
            found[key].setdefault("", set()).update(code.offset((line, col)) for _, line, col in known_at(index, spots))
    return found


def _types(index: Index, codes: Mapping[str, Code], sites: Sequence[Site]) -> dict[str, frozenset[int]]:
    """By path where a type is named of which something is called."""
    spots: dict[tuple[str, int, int], tuple[str, int, int] | None] = {}
    for site in sites:
        code = codes.get(site.path)
        if code is not None and not site.is_class and is_of_types(code.language):
            for at, of in receivers(code, site.place):
                spots[(site.path, *code.position(at))] = None if of is None else (site.path, *code.position(of))
    values = values_at(index, {of for of in spots.values() if of is not None})
    found: dict[str, set[int]] = {}
    for path, line, col in types_at(index, {spot for spot, of in spots.items() if of not in values}):
        found.setdefault(path, set()).add(codes[path].offset((line, col)))
    return {path: frozenset(offsets) for path, offsets in found.items()}


def _of_names(scope: Scope, kin: Kin, definitions: Mapping[int, Definition], language: Language, main: Head) -> list[str]:
    """What stands against it by what a function is called, and where it is declared again."""
    doubts: list[str] = []
    for key in definitions:
        record = kin.members[key].record
        if record.kind == "method" and language.runs_unnamed(record.name):
            doubts.append(f"'{record.name}' may be run by the language or its library, which knows its parameters")
        is_run = is_of_types(language) and is_called_by_name(record.name, language.name, is_test=record.is_test)
        if record.kind == "function" and is_run and (record.exported or not record.is_test):
            doubts.append(f"'{record.name}' is run by the language or by a runner of tests, which knows its parameters")
        stem = record.path.rpartition(".")[0]
        if not is_of_types(language) and scope.read(f"{stem}.d.ts") is not None:
            doubts.append(f"'{stem}.d.ts' declares it too, and stays as it is")
    if main.function.type == "function_type":
        doubts.append("it is declared as a field that holds a function, and what it is set to may have other parameters")
    return list(dict.fromkeys(doubts))


def _said(head: Head, parameters: Sequence[Parameter]) -> str:
    words: list[str] = []
    for item in parameters:
        if item.was is not None and item.name.startswith("#"):
            nodes = head.items[item.was].nodes
            words.append(head.code.text[head.code.start(nodes[0]) : head.code.end(nodes[-1])].partition(":")[0].strip())
        else:
            words.append(("..." if item.is_rest else "") + item.name)
    return f"({', '.join(words)})"
