"""A definition of Python moved to another module: the program runs as before, or nothing is written and the answer says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from query_support import results_of
from support import crawl_with_ty, printed, write_tree

from indexer.errors import EditRefused, UsageError
from query.answers.style import Style
from query.edits.text import Document
from query.refactor.move.moving import moved
from query.refactor.outcome import lines
from query.refactor.python_module import Module, absolute, free_names, relative
from query.surface.service import Service

FILES = {
    "pyproject.toml": '[project]\nname = "shop"\n\n[project.scripts]\nrun = "shop.util:entry"\n',
    "shop/__init__.py": """from .util import CONST, helper
from shop.util import other as renamed

__all__ = ["CONST", "helper", "renamed"]
""",
    "shop/util.py": '''"""Utilities."""
from __future__ import annotations

import os
import typing as t
from collections import OrderedDict

from .base import Base

if t.TYPE_CHECKING:
    from .types import Kind

__all__ = [
    "helper",
    "other",
    "CONST",
]
CONST = 3
LIMIT = 10


# what it does
# in two lines
@t.no_type_check
def helper(x: int, kind: "Kind | None" = None) -> OrderedDict:
    """Helps."""
    return OrderedDict(a=os.sep, b=min(x, LIMIT), c=Base())


def other():
    return helper(1)


def entry():
    print("entry")


class Thing(Base):
    """Ends the file."""
''',
    "shop/base.py": "class Base:\n    pass\n",
    "shop/types.py": "class Kind:\n    pass\n",
    "shop/sub/__init__.py": "",
    "shop/sub/a.py": """from ..util import (
    helper,  # it helps
    other,
)
from shop import util
import shop.util
import shop.util as u


def run():
    return [helper(1), util.helper(2), shop.util.helper(30), u.helper(4), other()]
""",
    "shop/sub/b.py": """import shop
from shop import helper


def run():
    from shop.util import helper as h

    return [helper(1), shop.helper(2), h(3), shop.util.CONST]
""",
    "shop/sub/star.py": "from shop.base import *\n\n\ndef run():\n    return isinstance(Base(), Base)\n",
    "main.py": """from unittest import mock

from shop.sub import a, b, star
from shop.util import entry, Thing

with mock.patch("shop.util.entry"):
    pass
entry()
print([dict(item, c=type(item["c"]).__name__) for item in a.run()])
print([dict(item, c=0) if isinstance(item, dict) else item for item in b.run()], star.run(), Thing.__doc__)
""",
}  # fmt: skip

Move = Callable[..., Any]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "work", FILES)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture
def move(root: Path) -> Iterator[Move]:
    with results_of("move_symbol", root) as given:
        yield lambda symbol, to, **more: given(symbol, to=to, **more)


@pytest.mark.parametrize(
    ("symbol", "to", "changed"),
    [
        ("shop.util.LIMIT", "shop/limits.py", {"shop/limits.py", "shop/util.py"}),
        ("shop.util.Thing", "shop.base", {"shop/base.py", "shop/util.py", "main.py"}),
        ("shop.util.Thing", "thing.py", {"thing.py", "shop/util.py", "main.py"}),
        ("shop.util.CONST", "shop/sub/__init__.py", {"shop/sub/__init__.py", "shop/util.py", "shop/__init__.py", "shop/sub/b.py"}),
        ("shop.util.entry", "shop/sub/run.py", {"shop/sub/run.py", "shop/util.py", "main.py", "pyproject.toml"}),
        ("shop.base.Base", "shop/bases/own.py", {"shop/bases/own.py", "shop/base.py", "shop/util.py", "shop/sub/star.py"}),
    ],
)
def test_the_program_runs_as_before(root: Path, move: Move, symbol: str, to: str, changed: set[str]) -> None:
    before = printed(root)
    shown = move(symbol, to)
    assert {item.path for item in shown.edited.files} == changed
    assert shown.edited.needs == []
    assert printed(root) == before
    done = move(symbol, to, apply=True, plan=shown.edited.plan)
    assert (done.edited.applied, done.left, done.doubts) == (True, [], [])
    assert printed(root) == before


def test_all_forms_of_an_import_are_rewritten_as_they_were_written(root: Path, move: Move):
    before = printed(root)
    move("shop.util.LIMIT", "shop/limits.py", apply=True)
    crawl_with_ty(root, jobs=1)
    move("shop.util.helper", "shop/help.py", apply=True)
    assert printed(root) == before
    assert (
        (root / "shop/sub/a.py")
        .read_text(encoding="utf-8")
        .startswith(
            """from ..util import (
    other,
)
from ..help import helper
from shop import util
import shop.help
import shop.util
import shop.util as u


