"""A census of knowledge that has an owner, and of the places that hold it all the same. Each number may only fall.

A number that has fallen is written down here, so that it cannot rise again.
"""

from __future__ import annotations

import ast
import functools
import re
import typing
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types as lsp
from support import parsed

from indexer.languages import LANGUAGES
from indexer.lsp.generate import member

ROOT = Path(__file__).parent.parent

SQL_MODULES = 0
"""Modules of `query` outside of `query.facts` that hold SQL; the aim is none."""

WIRE_MODULES = 0
"""Modules outside of the decoders that read a field of the protocol out of raw JSON."""

BARE_NUMBERS = 0
"""Kinds, flags, roles, evidence and confidence in SQL that are numbers and not names; the aim is none."""

LANGUAGE_NAMES = 62
"""Strings that name a language, outside of `indexer.languages`; what is left are programs, managers of packages, runners, settings
and folders that are called as a language is."""

_SQL = re.compile(r"\b(SELECT\b[\s\S]*\bFROM|WITH\b[\s\S]*\bAS\s*\(|INSERT INTO|JOIN\s+\w+\s+(USING|ON))\b")
_BARE = re.compile(r"\b(flags|kind|roles?|evidence|confidence|reason|via)\s*(&\s*\d+|(=|<>|!=|<|>|<=|>=)\s*\d+|(NOT )?IN\s*\(\s*\d+)")
_PLAIN_FIELDS = frozenset({"uri", "range", "contents", "edits", "newText", "placeholder", "percentage", "tooltip", "legend", "signatures"})
"""Of the protocol's members that are plain words, those that nothing else of ours is called."""
_TALKS = ("query/live/", "query/edits/", "query/refactor/")
"""Where raw JSON of servers passes through: there every name of a member counts."""
_DECODERS = ("query/live/decode/", "query/edits/workspace_edit.py", "indexer/lsp/")


def _modules(*packages: str) -> Iterator[tuple[str, ast.Module]]:
    for package in packages:
        yield from parsed(package)


@functools.cache
def _texts(tree: ast.Module) -> list[str]:
    """String constants that are no docstrings; of an f-string its constant parts, joined."""
    return list(_each_text(tree))


def _each_text(tree: ast.Module) -> Iterator[str]:
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            parts = [part for part in node.values if isinstance(part, ast.Constant)]
            inside.update(id(part) for part in parts)
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else " x " for part in node.values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def test_fewer_modules_outside_of_facts_hold_sql():
    found = [path for path, tree in _modules("query") if not path.startswith("query/facts/") and any(map(_SQL.search, _texts(tree)))]
    assert len(found) == SQL_MODULES, found


