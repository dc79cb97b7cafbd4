"""Folders that tests add to where imports start: what pytest's settings and a `conftest.py` say, as far as the text tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Watcher, crawl_with_ty, write_tree

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.crawl.worker.places import Places
from indexer.lsp.uri import path_to_uri
from indexer.python_manifests import read_manifests
from indexer.python_paths import added_folders
from indexer.python_roots import find_source_roots
from query.facts.index import open_index


def _added(root: Path, files: dict[str, str]) -> list[str]:
    write_tree(root, files)
    return added_folders(root, list(files), read_manifests(root, list(files)))


@pytest.mark.parametrize(
    ("expression", "folder"),
    [
        ("os.path.join(os.path.dirname(__file__), 'apps')", "tests/apps"),
        ("join(dirname(abspath(__file__)), 'apps', 'more')", "tests/apps/more"),
        ("os.path.join(os.path.dirname(__file__), os.pardir, 'lib')", "lib"),
        ("str(Path(__file__).resolve().parent / 'apps')", "tests/apps"),
        ("os.fspath(Path(__file__).parents[1].joinpath('lib'))", "lib"),
        ("HERE", "tests"),
        ("HERE + '/apps'", "tests/apps"),
        ("f'{HERE}/apps/more'", "tests/apps/more"),
        ("str(Path(HERE, 'apps'))", "tests/apps"),
        ("HERE + 'apps'", None),
        ("f'{HERE}/{name}'", None),
        ("str(HERE_TOO / 'apps')", "tests/apps"),
        ("os.path.join(os.path.dirname(__file__), '..', '..', 'outside')", None),
        ("os.path.join(os.path.dirname(__file__), '/absolute')", None),
        ("os.getcwd()", None),
        ("'apps'", None),
        ("TWICE", None),
        ("CIRCLE", None),
        ("tmp_path / 'apps'", None),
        ("Path(__file__).parents[-1]", None),
    ],
)
@pytest.mark.parametrize(
    "call", ["sys.path.insert(0, {})", "sys.path.append({})", "def prepare(monkeypatch): monkeypatch.syspath_prepend({})"]
)
def test_a_folder_is_added_as_far_as_the_text_tells(tmp_path: Path, call: str, expression: str, folder: str | None) -> None:
    text = f"""\
import os, sys
from pathlib import Path
HERE = os.path.dirname(os.path.abspath(__file__))
HERE_TOO = Path(__file__).parent
TWICE = HERE
TWICE = HERE_TOO
CIRCLE = CIRCLE
{call.format(expression)}
"""
    assert _added(tmp_path, {"tests/conftest.py": text}) == ([] if folder is None else [folder])


def test_what_is_no_search_path_adds_nothing(tmp_path: Path) -> None:
    text = "names.append(HERE)\nos.path.join(__file__, 'x')\nsys.path.remove(__file__)\npath.insert(0, __file__)\n"
    assert _added(tmp_path, {"conftest.py": text, "a/conftest.py": "sys.path.append(__file__", "b/conftest.py": "\0path"}) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['lib', '../../outside', './more']\n"),
        ("pytest.ini", "[pytest]\npythonpath = lib ../../outside\n    more\n"),
        ("tox.ini", "[tox]\nenvlist = x\n[pytest]\npythonpath = lib more\n"),
        ("setup.cfg", "[tool:pytest]\npythonpath = lib more\n"),
    ],
)
def test_settings_of_pytest_are_relative_to_their_file(tmp_path: Path, name: str, text: str) -> None:
    assert _added(tmp_path, {f"project/{name}": text}) == ["project/lib", "project/more"]


def test_a_folder_that_would_mislead_somebody_is_left_off(tmp_path: Path) -> None:
    """It comes behind all others; one with a module of a name that is elsewhere, or that is a package itself, is none."""
    conftest = "import sys\n" + "".join(
        f"sys.path.append(os.path.join(os.path.dirname(__file__), {name!r}))\n" for name in ("apps", "double", "package", "gone")
    )
    files = {
        "shop.py": "", "tests/conftest.py": conftest, "tests/apps/blue.py": "", "tests/double/shop.py": "",
        "tests/package/__init__.py": "", "tests/package/red.py": "",
    }  # fmt: skip
    write_tree(tmp_path, files)
    found = find_source_roots(tmp_path, files, [])
    assert found.fallback == (tmp_path / "tests/apps",)
    assert tmp_path / "tests/apps" not in found.first


def test_an_import_from_an_added_folder_is_resolved(tmp_path: Path) -> None:
    conftest = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'apps'))\n"
    files = {
        "tests/conftest.py": conftest,
        "tests/apps/blue/__init__.py": "from blue.inner import sky\n",
        "tests/apps/blue/inner.py": "def sky(): ...\n",
        "tests/test_blue.py": "from blue import sky\n\n\ndef test_sky():\n    sky()\n",
    }
    crawl_with_ty(write_tree(tmp_path / "tree", files), jobs=1)
    with open_index(tmp_path / "tree") as index:
        calls = index.rows("SELECT caller, callee FROM calls WHERE path = 'tests/test_blue.py'")
        assert index.rows("SELECT count(*) FROM unresolved_imports") == [(0,)]
    assert calls == [("python . workspace . test_blue/test_sky().", "python . workspace . blue/inner/sky().")]


def test_a_package_of_the_library_is_one_before_a_server_has_unpacked_it(tmp_path: Path):
    """A workspace that has a package of its name hid it from whoever asked for all of them: one row depended on what came before."""
    tree = {"http/__init__.py": "", "http/answers.py": "from http.client import responses\n\nprint(responses)\n"}
    root = write_tree(tmp_path / "work", tree)
    home = tmp_path / "home"
    home.mkdir()
    crawl(root, Config(jobs=1), Watcher(), environment={"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")})
    with open_index(root) as index:
        named = index.rows("SELECT symbol FROM occurrences WHERE path = 'http/answers.py' AND name = 'http'")
    assert named == [("python python stdlib . http/",)]
    places = Places(str(root), [str(root)])
    shed = f"/any/vendored/typeshed/{'a' * 40}/stdlib"
    assert places.package_of(path_to_uri(f"{shed}/http/client.pyi"), 1) == path_to_uri(f"{shed}/http/__init__.pyi")
    assert places.package_of(path_to_uri(f"{shed}/nothing/client.pyi"), 1) == ""
