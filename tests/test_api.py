"""The tools as Python functions: made when they are asked for, with the signatures that `query/api.pyi` has."""

from __future__ import annotations

import ast
import inspect
import json
import os
import pickle
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_type_hints

import msgspec
import pytest

import query
from query import api
from query.answers.envelope import Answer
from query.facts.index import Index
from query.surface.registry import names

pytest_plugins = ["query_fixtures"]

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
STUB = {
    item.name: item
    for item in ast.parse((ROOT / "query" / "api.pyi").read_text(encoding="utf-8")).body
    if isinstance(item, ast.FunctionDef)
}

CLIENT = """
from query import Answer, Index, api, open_index
from query.tools.find_callers import Edge


def callers(root: str) -> list[str]:
    with open_index(root) as index:
        answer = api.find_callers(index, "Flask.route", depth=2, direction="incoming")
        status: str = answer.completeness.status
        return [status, *(edge.symbol.qualified_name for edge in answer.result)]


def deep(index: Index) -> Answer[list[Edge]]:
    return api.find_callers(index, "Flask.route", depth=9, evidence=["syntax"])
"""


def _loaded_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    return set(done.stdout.split())


def test_importing_the_functions_loads_no_tool():
    found = _loaded_after("from query import api")
    assert {name for name in found if name.startswith(("query.", "indexer"))} == {"query.api"}
    assert found.isdisjoint({"msgspec", "_duckdb", "click"})


def test_a_function_loads_its_own_tool_only():
    found = _loaded_after("from query.api import find_callers")
    assert {name for name in found if name.startswith("query.tools.")} == {"query.tools.find_callers"}


def test_the_stub_names_the_functions_that_there_are():
    assert list(STUB) == dir(api) == names()
    everything: dict[str, object] = {}
    exec("from query.api import *", everything)
    assert set(STUB) <= everything.keys()


@pytest.mark.parametrize("name", names())
def test_a_function_is_called_and_documented_as_the_stub_says(name: str):
    function, stub = getattr(api, name), STUB[name]
    signature = inspect.signature(function)
    said = stub.args
    defaults = [None] * (len(said.args) - len(said.defaults)) + [ast.literal_eval(item) for item in said.defaults]
    by_position = list(zip((item.arg for item in said.args), defaults, strict=True))
    by_name = [(item.arg, ast.literal_eval(value)) for item, value in zip(said.kwonlyargs, said.kw_defaults, strict=True) if value]
    assert len(by_name) == len(said.kwonlyargs)
    found = [
        (item.name, None if item.default is item.empty else item.default, item.kind is item.KEYWORD_ONLY)
        for item in signature.parameters.values()
    ]
    assert found == [*((*item, False) for item in by_position), *((*item, True) for item in by_name)]
    assert function.__doc__ == ast.get_docstring(stub, clean=False)
    assert set(get_type_hints(function)) == {*signature.parameters, "return"}


def test_the_types_of_a_function_are_there_when_it_runs():
    assert get_type_hints(api.find_callers)["depth"] is int
    assert get_type_hints(api.find_callers)["index"] is Index
    assert get_type_hints(api.search_tools)["index"] == Index | None
    assert "find_callers(index: query.facts.index.Index" in _help("api.find_callers")
    assert "Callers and callees of a symbol" in _help("api")


def _help(what: str) -> str:
    code = f"from query import api; import pydoc; print(pydoc.plain(pydoc.render_doc({what})))"
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout


def test_what_is_no_tool_is_no_function():
    with pytest.raises(AttributeError, match=r"query\.api.*find_caller'"):
        _ = api.find_caller  # type: ignore[attr-defined]  # pyright: ignore
    with pytest.raises(AttributeError, match="nothing"):
        _ = query.nothing  # type: ignore[attr-defined]  # pyright: ignore


def test_a_call_that_does_not_fit_is_refused_as_python_refuses_it():
    with pytest.raises(TypeError, match=r"find_callers\(\) missing a required argument: 'index'"):
        api.find_callers()  # type: ignore[call-arg]  # pyright: ignore
    with pytest.raises(TypeError, match=r"find_callers\(\) got an unexpected keyword argument 'symbols'"):
        api.find_callers(None, symbols="x")  # type: ignore[call-arg]  # pyright: ignore
    with pytest.raises(TypeError, match=r"find_callers\(\) too many positional arguments"):
        api.find_callers(None, "x", "y")  # type: ignore[call-arg]  # pyright: ignore


def test_a_list_that_is_not_given_is_an_empty_one(shop: Index):
    given = api.find_callers(shop, "shop.service.run", evidence=None)
    assert msgspec.to_builtins(given) == msgspec.to_builtins(api.find_callers(shop, symbol="shop.service.run", evidence=[]))
    assert isinstance(given, Answer)
    assert isinstance(given, query.Answer)


def test_a_function_is_one_object_for_threads_and_pickles():
    vars(api).pop("why", None)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: api.why, range(64)))
    assert all(item is found[0] for item in found)
    assert pickle.loads(pickle.dumps(found[0])) is api.why


@pytest.mark.slow
def test_type_checkers_read_the_stub(tmp_path: Path):
    """The client passes; the same with a text for a number does not, so it was the stub that was read."""
    (tmp_path / "client.py").write_text(CLIENT, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(CLIENT.replace("depth=9", 'depth="9"'), encoding="utf-8")
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    mypy = ["mypy", "--strict", "--follow-imports=silent", f"--cache-dir={tmp_path / 'mypy'}", f"--python-executable={sys.executable}"]
    for checker in (["basedpyright", "--pythonpath", sys.executable], mypy):
        told = {}
        for file in ("client.py", "wrong.py"):
            done = subprocess.run(
                [str(BIN / checker[0]), *checker[1:], file],
                cwd=tmp_path,
                env={**os.environ, "MYPYPATH": str(ROOT)},
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            told[file] = done.returncode, done.stdout
        assert told["client.py"][0] == 0, told["client.py"][1]
        assert told["wrong.py"][0] != 0
        assert '"depth"' in told["wrong.py"][1]


def test_an_installed_package_has_every_file_that_is_no_module():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-data"]["*"]
    files = [file for package in ("indexer", "query") for file in (ROOT / package).rglob("*") if file.is_file()]
    beside_modules = [file for file in files if (file.parent / "__init__.py").is_file() and file.suffix not in (".py", ".pyc")]
    assert [file for file in beside_modules if not any(file.match(pattern) for pattern in declared)] == []
    assert ROOT / "query" / "api.pyi" in beside_modules