def test_only_facts_ask_an_index_for_rows():
    """Whatever a statement looks like: who wants to know something asks a function of `query.facts`, which returns records."""
    reading = {"rows", "row", "arrow", "execute"}
    found = [
        f"{path}:{node.lineno}"
        for path, tree in _modules("query")
        if not path.startswith("query/facts/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in reading
    ]
    assert found == []


def test_fewer_modules_outside_of_the_decoders_read_the_wire():
    found = [path for path, tree in _modules("query", "indexer") if not path.startswith(_DECODERS) and _read_fields(path, tree)]
    assert len(found) == WIRE_MODULES, found


def test_the_census_of_the_wire_sees_every_way_to_read_a_member():
    for text in ('x["selectionRange"]', 'x.get("newText", "")', '{"a": x["uri"]}["a"]', 'x["renameProvider"]'):
        assert _read_fields("query/tools/x.py", ast.parse(text)), text
    assert _read_fields("query/live/x.py", ast.parse('x["kind"]'))
    for text in ('x["kind"]', 'x["uri"] = 1', '{"newText": 1}', 'x["name"]'):
        assert not _read_fields("query/tools/x.py", ast.parse(text)), text


def _read_fields(path: str, tree: ast.Module) -> list[str]:
    """Names of members of the protocol that code takes out of something by name: those written as no word of ours is, the distinctive
    ones of the others, and where servers' JSON passes through, all."""
    known = _fields()
    wanted = known if path.startswith(_TALKS) else {field for field in known if not field.islower()} | _PLAIN_FIELDS
    found: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(slice=ast.Constant(value=str(field)), ctx=ast.Load()) if field in wanted:
                found.append(field)
            case ast.Call(func=ast.Attribute(attr="get" | "pop"), args=[ast.Constant(value=str(field)), *_]) if field in wanted:
                found.append(field)
            case _:
                pass
    return found


@functools.cache
def _fields() -> frozenset[str]:
    """Names of the members of whatever a server may send, by lsprotocol."""
    known: set[type] = set()

    def look(hint: object) -> None:
        if isinstance(hint, type) and hasattr(hint, "__attrs_attrs__") and hint not in known:
            known.add(hint)
            for inner in typing.get_type_hints(hint, vars(lsp)).values():
                look(inner)
        for inner in typing.get_args(hint):
            look(inner)

    look(lsp.ServerCapabilities)
    for _, answer, parameters, _ in lsp.METHOD_TO_TYPES.values():
        look(parameters if answer is None else answer)
    return frozenset(member(item.name) for cls in known for item in cls.__attrs_attrs__)


def test_fewer_numbers_in_sql_have_no_name():
    texts = [text for _, tree in _modules("query", "indexer") for text in _texts(tree)]
    texts += [file.read_text(encoding="utf-8") for package in ("query", "indexer") for file in (ROOT / package).rglob("*.sql")]
    assert sum(len(_BARE.findall(text)) for text in texts) == BARE_NUMBERS


def test_answers_are_made_in_one_place():
    """A tool says what it found; `query.answers.envelope` and the facts of the index make the rest."""
    makers = {"Answer": {"query/answers/envelope.py"}, "Provenance": {"query/answers/envelope.py", "query/facts/completeness.py"}}
    found = [
        f"{path}:{node.lineno}"
        for path, tree in _modules("query")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and path not in makers.get(node.func.id, {path})
    ]
    assert found == []


def test_a_tool_says_its_own_name_in_its_declaration_only():
    for path, tree in _modules("query/tools"):
        bodies = [part for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for part in node.body]
        own = [node for part in bodies for node in ast.walk(part) if isinstance(node, ast.Constant) and node.value == Path(path).stem]
        assert own == [], path


def test_fewer_strings_outside_of_the_records_name_a_language():
    names = {name for record in LANGUAGES for name in record.names}
    quoted = re.compile(f"'({'|'.join(map(re.escape, names))})'")
    found = 0
    for path, tree in _modules("query", "indexer"):
        if not path.startswith("indexer/languages/"):
            found += sum(text in names or len(quoted.findall(text)) for text in _texts(tree))
    assert found == LANGUAGE_NAMES


def test_no_statement_names_a_language():
    """It says `language_has(d.language, 'spreads')`, by a field of the record."""
    names = "|".join(re.escape(name) for record in LANGUAGES for name in record.names)
    compared = re.compile(rf"\blanguage\b\s*(=|<>|!=|(NOT )?IN\s*\()\s*'({names})'", re.IGNORECASE)
    texts = {path: "\n".join(_texts(tree)) for path, tree in _modules("query", "indexer")}
    texts |= {str(file): file.read_text(encoding="utf-8") for package in ("query", "indexer") for file in (ROOT / package).rglob("*.sql")}
    assert [path for path, text in texts.items() if compared.search(text)] == []


def test_no_module_has_more_than_five_hundred_lines():
    files = [file for package in ("indexer", "query", "ci") for file in (ROOT / package).rglob("*.py")]
    assert [file.relative_to(ROOT).as_posix() for file in files if len(file.read_bytes().splitlines()) > 500] == []


def test_no_function_has_more_than_eighty_lines():
    found = [
        f"{path}: {node.name}"
        for path, tree in _modules("indexer", "query")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.end_lineno is not None and node.end_lineno - node.lineno >= 80
    ]
    assert found == []


def test_every_python_that_is_started_is_isolated():
    """`python -m` imports from the current folder first, which may be a stranger's repository: only -I leaves it out."""
    starts = [
        (path, [item.value for item in node.elts[at + 1 :] if isinstance(item, ast.Constant)])
        for path, tree in _modules("indexer", "query")
        for node in ast.walk(tree)
        if isinstance(node, ast.List)
        for at, first in enumerate(node.elts)
        if isinstance(first, ast.Attribute) and ast.unparse(first) == "sys.executable"
    ]
    assert len(starts) >= 6
    assert [path for path, words in starts if words[:1] != ["-I"]] == []