def run():
    return [helper(1), shop.help.helper(2), shop.help.helper(30), shop.help.helper(4), other()]
"""
        )
    ), "`help` alone would hide a function of Python's own"
    assert "    from shop.help import helper as h\n" in (root / "shop/sub/b.py").read_text(encoding="utf-8")
    assert (
        (root / "shop/help.py").read_text(encoding="utf-8")
        == '''from __future__ import annotations

import os
import typing as t
from collections import OrderedDict
from typing import TYPE_CHECKING

from .base import Base
from .limits import LIMIT

if TYPE_CHECKING:
    from .types import Kind


# what it does
# in two lines
@t.no_type_check
def helper(x: int, kind: "Kind | None" = None) -> OrderedDict:
    """Helps."""
    return OrderedDict(a=os.sep, b=min(x, LIMIT), c=Base())
'''
    )


def test_the_old_module_goes_on_having_the_name_on_request(root: Path, move: Move):
    move("shop.util.entry", "shop/sub/run.py", keep=True, apply=True)
    assert "from .sub.run import entry\n" in (root / "shop/util.py").read_text(encoding="utf-8")
    assert "entry" in printed(root)


def test_what_would_import_in_a_circle_is_refused_or_said(move: Move):
    with pytest.raises(EditRefused, match=r"'helper' uses LIMIT of 'shop/util.py', which goes on using 'helper'"):
        move("shop.util.helper", "shop/help.py")
    shown = move("shop.util.other", "shop/base.py")
    assert "in a circle: 'shop/base.py' would import 'shop/util.py'" in shown.doubts[0]
    told = next(iter(lines(shown.edited, Style(color=False))))
    assert told.startswith(
        f"not written, as something stands against it; to write it all the same: --apply --anyway --plan {shown.edited.plan}: "
    )
    told = next(iter(lines(shown.edited, Style(compact=True))))
    assert f'the same call with "apply": true, "anyway": true, "plan": "{shown.edited.plan}"' in told
    with pytest.raises(EditRefused, match="in a circle"):
        move("shop.util.other", "shop/base.py", apply=True)


@pytest.mark.parametrize(
    ("symbol", "to", "why"),
    [
        ("shop.sub.a.run", "shop/sub/b.py", "has a 'run' already"),
        ("shop.util.helper", "shop/util.py", "already"),
        ("shop.util.helper", "shop.nowhere", "no module is called 'shop.nowhere'"),
        ("shop.util.helper", "docs/README.md", "is no file of Python"),
        ("shop.util.helper", "../away.py", "outside the workspace"),
        ("shop.util.helper", "shop/not-a-name.py", "is no module that others could import from"),
    ],
)
def test_what_cannot_be_done_is_refused(root: Path, move: Move, symbol: str, to: str, why: str) -> None:
    with pytest.raises((EditRefused, UsageError), match=why):
        move(symbol, to)
    assert not (root.parent / "away.py").exists()


def _moved(name: str, texts: Mapping[str, str], places: Mapping[str, set[tuple[int, int]]] = {}) -> Any:
    """Of `source.py` to `target.py`, others being users."""
    read = {path: Module(path, path.removesuffix(".py").replace("/", "."), Document(text=text)) for path, text in texts.items()}
    source, target = read.pop("source.py"), read.pop("target.py", None)
    empty = Module("target.py", "target", Document(text=""))
    return moved(name, source, target or empty, list(read.values()), places, is_new=target is None, keeps=False)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def f():\n    global state\n    state = 1\n", "sets state of its module"),
        ("if x:\n    def f(): ...\n", "not defined at the top level"),
        ("f = 1\nprint(f)\nf = 2\n", "bound in several places"),
        ("f = 1; g = 2\n", "shares its line"),
        ("f, g = 1, 2\n", "on its own"),
        ("def g(): ...\n", "not defined at the top level"),
        ("def f(): ...\ndef g():\n    global f\n    f = 1\n", "bound in several places"),
    ],
)
def test_what_is_not_one_definition_of_its_own_is_refused(text: str, why: str):
    with pytest.raises(EditRefused, match=why):
        _moved("f", {"source.py": text})


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("def f():\n    return __file__\n", "uses __file__"),
        ("def f():\n    return nowhere\n", "'nowhere', which 'source.py' does not bind"),
        ("cache = None\n\n\ndef f():\n    return cache\n\n\ndef g():\n    global cache\n    cache = 1\n", "binds in several places"),
    ],
)
def test_what_may_mean_something_else_there_is_said(text: str, doubt: str):
    assert any(doubt in said for said in _moved("f", {"source.py": text}).doubts)


_OVERLOADS = """@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x):
    return x
