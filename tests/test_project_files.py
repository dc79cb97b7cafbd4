"""What project files say of imports, and words of files that no server reads, count from the moment at which they change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from indexer.project_files import decided_anew, digest_of, digests, languages_of
from query.facts.freshness import drift
from query.facts.index import open_index
from query.surface.registry import call
from tests.support import crawl_with_ty, write_tree

_PROJECT = "[project]\nname = 'x'\nversion = '1'\nrequires-python = '>=3.9'\n"
FILES = {
    "pyproject.toml": _PROJECT,
    "setup.cfg": "[metadata]\nlicense = MIT\n",
    "pk/__init__.py": "",
    "pk/kinds.py": "class Old:\n    def run(self):\n        return 1\n\n\nclass New:\n    def run(self):\n        return 2\n",
    "pk/chosen.py": "import sys\nfrom pk.kinds import New, Old\n\nif sys.version_info >= (3, 12):\n    Kind = New\nelse:\n    Kind = Old\n",
    "pk/use.py": "from pk.chosen import Kind\n\n\ndef go():\n    return Kind().run()\n\n\ndef _dead():\n    return 1\n",
    "tests/test_use.py": "import pk.use\n\n\ndef test_go():\n    assert pk.use.go()\n",
    "conf.yaml": "1: 2\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("project") / "made", FILES)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "made", copy_function=shutil.copy2, symlinks=True))


def _stale(root: Path, tool: str, **asked: object) -> list[str]:
    """The files because of which an answer is old; a complete one has none."""
    with open_index(root) as index:
        completeness = call(index, tool, asked).completeness
    return sorted(path for reason in completeness.reasons if reason.code == "stale" for path in reason.paths)


def _dead(root: Path) -> dict[str, list[str]]:
    with open_index(root) as index:
        found = call(index, "unreferenced", {"include_exported": False}).result
    return {row.symbol.name: row.reasons for row in found}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", _PROJECT.replace("3.9", "3.13")),
        ("ty.toml", "[environment]\nroot = ['.', 'pk']\n"),
        ("setup.cfg", "[options]\npackage_dir =\n    = pk\n"),
        ("pk/pytest.ini", "[pytest]\npythonpath = .\n"),
    ],
)
def test_what_a_project_file_says_anew_of_imports_makes_answers_old(path: str, text: str, root: Path) -> None:
    write_tree(root, {path: text})
    assert path in _stale(root, "callers", symbol="pk.kinds.New.run")
    assert path in _stale(root, "references", symbol="pk.kinds.Old.run")
    assert path in _stale(root, "tests_for", file_path="pk/kinds.py")
    assert path in _stale(root, "tests_for", file_path="pk/__init__.py")
    assert path in _stale(root, "unreferenced")
    assert _dead(root)["_dead"] == ["partial_coverage"]


def test_a_project_file_that_goes_makes_answers_old(root: Path) -> None:
    (root / "setup.cfg").unlink()
    assert _stale(root, "callers", symbol="pk.kinds.New.run") == ["setup.cfg"]


def test_another_version_of_the_project_makes_no_answer_old(root: Path) -> None:
    write_tree(root, {"pyproject.toml": _PROJECT.replace("'1'", "'2'") + "[tool.ruff]\nline-length = 100\n", "package.json": "{}"})
    assert _stale(root, "callers", symbol="pk.kinds.New.run") == []
    assert _dead(root)["_dead"] == ["no_uses"]
    with open_index(root) as index:
        found = drift(index)
    assert (found.changed, found.decided_anew(["python"]), list(found.project_files)) == (["pyproject.toml"], [], ["package.json"])


@pytest.mark.parametrize("path", ["conf.yaml", "pk/page.html", "new/page.html"])
def test_a_word_that_a_file_gets_counts_though_it_had_none_or_was_not_there(path: str, root: Path) -> None:
    """A file without such words was not known at all."""
    assert _dead(root)["_dead"] == ["no_uses"]
    write_tree(root, {path: "x: pk.use._dead\n" if path == "conf.yaml" else "{{ _dead() }}\n\t_dead(1)\n"})
    assert _dead(root)["_dead"] == ["not_read"]


def test_a_manifest_that_names_a_symbol_by_now_leaves_it_no_longer_certain(root: Path) -> None:
    write_tree(root, {"pyproject.toml": _PROJECT + "[project.scripts]\nx = 'pk.use:_dead'\n"})
    assert _dead(root)["_dead"] == ["partial_coverage"]


def test_what_counts_in_a_project_file_is_what_leads_imports_somewhere() -> None:
    def same(path: str, one: str, other: str) -> bool:
        return digest_of(path, one.encode()) == digest_of(path, other.encode())

    assert same("a/package.json", '{"name": "a", "scripts": {"x": "y"}}', '{"scripts": {}, "name": "a"}')
    assert not same("a/package.json", '{"exports": "./a.js"}', '{"exports": "./b.js"}')
    assert not same("a/package.json", '{"exports": ', '{"exports": "')
    assert same("setup.py", "setup(version='1', packages=['a'])", "setup(version='1', packages=['a'])\n\nprint()")
    assert not same("setup.py", "setup(package_dir={'': 'a'})", "setup(package_dir={'': 'b'})")
    assert not same("tsconfig.json", '{"compilerOptions": {}}', '{"compilerOptions": {"paths": {}}}')
    assert languages_of("a/tsconfig.base.json") == languages_of("package.json") >= {"typescript", "javascript"}
    assert languages_of("go.work") == {"go"}
    assert languages_of("a.json") == frozenset()


def test_files_that_a_project_file_extends_are_project_files(tmp_path: Path) -> None:
    files = {
        "tsconfig.json": '{"extends": "./config/strict"}',
        "config/strict.json": '{"extends": ["../shared.json", "../shared.json"]}',
        "shared.json": '{"extends": "./tsconfig.json"}',
        "data.json": "{}",
        "go.mod": "module x\n",
    }
    known = digests(write_tree(tmp_path, files), list(files), {"typescript"})
    assert sorted(known) == ["config/strict.json", "shared.json", "tsconfig.json"]
    write_tree(tmp_path, {"shared.json": "{}", "data.json": "[]"})
    assert {path: "typescript" in languages for path, languages in decided_anew(tmp_path, known, files).items()} == {
        "shared.json": True,
        "go.mod": False,
    }
