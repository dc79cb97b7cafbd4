"""Fixtures that fill parameters of tests by their names, where no server knows of pytest: it is not installed, as in a fresh clone."""

from __future__ import annotations

import pytest
from support import crawl_with_ty, rows, write_tree

FILES: dict[str, str | bytes] = {
    "pyproject.toml": "[project]\nname = 'pkg'\nversion = '1'\n",
    "store.py": "class Store:\n" + "".join(f"    def m{number}(self): ...\n" for number in range(9)),
    "tests/__init__.py": "",
    "tests/below/__init__.py": "",
    "tests/plugin.py": "import pytest\nfrom store import Store\n\n\n@pytest.fixture\ndef plugged():\n    return Store()\n",
    "tests/shared.py": """
import pytest
from store import Store


@pytest.fixture
def imported():
    return Store()


@pytest.fixture
def starred():
    return Store()
""",
    "tests/conftest.py": """
import pytest
from store import Store
from tests.shared import imported

pytest_plugins = ["tests.plugin"]


@pytest.fixture(name="named")
def fixture_that_is_named():
    return Store()


@pytest.fixture
def near():
    return Store()


@pytest.fixture
def layered():
    return Store()
""",
    "tests/below/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef near():\n    return 1\n",
    "tests/beside/conftest.py": "import pytest\nfrom store import Store\n\n\n@pytest.fixture\ndef elsewhere():\n    return Store()\n",
    "tests/below/test_it.py": """
import pytest
from tests.shared import *


@pytest.fixture
def layered(layered):
    yield layered


class Base:
    @pytest.fixture
    def inner(self):
        return self


class TestIt(Base):
    def test_all(self, layered, named, inner, plugged, imported, starred, near, elsewhere, tmp_path):
        layered.m0()
        named.m1()
        plugged.m2()
        imported.m3()
        starred.m4()
        near.m5()
        elsewhere.m6()
        tmp_path.m7()
""",
}

FILES["tests/below/test_values.py"] = """
import pytest
from store import Store


class Given:
    def m7(self): ...


def one(): ...


@pytest.mark.parametrize("near", [one])
def test_by_value(near):
    near()


@pytest.mark.parametrize(("layered", "other"), [(one, 1)])
def test_by_values(layered, other, near):
    layered()
    near


@pytest.mark.parametrize("layered", [1], indirect=True)
def test_by_fixture(layered):
    layered.m8()


@pytest.mark.parametrize(argnames="layered, near", argvalues=[(1, one)], indirect=["layered"])
def test_by_both(layered, near):
    layered.m8()
    near()


@pytest.mark.parametrize("layered", [Given()])
class TestAll:
    def test_of_class(self, layered):
        layered.m7()


@pytest.fixture(params=[Given()])
def chosen(request):
    return request.param


def test_by_params(chosen):
    chosen.m7()
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str]]:
    """Names of callers, in the tests that ask, and of what they call, by whatever evidence."""
    done = crawl_with_ty(write_tree(tmp_path_factory.mktemp("fixtures") / "clone", FILES), jobs=1)
    sql = """
        SELECT a.name, regexp_extract(s.path, '[^/]+$') || ':' || s.name FROM calls c
        JOIN symbols a ON a.symbol = c.caller JOIN symbols s ON s.symbol = c.callee
        WHERE starts_with(c.path, 'tests/below/test_') AND NOT s.is_external
    """
    return set(rows(done.generation, sql))


def test_a_parameter_runs_the_fixture_that_pytest_finds(calls: set[tuple[str, str]]) -> None:
    """In the class and those above it, in the module and what it imports, in the nearest conftest.py, by another name, by a plugin."""
    fixtures = {called for caller, called in calls if caller == "test_all" and not called.startswith("store.py:")}
    assert fixtures == {
        "test_it.py:layered",
        "test_it.py:inner",
        "conftest.py:fixture_that_is_named",
        "conftest.py:near",
        "plugin.py:plugged",
        "shared.py:imported",
        "shared.py:starred",
    }


def test_what_a_fixture_gives_is_what_the_test_works_with(calls: set[tuple[str, str]]) -> None:
    """Not of the fixture that a nearer one hides, nor of a folder beside, nor of the library's own."""
    used = {called for caller, called in calls if called.startswith("store.py:") and caller == "test_all"}
    assert used == {f"store.py:m{number}" for number in range(5)}


def test_a_fixture_that_has_the_name_of_what_it_asks_for_gets_that_of_further_out(calls: set[tuple[str, str]]) -> None:
    assert ("layered", "conftest.py:layered") in calls
    assert ("layered", "test_it.py:layered") not in calls


def test_a_parameter_that_values_fill_runs_no_fixture_of_its_name(calls: set[tuple[str, str]]) -> None:
    """Unless they are given to that fixture."""
    found = {caller: {called for by, called in calls if by == caller} for caller in ("test_by_value", "test_by_values", "test_by_fixture")}
    assert found == {
        "test_by_value": {"test_values.py:one"},
        "test_by_values": {"test_values.py:one", "conftest.py:near"},
        "test_by_fixture": {"conftest.py:layered", "store.py:m8"},
    }
    assert {called for caller, called in calls if caller == "test_by_both"} == {"conftest.py:layered", "store.py:m8"}


def test_values_of_a_class_of_tests_and_of_a_fixture_are_what_tests_work_with(calls: set[tuple[str, str]]) -> None:
    assert {called for caller, called in calls if caller == "test_of_class"} == {"test_values.py:m7"}
    assert {called for caller, called in calls if caller == "test_by_params"} == {"test_values.py:chosen", "test_values.py:m7"}
