"""Regular expressions that a stranger's text meets: none is tried in ever more ways as it grows, none reads it again and again."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from re import _constants as code  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from typing import Any

import pytest

import indexer
import query
from indexer import component, notebook, packages, unread
from indexer.cargo import versions
from indexer.crawl.plan import foreign
from indexer.go_modules import _order as order_of_go  # pyright: ignore[reportPrivateUsage]
from indexer.python_project import wanted_version
from indexer.python_requirements import pep440
from query.facts import names
from query.facts.gaps import words

C: Any = code
_MANY = 64
_FUNCTIONS = frozenset({"compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split"})
_CATEGORIES = {C.CATEGORY_DIGIT: r"\d", C.CATEGORY_SPACE: r"\s", C.CATEGORY_WORD: r"\w"}
_OTHERS = {C.CATEGORY_NOT_DIGIT: r"\D", C.CATEGORY_NOT_SPACE: r"\S", C.CATEGORY_NOT_WORD: r"\W"}
_ALL = frozenset(range(256))


def _patterns() -> Iterator[tuple[str, str | bytes, int]]:
    """Each pattern that a module compiles when it is imported, and each that stands as a text in a call of `re`."""
    for package in (indexer, query):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.endswith("__main__"):
                continue
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                for one in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]:
                    if isinstance(one, re.Pattern):
                        yield f"{found.name}.{name}", one.pattern, one.flags
        for file in Path(package.__path__[0]).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                    of, text = node.func.value, node.args[0]
                    if isinstance(of, ast.Name) and of.id == "re" and node.func.attr in _FUNCTIONS and isinstance(text, ast.Constant):
                        yield f"{file}:{node.lineno}", text.value, 0  # pyright: ignore[reportReturnType]


def _letters(operation: Any, value: Any) -> frozenset[int]:
    """What one character may be, of the first 256."""
    if operation is C.LITERAL:
        return frozenset({min(value, 255)})
    if operation is C.NOT_LITERAL:
        return _ALL - {value}
    if operation is C.ANY:
        return _ALL
    if operation is C.CATEGORY:
        return frozenset(number for number in _ALL if re.match({**_CATEGORIES, **_OTHERS}[value], chr(number)))
    if operation is C.RANGE:
        return frozenset(range(value[0], min(value[1], 255) + 1))
    assert operation is C.IN
    found = frozenset[int]().union(*(_letters(*item) for item in value if item[0] is not C.NEGATE))
    return _ALL - found if value[0][0] is C.NEGATE else found


def _is_nullable(item: Any) -> bool:
    return parser.SubPattern(parser.State(), [item]).getwidth()[0] == 0


def _ends(items: list[Any], *, last: bool) -> tuple[frozenset[int], frozenset[int]]:
    """Of a sequence, the letters with which it may begin, or end where `last`; and those of repetitions without end that stand there."""
    all_letters, repeated = frozenset[int](), frozenset[int]()
    for operation, value in reversed(items) if last else items:
        inner: list[list[Any]] = []
        if operation in (C.MAX_REPEAT, C.MIN_REPEAT):
            inner = [list(value[2])]
        elif operation is C.SUBPATTERN:
            inner = [list(value[3])]
        elif operation is C.BRANCH:
            inner = [list(one) for one in value[1]]
        elif operation in (C.LITERAL, C.NOT_LITERAL, C.ANY, C.IN):
            all_letters |= _letters(operation, value)
        for one in inner:
            letters, again = _ends(one, last=last)
            all_letters |= letters
            repeated |= again | (letters if operation in (C.MAX_REPEAT, C.MIN_REPEAT) and value[1] > _MANY else frozenset())
        if operation in (C.ASSERT, C.ASSERT_NOT, C.AT):
            continue
        if not _is_nullable((operation, value)):
            break
    return all_letters, repeated


def _explodes(items: Any) -> bool:
    """Whether a repetition without end repeats what itself ends with one, of letters with which the next round may begin."""
    for operation, value in items:
        if operation in (C.MAX_REPEAT, C.MIN_REPEAT):
            body = list(value[2])
            if value[1] > _MANY and _ends(body, last=False)[0] & _ends(body, last=True)[1]:
                return True
            if _explodes(body):
                return True
        elif operation is C.SUBPATTERN:
            if _explodes(value[3]):
                return True
        elif operation is C.BRANCH:
            if any(_explodes(one) for one in value[1]):
                return True
        elif operation in (C.ASSERT, C.ASSERT_NOT) and _explodes(value[1]):
            return True
    return False


@pytest.mark.parametrize(
    ("pattern", "does"),
    [
        (r"(a+)+b", True),
        (r"licence(?:[-_.](?!py\Z)[\w-]+)*\Z", True),
        (r"(?:\w+\s*)*x", True),
        (r"(?:a|b+)*", True),
        (r"licence(?:[-_][\w-]+)?(?:\.[\w-]+)*\Z", False),
        (r"(?:[\w-]+/)*x", False),
        (r"(?:\s+\w+)*", False),
        (r"(?>(?>a+)+)b", False),
    ],
)
def test_patterns_that_explode_are_known(pattern: str, does: bool) -> None:
    assert _explodes(parser.parse(pattern)) is does


@pytest.mark.slow
def test_no_pattern_explodes() -> None:
    found = list(_patterns())
    assert len(found) > 250
    assert [f"{where}: {pattern!r}" for where, pattern, flags in found if _explodes(parser.parse(pattern, flags))] == []


_LONG = 300_000
"""In proportion, reading takes less than a second. In squares it takes so many hours that nobody need measure: the test does not end."""


def _page(content: bytes) -> object:
    return [read(content) for read in (unread._expressions, unread._bindings, unread._examples, unread._code)]  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    "text",
    [
        "{{",
        "{%",
        "<%",
        "${",
        "<script ",
        "<script>",
        "a\x80",
        "\n```a",
        "\n```",
        "\n\n~~~~",
        " :a=",
        " onx='",
        "{",
        "[{",
        "a ",
        "\n.. code:: ",
    ],
)
def test_a_page_is_read_once(text: str) -> None:
    """Also one of a single line."""
    content = text.encode("latin-1") * (_LONG // len(text))
    _page(content)
    _page(b"```" + b"a" * _LONG)
    _page(b" \t" * _LONG + b":: x")


@pytest.mark.parametrize(
    "text", ["<script", "<script>", "<!--", "<!--<script>", "export {", "<script></script>", "<!----><script>a</script>"]
)
def test_a_component_is_read_once(text: str) -> None:
    for path in ("a.vue", "a.astro"):
        component.scripts_of(path, text * (_LONG // len(text)))
        component.markup_of(path, f"---\n{text * (_LONG // len(text))}")


def test_a_comment_that_is_never_closed_hides_what_follows() -> None:
    assert component.scripts_of("a.vue", "<!-- <script>a</script> --><script>b</script><!-- <script>c</script>") is not None
    assert "c" not in (component.scripts_of("a.vue", "<script>b</script><!-- <script>c</script>") or "").partition("export")[0]


@pytest.mark.parametrize(
    "read",
    [
        lambda: foreign._LICENCE.match("LICENSE" + "-" * 200 + "!"),  # pyright: ignore[reportPrivateUsage]
        lambda: versions.allows(" " * _LONG + "x", "1.2.3"),
        lambda: versions.sort_key("9" * 5_000 + ".0.0"),
        lambda: order_of_go("v" + "9" * 5_000),
        lambda: wanted_version([]),
        lambda: pep440("1" + " " * _LONG + "x"),
        lambda: words._EXPORTS.findall(b"export{" * (_LONG // 7)),  # pyright: ignore[reportPrivateUsage]
        lambda: names._MONIKER.fullmatch("a " * 3_000 + "\n"),  # pyright: ignore[reportPrivateUsage]
        lambda: notebook._ASSIGNED.match(" " * _LONG + "x"),  # pyright: ignore[reportPrivateUsage]
        lambda: packages._GO_CACHE.search("/pkg/mod/" + "@" * _LONG),  # pyright: ignore[reportPrivateUsage]
    ],
)
def test_what_is_written_against_its_reader_is_read_once(read: Callable[[], object]) -> None:
    read()


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("LICENSE", True), ("LICENSE-MIT", True), ("license_a-b.c.txt", True), ("my.LICENCE.md", True), ("COPYING-py", False),
        ("license.py", False), ("license-x.py", False), ("license.x-py", True), ("license..txt", False), ("license.", False),
    ],
)  # fmt: skip
def test_which_names_are_those_of_licences(name: str, is_one: bool) -> None:
    assert bool(foreign._LICENCE.match(name)) is is_one  # pyright: ignore[reportPrivateUsage]
