"""What a trial on packages of others broke: each case moves a definition, and the program runs as before or the answer says why not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support import crawl_with_ty, printed, write_tree

from indexer.errors import UsageError
from query.edits.text import Document
from query.refactor.move.moving import moved
from query.refactor.python_module import Module
from query.surface.service import Service

_STARS = {
    "p/__init__.py": "from p.misc import *\nfrom p.other import *\n",
    "p/misc.py": """from itertools import tee

__all__ = ('pairwise', 'here')


def pairwise(x):
    return tee(x)


def here(): ...
""",
    "p/other.py": "__all__ = ['zeta']\nzeta = 1\n",
    "mid.py": "from p.misc import *\n",
    "lone.py": "from p.misc import *\n",
    "main.py": "import mid\nimport p\nfrom p import pairwise\n\nprint(pairwise is p.pairwise is mid.pairwise, p.here())\n",
}


def _done(root: Path, symbol: str, to: str, **more: Any) -> Any:
    crawl_with_ty(root, jobs=1)
    service = Service(root)
    try:
        return service.ask("move_symbol", {"symbol": symbol, "to": to, "apply": True, **more}).result
    finally:
        service.close()


def _moved(name: str, texts: Mapping[str, str], *, hands_on: tuple[str, ...] = ()) -> Any:
    read = {path: Module(path, path.removesuffix(".py").replace("/", "."), Document(text=text)) for path, text in texts.items()}
    source, target = read.pop("source.py"), read.pop("target.py", None)
    empty = Module("target.py", "target", Document(text=""))
    return moved(name, source, target or empty, list(read.values()), {}, is_new=target is None, keeps=False, hands_on=hands_on)


@pytest.mark.parametrize("to", ["p/pairs.py", "p/other.py"])
def test_who_has_it_by_a_star_still_hands_it_on(tmp_path: Path, to: str):
    root = write_tree(tmp_path / "work", _STARS)
    before = printed(root)
    done = _done(root, "p.misc.pairwise", to)
    assert printed(root) == before
    written = "from p.misc import *\nfrom p." + Path(to).stem + " import pairwise\n"
    assert (root / "p/__init__.py").read_text(encoding="utf-8").startswith(written)
    assert (root / "mid.py").read_text(encoding="utf-8") == written
    assert "lone.py" not in {item.path for item in done.edited.files}, "nobody takes it from there"
    assert "('here',)" in (root / "p/misc.py").read_text(encoding="utf-8"), "a tuple of one stays a tuple"
    assert ("__all__ = ['pairwise', 'zeta']\n" in (root / "p/other.py").read_text(encoding="utf-8")) == (to == "p/other.py")


def test_a_package_whose_own_list_is_made_as_it_runs_is_told():
    texts = {
        "source.py": "__all__ = ['f']\n\n\ndef f(): ...\n",
        "user.py": "from source import *\nimport source\n__all__ = source.__all__ + []\n",
    }
    assert _moved("f", texts, hands_on=("user.py",)).doubts == ["'user.py' makes its __all__ as it runs, and may no longer list 'f' there"]
    assert _moved("f", {**texts, "user.py": "from source import *\n__all__ = ['f']\n"}, hands_on=("user.py",)).doubts == []


@pytest.mark.parametrize("target", [None, "import os\n\n\nprint(os.sep)\n"])
def test_an_import_that_is_chosen_as_it_runs_is_chosen_there_too(target: str | None):
    choice = (
        "try:\n    import nowhere_at_all as json\nexcept ImportError:\n    import json\nif sys.platform == 'nowhere':\n    import msvcrt\n"
    )
    text = f"import sys\n\n{choice}\n\ndef f():\n    return json.dumps(1), msvcrt\n"
    texts = {"source.py": text} if target is None else {"source.py": text, "target.py": target}
    made = _moved("f", texts).documents["target.py"].text
    space: dict[str, Any] = {"msvcrt": 2}
    exec(compile(made, "target.py", "exec"), space)
    assert space["f"]() == ("1", 2)


def test_a_choice_that_does_more_is_imported_from_the_old_module():
    text = "try:\n    import fast\nexcept ImportError:\n    fast = print('slow')\n\n\ndef f():\n    return fast\n"
    assert _moved("f", {"source.py": text}).documents["target.py"].text == "from source import fast\n\n\ndef f():\n    return fast\n"


def test_a_new_module_below_a_folder_for_sources_is_called_as_its_neighbours(tmp_path: Path):
    files = {
        "src/ns/x/a.py": "def f():\n    return 1\n",
        "src/ns/y/b.py": "from ns.x.a import f\n\ny = f()\n",
        "src/main.py": "import ns.y.b\n\nprint(ns.y.b.y)\n",
    }
    root = write_tree(tmp_path / "work", files)
    done = _done(root, "src/ns/x/a.py:1", "src/ns/z/deep/c.py")
    assert (done.to_module, printed(root, "src")) == ("ns.z.deep.c", "1\n")


def test_a_package_that_is_loaded_first_can_close_a_circle(tmp_path: Path):
    files = {
        "p/__init__.py": "",
        "p/a.py": "def f():\n    return 1\n",
        "p/s/__init__.py": "from p.u import z\n",
        "p/u.py": "from p.a import f\n\nz = f()\n",
    }
    root = write_tree(tmp_path / "work", files)
    crawl_with_ty(root, jobs=1)
    service = Service(root)
    try:
        doubts = service.ask("move_symbol", {"symbol": "p.a.f", "to": "p/s/new.py"}).result.doubts
        assert ["in a circle: 'p/u.py' would import 'p/s/__init__.py'" in said for said in doubts] == [True]
    finally:
        service.close()


def test_a_circle_that_there_was_is_no_reason_against_it(tmp_path: Path):
    files = {
        "p/__init__.py": "from p.low import g\n",
        "p/text.py": "from p import style\n\n\nclass Span:\n    kind = style\n\n\nclass Text: ...\n",
        "p/style.py": "import p.low\n\n\ndef late():\n    return p.low\n",
        "p/low.py": "from p.text import Span, Text\n\n\ndef g():\n    return Span, Text\n",
        "main.py": "import p\n\nprint(p.g()[0].__name__)\n",
    }
    root = write_tree(tmp_path / "work", files)
    before = printed(root)
    assert _done(root, "p.text.Span", "p/span.py").doubts == []
    assert printed(root) == before


def test_a_quoted_type_is_no_patch(tmp_path: Path):
    files = {
        "p/__init__.py": "",
        "p/a.py": "class A: ...\n\n\nclass B(A): ...\n",
        "main.py": (
            "import typing\n\nimport p.a\nfrom p import a\n\n\ndef f(x: 'p.a.A', y: 'a.A') -> 'list[a.A]': ...\n\n\n"
            "print(len(typing.get_type_hints(f)))\n"
        ),
    }
    root = write_tree(tmp_path / "work", files)
    assert _done(root, "p.a.A", "p/b.py").doubts == []
    assert printed(root) == "3\n"
    assert "x: 'p.b.A', y: 'b.A') -> 'list[b.A]'" in (root / "main.py").read_text(encoding="utf-8")


def test_the_text_that_documents_a_variable_goes_with_it():
    found = _moved("x", {"source.py": "x = 1\n'''About x.'''\ny = 2\n"})
    assert found.documents["target.py"].text == "x = 1\n'''About x.'''\n"


def test_imports_are_written_as_the_module_writes_its_own():
    text = "from p.z import a, b\n\n\ndef f():\n    return a, b, OLD\n\n\nOLD = 1\n"
    pkg = Module("p/source.py", "p.source", Document(text=text))
    there = Module("p/target.py", "p.target", Document(text="from .k import K\nfrom .z import Z\n\nx = K\n"))
    user = Module("p/user.py", "p.user", Document(text="from .a import b\nfrom .source import OLD, f\n\nf(OLD, b)\n"))
    found = moved("f", pkg, there, [user], {}, is_new=False, keeps=False)
    assert found.documents["p/target.py"].text.startswith("from .k import K\nfrom .source import OLD\nfrom .z import Z, a, b\n")
    assert found.documents["p/user.py"].text.startswith("from .a import b\nfrom .source import OLD\nfrom .target import f\n")


def test_imports_of_one_module_are_one_statement():
    text = "import typing as t\nfrom typing import Any, Callable, TYPE_CHECKING\n\n\ndef f(x: Any, y: Callable, z: t.Any): ...\n"
    assert (
        _moved("f", {"source.py": text})
        .documents["target.py"]
        .text.startswith("import typing as t\nfrom typing import Any, Callable\n\n\ndef f")
    )


def test_a_new_module_has_the_line_ends_of_the_old_one():
    assert _moved("f", {"source.py": "x = 1\r\ndef f():\r\n    pass\r\n"}).documents["target.py"].text == "def f():\r\n    pass\r\n"


@pytest.mark.parametrize("condition", ["__name__ == '__main__'", "TYPE_CHECKING"])
def test_what_a_module_imports_under_a_condition_is_imported_for_the_definition(condition: str):
    target = f"from typing import TYPE_CHECKING\n\nif {condition}:\n    from collections import OrderedDict\n"
    found = _moved("f", {"source.py": "from collections import OrderedDict\n\n\nf = OrderedDict()\n", "target.py": target})
    space: dict[str, Any] = {}
    exec(compile(found.documents["target.py"].text, "target.py", "exec"), space)
    assert space["f"] == {}


def test_what_is_not_called_as_a_module_can_be_is_no_target(tmp_path: Path):
    root = write_tree(tmp_path / "work", {"p/__init__.py": "", "p/a.py": "def f(): ...\n", "p/a-1.py": "x = 1\n"})
    with pytest.raises(UsageError, match=r"'p/a-1.py' is no module that others could import from"):
        _done(root, "p.a.f", "p/a-1.py")


_LEFT = """\"\"\"Doc.\"\"\"
import os, sys
import re  # kept
from typing import TYPE_CHECKING, Any, NamedTuple

