"""Types of which a library makes objects because an annotation names them: a list of callers without those is not complete."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import crawl_with_ty, installed, write_tree

from query import api, open_index
from query.facts.index import Index

FILES: dict[str, str | bytes] = {
    **installed(
        {
            "web.py": "class Router:\n    def post(self, path): ...\n",
            "schema.py": "class Model: ...\n",
        }
    ),
    "pyproject.toml": "[project]\nname = 'app'\nversion = '1'\n",
    "app.py": """
from abc import ABC
from missing import Missing
from schema import Model
from web import Router

router = Router()


def own(function):
    function(Own())
    return function


class Item:
    def __init__(self, name=""): ...


class Given: ...


class Inner: ...


class Outer(Model):
    inner: Inner | None = None

    def method(self, unmade: "Unmade") -> None: ...


class Unmade: ...


class OfUnknown: ...


class Settings(Missing):
    field: OfUnknown


class Own: ...


class OfLibrary: ...


class Abstract(ABC):
    field: OfLibrary


@router.post("/")
def create(item: Item) -> "Given":
    unmade: Unmade


@own
def called_here(own: Own): ...
""",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = write_tree(tmp_path_factory.mktemp("annotated") / "clone", FILES)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as made:
        yield made


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("app.Item", "the head of 'create' names it, which is registered by 'router.post' at app.py:"),
        ("app.Item.__init__", "the head of 'create' names it"),
        ("app.Given", "the head of 'create' names it"),
        ("app.OfUnknown", "a field of 'Settings' is of it, and the base 'Missing' of that may make one: app.py:"),
        ("app.Inner", "a field of 'Outer' is of it, and the base 'schema.Model' of that may make one: app.py:26"),
    ],
)
def test_what_a_library_may_make_is_a_reason(index: Index, name: str, said: str) -> None:
    answer = api.find_callers(index, name)
    assert answer.total == 0
    assert [said in reason.detail for reason in answer.completeness.reasons if reason.code == "registered"] == [True]


@pytest.mark.parametrize("name", ["app.Unmade", "app.Own", "app.OfLibrary"])
def test_what_nobody_else_makes_has_none(index: Index, name: str) -> None:
    """An annotation in a method that no library calls, or in a body; a decorator of the workspace; a base of the language's own library."""
    assert api.find_callers(index, name).completeness.status == "complete"