"""


def test_what_leads_back_over_a_third_module_is_said(tmp_path: Path):
    texts = {
        "low.py": "x = 1\n",
        "mid.py": "from low import x\n\n\ndef item():\n    return x\n",
        "top.py": "from mid import item\n\n\ndef moves():\n    return item()\n",
    }
    root = write_tree(tmp_path / "thirds", texts)
    crawl_with_ty(root, jobs=1)
    service = Service(root)
    try:
        assert "'low.py' would import 'mid.py'" in service.ask("move_symbol", {"symbol": "top.moves", "to": "low.py"}).result.doubts[0]
    finally:
        service.close()


def test_a_module_that_imports_what_is_not_there_is_told(tmp_path: Path):
    root = write_tree(tmp_path / "lacking", {"a.py": "def f(): ...\n\n\ndef g(): ...\n", "b.py": "import no_such_package\n", "c.py": ""})
    crawl_with_ty(root, jobs=1)
    service = Service(root)
    try:
        codes = {
            to: [item.code for item in service.ask("move_symbol", {"symbol": "a.f", "to": to}).completeness.reasons]
            for to in ("b.py", "c.py")
        }
        assert codes == {"b.py": ["unresolved_imports"], "c.py": []}
    finally:
        service.close()


def test_what_is_known_for_types_only_stays_so():
    text = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    P = 1\n    Q = 2\n\n\ndef f(x: 'P') -> 'Q': ...\n"
    found = _moved("f", {"source.py": text, "target.py": "import os\n\n\ndef g(): ...\n"})
    assert found.documents["target.py"].text == (
        "import os\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from source import P, Q\n"
        "\n\ndef g(): ...\n\n\ndef f(x: 'P') -> 'Q': ...\n"
    )


@pytest.mark.parametrize("listed", ["", "__all__ = ['f']\n"])
def test_who_has_it_by_a_star_imports_it(listed: str):
    text = f"{listed}\n\ndef f(): ...\n"
    found = _moved("f", {"source.py": text, "user.py": "from source import *\nf()\n"}, {"user.py": {(1, 0)}})
    assert found.documents["user.py"].text == "from source import *\nfrom target import f\nf()\n"


def test_a_string_that_names_it_in_a_module_that_imports_it_is_no_use_that_is_left():
    users = {
        "user.py": "from source import f\nf()\n",
        "other.py": "def late():\n    from source import f\n",
        "renamed.py": "from source import f as g\n",
        "test_it.py": "patch('user.f')\npatch('other.f')\npatch('renamed.f')\npatch('source.f')\n",
    }
    places = {"user.py": {(0, 19), (1, 0)}, "test_it.py": {(0, 12), (1, 13), (2, 15), (3, 14)}}
    found = _moved("f", {"source.py": "def f(): ...\n", **users}, places)
    assert found.documents["user.py"].text == "from target import f\nf()\n"
    assert [(place.path, place.line) for place in found.left] == [("test_it.py", 1), ("test_it.py", 2)], "those have no 'f'"
    assert "patch('user.f')" in found.documents["test_it.py"].text
    assert "patch('target.f')" in found.documents["test_it.py"].text


def test_imports_with_dots_in_a_function_mean_what_they_meant():
    pkg = Module("pkg/source.py", "pkg.source", Document(text="def f():\n    from . import late\n    from ..pkg.other import x\n"))
    there = Module("pkg/sub/z.py", "pkg.sub.z", Document(text=""))
    found = moved("f", pkg, there, [], {}, is_new=True, keeps=False)
    assert found.documents["pkg/sub/z.py"].text == "def f():\n    from .. import late\n    from ..other import x\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("def register(x): ...\n\n\n@register\ndef f(): ...\n", "its decorator 'register'"),
        ("class Base: ...\n\n\nclass f(Base): ...\n", "its base 'Base'"),
        ("import functools\n\n\n@functools.cache\ndef f(): ...\n", ""),
        ("from enum import Enum\n\n\nclass f(Enum, Exception): ...\n", ""),
    ],
)
def test_what_may_register_is_known(text: str, what: str):
    assert _moved("f", {"source.py": text}).registers == what


def test_each_function_that_imports_the_old_module_imports_the_new_one():
    user = "def a():\n    from pkg import source\n    source.f()\n\n\ndef b():\n    from pkg import source\n    return source.f()\n"
    other = "def c():\n    from pkg import target\n    target.g()\n\n\n"
    read = {
        path: Module(path, path.removesuffix(".py").replace("/", "."), Document(text=text))
        for path, text in {"pkg/source.py": "def f(): ...\n", "one.py": user, "two.py": other + user}.items()
    }
    places = {"one.py": {(2, 11), (7, 18)}, "two.py": {(7, 11), (12, 18)}}
    there = Module("pkg/target.py", "pkg.target", Document(text=""))
    found = moved("f", read["pkg/source.py"], there, [read["one.py"], read["two.py"]], places, is_new=True, keeps=False)
    assert found.documents["one.py"].text == user.replace("source\n", "source\n    from pkg import target\n").replace(
        "source.f", "target.f"
    )
    full = user.replace("source\n", "source\n    import pkg.target\n").replace("source.f", "pkg.target.f")
    assert found.documents["two.py"].text == other + full


def test_a_statement_that_goes_on_behind_a_backslash_takes_one_name_more():
    text = "from target import a, \\\n    b\n\n\ndef f(): ...\n\n\ng = f\n"
    assert "    b, f\n" in _moved("f", {"source.py": text, "target.py": "a = b = 1\n"}).documents["source.py"].text


@pytest.mark.parametrize("text", ["", "\n", '"""Says."""\n', '"""Says."""', "# says\n", "import os\n"])
def test_imports_come_before_the_definition_whatever_the_module_holds(text: str):
    made = _moved("f", {"source.py": "import re\n\n\ndef f(x=re):\n    return x\n", "target.py": text}).documents["target.py"].text
    assert made.index("import re\n") < made.index("def f(x=re)")
    assert made.startswith(text.strip())
    compile(made, "target.py", "exec")


def test_what_a_module_says_of_itself_stays():
    with pytest.raises(EditRefused, match="says of itself"):
        _moved("__all__", {"source.py": "__all__ = []\n"})


def test_a_block_whose_only_import_goes_is_not_empty():
    found = _moved("f", {"source.py": "def f(): ...\n", "target.py": "def g():\n    from source import f\n"})
    assert found.documents["target.py"].text.startswith("def g():\n    pass\n")


@pytest.mark.parametrize("patch", ["import source\nsource.f = 1\n", "x = 'source.f'\n"])
def test_who_sets_it_in_the_old_module_is_told_where_that_goes_on_using_it(patch: str):
    places = {"user.py": {(1, 7)} if "import" in patch else {(0, 12)}}
    text = "def f(): ...\n\n\ndef g():\n    f()\n"
    assert any("user.py set it in 'source.py'" in said for said in _moved("f", {"source.py": text, "user.py": patch}, places).doubts)
    assert _moved("f", {"source.py": text.partition("\n\n\n")[0] + "\n", "user.py": patch}, places).doubts == []


@pytest.mark.parametrize(
    "patch",
    [
        "from unittest import mock\n\nwith mock.patch('shop.util.LIMIT', 3):\n    pass\n",
        "from shop import util\n\nutil.LIMIT = 3\n",
        "from shop import util\n\n\ndef test(monkeypatch):\n    monkeypatch.setattr(util, 'LIMIT', 3)\n",
    ],
)
def test_who_patches_what_a_definition_uses_is_told(tmp_path: Path, patch: str):
    files = {"shop/__init__.py": "", "shop/util.py": "LIMIT = 1\n\n\ndef lone():\n    return LIMIT\n", "patches.py": patch}
    root = write_tree(tmp_path / "work", files)
    crawl_with_ty(root, jobs=1)
    service = Service(root)
    try:
        doubts = service.ask("move_symbol", {"symbol": "shop.util.lone", "to": "shop/lone.py"}).result.doubts
        assert any(said.startswith("patches.py set or patch what it uses in 'shop/util.py' (LIMIT)") for said in doubts)
    finally:
        service.close()


def test_overloads_move_together_and_a_name_goes_before_its_first_use():
    imported = "from typing import overload\n"
    found = _moved("f", {"source.py": f"{imported}\n\n{_OVERLOADS}", "target.py": "from source import f\n\n\n@f\ndef g(): ...\n"})
    assert found.documents["target.py"].text == f"{imported}\n\n{_OVERLOADS}\n\n@f\ndef g(): ...\n"
    assert found.documents["source.py"].text == imported


def test_a_type_that_is_quoted_is_a_use():
    text = """from typing import TypeVar, cast