from p.low import (
    a,
    b,
    c,
)

if TYPE_CHECKING:
    from p.low import Only


def f(x: 'Only') -> Any:
    return os, sys, re, a, c, NamedTuple


def g():
    return b
"""


def test_imports_that_only_the_definition_used_leave_with_it(tmp_path: Path):
    files = {
        "p/__init__.py": "",
        "p/low.py": "a = b = c = 1\n\n\nclass Only: ...\n",
        "p/a.py": _LEFT,
        "main.py": "import p.a\nfrom p.a import f, sys as s\n\nprint(len(f(1)), s.__name__, p.a.c, p.a.g())\n",
    }
    root = write_tree(tmp_path / "work", files)
    before = printed(root)
    _done(root, "p.a.f", "p/new.py")
    assert printed(root) == before
    assert (root / "p/a.py").read_text(encoding="utf-8") == (
        '"""Doc."""\nimport sys\nimport re  # kept\n\nfrom p.low import (\n    b,\n    c,\n)\n\n\ndef g():\n    return b\n'
    ), "what others take from it stays, and what a comment stands beside"


def test_an_import_that_a_star_or_a_string_may_want_stays(tmp_path: Path):
    files = {
        "p/__init__.py": "",
        "p/a.py": "import json\nimport os\n\n\ndef f():\n    return os.sep, json\n\n\ndef g(): ...\n",
        "main.py": "from p.a import *\n\nprint(os.sep, g())\n",
        "other.py": "from unittest import mock\n\nwith mock.patch('p.a.json.dumps'):\n    pass\n",
    }
    root = write_tree(tmp_path / "work", files)
    before = printed(root)
    _done(root, "p.a.f", "p/new.py", anyway=True)
    assert printed(root) == before
    assert (root / "p/a.py").read_text(encoding="utf-8").startswith("import json\nimport os\n")


def test_a_block_for_types_that_held_one_import_goes_with_it():
    target = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from source import f\n\n\ndef g(x: 'f'): ...\n"
    made = _moved("f", {"source.py": "class f: ...\n", "target.py": target}).documents["target.py"].text
    assert made == "from typing import TYPE_CHECKING\n\n\ndef g(x: 'f'): ...\n\n\nclass f: ...\n"


@pytest.mark.parametrize(
    ("annotation", "is_fine"),
    [("int", True), ("t.Optional[str]", True), ("C", True), ("int | None", False), ("list[int]", False), ("D", False), ("'D'", True)],
)
def test_annotations_that_are_evaluated_there_are_told_where_that_may_fail(annotation: str, *, is_fine: bool):
    text = f"""from __future__ import annotations
import typing as t
from typing import TYPE_CHECKING
from collections import Counter as C
if TYPE_CHECKING:
    from collections import deque as D


def f(x: {annotation}): ...
"""
    found = _moved("f", {"source.py": text, "target.py": "x = 1\n"})
    assert found.doubts == (
        [] if is_fine else ["'source.py' does not evaluate annotations (from __future__ import annotations), and 'target.py' does"]
    )
    if is_fine:
        exec(compile(found.documents["target.py"].text, "target.py", "exec", dont_inherit=True), {})


def test_an_import_that_loads_what_registers_stays(tmp_path: Path):
    files = {
        "p/__init__.py": "",
        "p/known.py": "KNOWN = []\n",
        "p/handlers.py": "from p.known import KNOWN\n\nKNOWN.append('handler')\n\n\ndef handler(): ...\n",
        "p/plain.py": "def plain(): ...\n",
        "p/a.py": "from p.handlers import handler\n\n\ndef f():\n    return handler\n\n\ndef g(): ...\n",
        "p/b.py": "from p.plain import plain\n\n\ndef f2():\n    return plain\n\n\ndef g2(): ...\n",
        "main.py": "import p.a\nfrom p.known import KNOWN\n\nprint(KNOWN)\n",
    }
    root = write_tree(tmp_path / "work", files)
    before = printed(root)
    _done(root, "p.a.f", "p/new.py")
    assert printed(root) == before
    _done(root, "p.b.f2", "p/newer.py")
    assert (root / "p/b.py").read_text(encoding="utf-8") == "def g2(): ...\n"


def test_what_a_choice_sets_goes_with_it():
    choice = "try:\n    import nowhere_at_all\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
    found = _moved("f", {"source.py": f"{choice}\n\ndef f():\n    return HAS\n"})
    assert (found.documents["target.py"].text, found.doubts) == (f"{choice}\n\ndef f():\n    return HAS\n", [])


@pytest.mark.parametrize(
    ("text", "target", "made"),
    [
        ("def f(): ...\n", "import os\nx = f()\n", "import os\n\n\ndef f(): ...\n\n\nx = f()\n"),
        ("f = 1\n", "import os\n\nx = f\n", "import os\n\nf = 1\nx = f\n"),
        ("f = 1\n", "import os\n\n\ndef g(x=f): ...\n", "import os\n\n\nf = 1\n\n\ndef g(x=f): ...\n"),
    ],
)
def test_a_definition_before_its_first_use_is_as_far_apart_as_others(text: str, target: str, made: str):
    assert _moved("f", {"source.py": text, "target.py": f"from source import f\n{target}"}).documents["target.py"].text == made