T = TypeVar('T', bound='C')


class C:
    x: 'D'


class D: ...


def f(c: 'C'):
    return cast('D', c)
"""
    places = {"source.py": {(2, 25), (5, 6), (12, 10)}}
    found = _moved("C", {"source.py": text.replace("'D'", "'int'")}, places)
    assert "from target import C\n" in found.documents["source.py"].text
    assert found.left == []
    with pytest.raises(EditRefused, match="uses D of"):
        _moved("C", {"source.py": text}, places)


def test_line_ends_and_other_alphabets_stay():
    text = "é = 'ü'  # ü\r\nx = 'é'; y = é\r\n\r\n\r\ndef f():\r\n    return 'é'\r\n"
    found = _moved("f", {"source.py": text, "user.py": "u = 'ü'; from source import é, f; print('ü', f())\r\n"})
    assert found.documents["source.py"].text == "é = 'ü'  # ü\r\nx = 'é'; y = é\r\n"
    assert found.documents["user.py"].text == "u = 'ü'; from source import é; from target import f; print('ü', f())\r\n"


def test_a_module_has_two_names():
    assert [absolute("b", 1, "a"), absolute("", 2, "a.b"), absolute("c.d", 0, "a")] == ["a.b", "a", "c.d"]
    for module, package in (("a.b", "a"), ("a.b.c", "a.x"), ("a", "a.b"), ("z.y", "a"), ("a.b", "a.b")):
        said = relative(module, package)
        level = len(said) - len(said.lstrip("."))
        assert absolute(said.lstrip("."), level, package) == module


def test_free_names_are_those_of_python():
    text = """@deco(D)
class A(Base):
    x: 'Quoted' = y
    def f(self, a=default) -> Ret:
        import os
        return [z for z in g(os, a, A, len)]
"""
    assert free_names(text) == {"deco", "D", "Base", "Quoted", "y", "default", "Ret", "g", "len"}
