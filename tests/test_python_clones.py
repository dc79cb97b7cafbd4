"""A Python repository as git gives it: what it is called, where imports start, what they resolve in, how its files are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from cache_support import contents, export
from support import crawl_with_ty, rows, write_tree

from indexer.crawl.run import Crawl
from indexer.encoding import REPLACED, as_text, as_utf8, encoding_of
from indexer.errors import EditRefused
from indexer.packages import own_packages as of_language
from indexer.python_manifests import read_manifests
from indexer.python_project import find_project, module_names, own_packages
from indexer.python_requirements import declared, pep440
from query.edits.text import decode


def _package(root: Path, files: dict[str, str], of: str) -> str:
    write_tree(root, files)
    return own_packages(read_manifests(root, list(files)), [of])[of][1]


def _roots(root: Path, files: dict[str, str] | list[str]) -> tuple[list[str], list[str], list[str]]:
    tree = files if isinstance(files, dict) else dict.fromkeys(files, "")
    write_tree(root, tree)
    found = find_project(root, list(tree), python="", source_roots=(), environment={}, own_prefix="/nowhere")
    first, last, fallback = (
        [path.relative_to(root).as_posix() if path.is_relative_to(root) else ".." for path in paths]
        for paths in (found.source_roots, found.last_roots, found.fallback_roots)
    )
    return first, last, fallback


def _defined(done: Crawl) -> dict[tuple[str, int, str], str | None]:
    """By path, line and name of an occurrence: the symbol that it means."""
    found = rows(done.generation, "SELECT path, line, name, symbol FROM occurrences")
    return {(path, line, name): symbol for path, line, name, symbol in found}


# ---- names


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": "[project]\nname = 'My_Pkg.core'\n"}, "my-pkg-core"),
        ({"pyproject.toml": "[tool.poetry]\nname = 'poet'\n"}, "poet"),
        ({"pyproject.toml": "[tool.flit.metadata]\nmodule = 'flat'\n"}, "flat"),
        ({"pyproject.toml": "[tool.black]\n", "setup.cfg": "[metadata]\nname = From-Cfg\n"}, "from-cfg"),
        ({"setup.py": "from setuptools import setup\nsetup(name='plain', version=open('x').read())\n"}, "plain"),
        ({"setup.py": "import setuptools\nNAME = 'constant'\nsetuptools.setup(name=NAME)\n"}, "constant"),
        ({"setup.py": "import os\nos.remove('pkg/a.py')\nNAME = str(1)\nsetup(name=NAME)\n"}, "workspace"),
        ({"setup.py": "NAME = 'a'\nNAME = 'b'\nsetup(name=NAME)\n"}, "workspace"),
        ({"setup.py": "about = {}\nsetup(name=about['__title__'])\n", "pkg/__version__.py": "__title__ = 'told'\n"}, "told"),
        ({"setup.py": "def setup(:\n"}, "workspace"),
        ({"pyproject.toml": "not toml ["}, "workspace"),
        ({"pyproject.toml": "project = 3\n"}, "workspace"),
        ({}, "workspace"),
    ],
)
def test_a_project_is_named_by_what_its_files_say_and_never_by_its_folder(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    """Each kind of project file, normalised as PEP 503 wants it; nothing is executed; without a name, one that is the same everywhere."""
    assert _package(tmp_path / "Some_Folder", {**files, "pkg/a.py": ""}, "pkg/a.py") == expected
    assert (tmp_path / "Some_Folder/pkg/a.py").is_file()


def test_a_file_belongs_to_the_nearest_project_above_it_that_has_a_name(tmp_path: Path) -> None:
    """A project file without a name, and a module that is called setup.py, name nothing."""
    files = {
        "pyproject.toml": "[project]\nname = 'outer'\n",
        "libs/inner/pyproject.toml": "[project]\nname = 'inner'\n",
        "libs/inner/sub/setup.cfg": "[flake8]\nmax-line-length = 9\n",
        "pkg/__init__.py": "",
        "pkg/setup.py": "def setup(name): ...\nsetup(name='module')\n",
    }
    paths = ["a.py", "libs/b.py", "libs/inner/c.py", "libs/inner/sub/d.py", "pkg/e.py"]
    write_tree(tmp_path, files)
    owners = own_packages(read_manifests(tmp_path, list(files)), paths)
    assert [owners[path] for path in paths] == [("pip", name, "") for name in ("outer", "outer", "inner", "inner", "outer")]


def test_no_language_names_its_symbols_after_the_folder(tmp_path: Path) -> None:
    """Of every language that has manifests, and of one that has none."""
    for language in ("typescript", "go", "rust", "java", "c"):
        assert of_language(tmp_path / "Some_Folder", language, ["a.x"])["a.x"][0].name == "workspace"


def test_two_clones_in_folders_of_other_names_export_the_same_bytes(tmp_path: Path) -> None:
    """With a setup.py that cannot be read and nothing else: symbols, packages, manifest."""
    files = {
        "setup.py": "setup(name=compute())\n",
        "pkg/__init__.py": "",
        "pkg/a.py": "import os\nimport missing\n\n\ndef f() -> str:\n    return os.getcwd()\n",
        "main.py": "from pkg.a import f\n\nf()\n",
        "run.sh": "f() { echo; }\nf\n",
    }
    made: list[dict[str, bytes]] = []
    for name in ("one", "Other_2"):
        root = write_tree(tmp_path / name, files)
        crawl_with_ty(root)
        made.append(contents(export(root, tmp_path / f"of-{name}")))
    assert made[0]
    assert made[0] == made[1]


# ---- source roots


def test_a_module_called_setup_makes_its_package_no_source_root(tmp_path: Path) -> None:
    """The shape of Home Assistant: names of modules and of what they define are those that imports use."""
    files = {
        "pyproject.toml": "[project]\nname = 'homeassistant'\nrequires-python = '>=3.13'\n",
        "homeassistant/__init__.py": "",
        "homeassistant/setup.py": "from .core import HomeAssistant\n\n\ndef setup(name: str): ...\n\n\nsetup(name='x')\n",
        "homeassistant/core.py": "class HomeAssistant: ...\n",
        "homeassistant/helpers/__init__.py": "",
        "homeassistant/helpers/queue.py": "import queue\n\nqueue.Queue\n",
        "homeassistant/components/sun/__init__.py": "from homeassistant.core import HomeAssistant\n\nHomeAssistant()\n",
        "homeassistant/components/sun/setup.cfg": "[metadata]\nname = no\n",
        "script/__init__.py": "",
        "script/hassfest/__init__.py": "",
        "script/hassfest/model.py": "class Integration: ...\n",
        "script/hassfest/__main__.py": "from script.hassfest.model import Integration\nfrom . import model\n\nIntegration()\nmodel\n",
        "tests/__init__.py": "",
        "tests/common.py": "def helper(): ...\n",
        "tests/test_core.py": "from homeassistant.core import HomeAssistant\nfrom tests.common import helper\n\nhelper(HomeAssistant)\n",
    }
    assert _roots(tmp_path / "core", files) == (["."], [], [])
    done = crawl_with_ty(tmp_path / "core")
    names = {name for (name,) in rows(done.generation, "SELECT qualified_name FROM symbols WHERE name IN ('HomeAssistant', 'Integration')")}
    assert names == {"homeassistant.core.HomeAssistant", "script.hassfest.model.Integration"}
    assert done.manifest["counts"]["unresolved_occurrences"] == 0


def test_a_script_in_a_root_that_is_a_package_finds_its_siblings_and_the_standard_library(tmp_path: Path) -> None:
    """They are tried last: a sibling called like a module of the standard library hides it from nobody."""
    root = write_tree(
        tmp_path / "pkg",
        {
            "__init__.py": "",
            "helper.py": "def help_me(): ...\n",
            "queue.py": "MINE = 1\n",
            "run.py": "import queue\nfrom helper import help_me\n\nhelp_me()\nqueue.Queue\n",
            "sub/__init__.py": "",
            "sub/a.py": "from pkg.helper import help_me\n\nhelp_me()\n",
            "scripts/b.py": "import c\n\nc.done()\n",
            "scripts/c.py": "def done(): ...\n",
        },
    )
    done = crawl_with_ty(root)
    meant = _defined(done)
    assert meant["run.py", 3, "help_me"] == meant["sub/a.py", 2, "help_me"] == meant["helper.py", 0, "help_me"]
    assert "stdlib" in str(meant["run.py", 4, "Queue"])
    assert meant["scripts/b.py", 2, "done"] == meant["scripts/c.py", 0, "done"]
    assert rows(done.generation, "SELECT module FROM documents WHERE path = 'helper.py'") == [("pkg.helper",)]


def test_a_root_with_a_module_called_like_one_of_the_standard_library_is_searched_after_it(tmp_path: Path) -> None:
    """`queue.py` beside the scripts of a repository; all else in there is found."""
    files = {
        "queue.py": "MINE = 1\n",
        "tool.py": "def work(): ...\n",
        "run.py": "import queue\nimport tool\n\ntool.work(queue.Queue)\n",
    }
    assert _roots(tmp_path / "scripts", files) == ([], ["."], [])
    meant = _defined(crawl_with_ty(tmp_path / "scripts"))
    assert "stdlib" in str(meant["run.py", 3, "Queue"])
    assert meant["run.py", 3, "work"] == meant["tool.py", 0, "work"]


def test_packages_of_a_monorepo_join_without_an_environment(tmp_path: Path) -> None:
    """By the folders that each build backend names, `src`, and flat layouts; what two projects both call `app` stays with each."""
    root = write_tree(
        tmp_path / "mono",
        {
            "pyproject.toml": "[tool.uv.workspace]\nmembers = ['packages/*']\n",
            "packages/a/pyproject.toml": "[project]\nname = 'a'\n",
            "packages/a/src/a/__init__.py": "def of_a(): ...\n",
            "packages/p/pyproject.toml": "[tool.poetry]\nname = 'p'\npackages = [{include = 'p', from = 'lib'}]\n",
            "packages/p/lib/p/__init__.py": "def of_p(): ...\n",
            "packages/s/setup.cfg": "[metadata]\nname = s\n[options]\npackage_dir =\n    = python\n",
            "packages/s/python/s/__init__.py": "def of_s(): ...\n",
            "packages/y/setup.py": "from setuptools import setup\nsetup(name='y', package_dir={'': 'code_y'})\n",
            "packages/y/code_y/y/__init__.py": "def of_y(): ...\n",
            "packages/h/pyproject.toml": "[project]\nname = 'h'\n[tool.hatch.build.targets.wheel]\npackages = ['source/h']\n",
            "packages/h/source/h/__init__.py": "def of_h(): ...\n",
            "packages/f/pyproject.toml": "[project]\nname = 'f'\n",
            "packages/f/f/__init__.py": "def of_f(): ...\n",
            "use.py": "".join(f"from {n} import of_{n}\n" for n in "apsyhf") + "\n" + "".join(f"of_{n}()\n" for n in "apsyhf"),
            "services/one/pyproject.toml": "[project]\nname = 'one'\n",
            "services/one/app/__init__.py": "def run(): ...\n",
            "services/one/main.py": "from app import run\n\nrun()\n",
            "services/two/pyproject.toml": "[project]\nname = 'two'\n",
            "services/two/app/__init__.py": "def run(): ...\n",
            "services/two/main.py": "from app import run\n\nrun()\n",
        },
    )
    done = crawl_with_ty(root)
    meant = _defined(done)
    assert [meant["use.py", 7 + place, f"of_{name}"] for place, name in enumerate("apsyhf")] == [
        f"python pip {name} . {name}/of_{name}()." for name in "apsyhf"
    ]
    assert rows(done.generation, "SELECT path FROM occurrences WHERE symbol IS NULL AND path NOT LIKE '%setup.py'") == []
    for service in ("one", "two"):
        assert meant[f"services/{service}/main.py", 2, "run"] == meant[f"services/{service}/app/__init__.py", 0, "run"]


def test_projects_that_tests_are_made_with_are_no_source_roots(tmp_path: Path) -> None:
    """Else `demo` of a fixture would be what everybody imports."""
    files = ["pyproject.toml", "src/real/__init__.py", "tests/fixtures/demo/pyproject.toml", "tests/fixtures/demo/demo/__init__.py"]
    assert _roots(tmp_path, files) == (["src", ".", "tests"], [], [])


def test_a_build_that_names_folders_outside_of_its_project_is_not_followed(tmp_path: Path) -> None:
    """`..` and absolute paths."""
    text = "[tool.setuptools.package-dir]\n'' = '../../etc'\n[tool.maturin]\npython-source = '/etc'\n"
    write_tree(tmp_path, {"pyproject.toml": text, "a.py": ""})
    assert read_manifests(tmp_path, ["pyproject.toml", "a.py"])[0].import_roots == ()


# ---- environments


def test_what_is_installed_on_this_machine_is_not_the_projects(tmp_path: Path) -> None:
    """Not lspidx's own packages, not those of the Python that it runs on or that PATH leads to: the index says so."""
    root = write_tree(tmp_path / "w", {"a.py": "import os\n\nimport click\nimport msgspec\n\nclick.echo(os.sep, msgspec)\n"})
    done = crawl_with_ty(root)
    meant = _defined(done)
    assert [meant["a.py", line, name] for line, name in ((2, "click"), (3, "msgspec"), (5, "echo"))] == [None] * 3
    assert "stdlib" in str(meant["a.py", 5, "sep"])
    assert done.manifest["environment"] == "none found: only the standard library is known"


def test_the_python_that_a_project_is_taken_to_be_for_is_not_that_of_the_machine(tmp_path: Path) -> None:
    """requires-python of any project file, else one and the same."""

    def version(files: dict[str, str]) -> str:
        root = write_tree(tmp_path / str(len(list(tmp_path.iterdir()))), files)
        return find_project(root, list(files), python="", source_roots=(), environment={}, own_prefix="/nowhere").version

    assert version({"a.py": ""}) == "3.13"
    assert version({"pyproject.toml": "[project]\nrequires-python = '>=3.9,<4'\n"}) == "3.9"
    assert version({"setup.cfg": "[options]\npython_requires = ~=3.8\n"}) == "3.8"
    assert version({"setup.py": "setup(python_requires='>3.10')\n"}) == "3.11"
    assert version({"setup.py": "setup(python_requires='>=2.7, !=3.0.*')\n"}) == "3.13"


def test_an_activated_environment_that_has_nothing_of_what_a_project_declares_is_not_its_own(tmp_path: Path) -> None:
    """It was activated for something else; conda's base belongs to no project."""
    environment = write_tree(tmp_path / "active", {"lib/python3.12/site-packages/other-1.0.dist-info/METADATA": ""})
    files = {"pyproject.toml": "[project]\nname = 'x'\ndependencies = ['click>=8']\n"}
    root = write_tree(tmp_path / "w", files)

    def found(variable: str) -> Path | None:
        active = {variable: str(environment)}
        return find_project(root, list(files), python="", source_roots=(), environment=active, own_prefix="/nowhere").prefix

    assert found("VIRTUAL_ENV") is None
    write_tree(environment, {"lib/python3.12/site-packages/Click-8.1.dist-info/METADATA": ""})
    assert found("VIRTUAL_ENV") == found("CONDA_PREFIX") == environment
    (environment / "condabin").mkdir()
    assert found("CONDA_PREFIX") is None


def test_roots_behind_the_standard_library_leave_the_projects_environment_in_force(tmp_path: Path) -> None:
    """Then there is an environment of ours that leads into the project's, editable installs included."""
    site = ".venv/lib/python3.12/site-packages"
    root = write_tree(
        tmp_path / "w",
        {
            ".gitignore": ".venv\n",
            ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.1\n",
            f"{site}/dep/__init__.py": "def of_dep(): ...\n",
            f"{site}/dep-1.0.dist-info/RECORD": "dep/__init__.py,,\n",
            f"{site}/linked.pth": f"{tmp_path / 'linked'}\n",
            "queue.py": "",
            "a.py": "import dep\nimport queue\nimport linked_one\n\ndep.of_dep(queue.Queue, linked_one.x)\n",
        },
    )
    write_tree(tmp_path / "linked", {"linked_one.py": "x = 1\n"})
    meant = _defined(crawl_with_ty(root, exclude=(".venv",)))
    assert meant["a.py", 4, "of_dep"] == "python pip dep 1.0 dep/of_dep()."
    assert "stdlib" in str(meant["a.py", 4, "Queue"])
    assert meant["a.py", 4, "x"] is None, "what the environment points to outside is read with the user's word"
    allowed = _defined(crawl_with_ty(root, exclude=(".venv",), allowed=(str(tmp_path / "linked"),)))
    assert allowed["a.py", 4, "x"]


# ---- requirements


def test_what_a_project_needs_is_read_from_every_kind_of_file(tmp_path: Path) -> None:
    """As PEP 508 writes it, those to run with first; not what is a URL, an option, a project of the workspace, or Python itself."""
    files = {
        "pyproject.toml": (
            "[project]\nname = 'w'\ndependencies = ['a>=1', 'w[x]']\n[project.optional-dependencies]\nx = ['b']\n"
            "[dependency-groups]\ntest = ['c', {include-group = 'x'}]\n"
            "[tool.poetry.dependencies]\npython = '^3.9'\nd = '^1.2'\ne = {git = 'x'}\nf = {version = '~2', extras = ['y']}\n"
            "[tool.poetry.group.dev.dependencies]\ng = '*'\n"
        ),
        "requirements.txt": "h==1 --hash=sha256:00\n-r other.txt\nhttps://x/y.whl\nbad @ https://x/z.whl\n# i\nj  # why\n",
        "requirements/test.txt": "k<2; python_version < '4'\n",
        "docs/requirements.txt": "l\n",
        "tox.ini": "[testenv]\ndeps =\n    m\n    py39: n>1\n    -rrequirements.txt\n    {[base]deps}\ncommands = o\n",
        "setup.py": "setup(install_requires=['p'], extras_require={'t': ['q']})\n",
        "tests/fixtures/z/pyproject.toml": "[project]\nname = 'z'\ndependencies = ['never']\n",
    }
    write_tree(tmp_path, files)
    found = declared(tmp_path, list(files), read_manifests(tmp_path, list(files)))
    assert [need.text for need in found if need.kind == "run"] == ["a>=1", "d<2,>=1.2", "f[y]<3,>=2", "h==1", "j", "p"]
    assert [need.text for need in found if need.kind != "run"] == [
        "b",
        "c",
        "g",
        'k<2; python_version < "4"',
        "l",
        "m",
        "q",
        "setuptools",
        "n>1",
    ]
    assert [need.name for need in found if need.kind == "matrix"] == ["n"]


def test_what_runs_tests_is_needed_where_no_manifest_says_so(tmp_path: Path) -> None:
    """hatch's own tests: `hatch test` brings pytest, and environments stand in hatch.toml; tqdm's tox.ini is a text of pyproject.toml."""
    files = {
        "pyproject.toml": '[project]\nname = \'w\'\n[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ndeps =\n    m\n"""\n',
        "hatch.toml": "[envs.test]\nextra-dependencies = ['trustme']\n[envs.docs]\ndependencies = ['mkdocs~=1.6']\n",
        "tests/conftest.py": "import os\n\nimport pytest\n",
    }
    write_tree(tmp_path, files)
    found = declared(tmp_path, list(files), read_manifests(tmp_path, list(files)))
    assert [need.text for need in found] == ["m", "mkdocs~=1.6", "pytest", "trustme"]
    write_tree(tmp_path, {"hatch.toml": "[envs.hatch-test]\nextra-dependencies = ['trustme']\n"})
    found = declared(tmp_path, list(files), read_manifests(tmp_path, list(files)))
    assert [need.text for need in found] == ["m", "pytest", "pytest-mock", "pytest-xdist", "trustme"], "as `hatch test` has it"
    write_tree(tmp_path, {"hatch.toml": "[envs.hatch-test]\ndependencies = ['x']\n"})
    found = declared(tmp_path, list(files), read_manifests(tmp_path, list(files)))
    assert [need.text for need in found] == ["m", "pytest", "x"]
    write_tree(tmp_path, {"requirements.txt": "pytest>=8\n", "hatch.toml": "not toml"})
    listed = [*files, "requirements.txt"]
    found = declared(tmp_path, listed, read_manifests(tmp_path, listed))
    assert [need.text for need in found] == ["pytest>=8", "m"], "as it is declared"
    write_tree(tmp_path, {"tests/conftest.py": "# import pytest\n"})
    assert "pytest" not in {need.text for need in declared(tmp_path, list(files), read_manifests(tmp_path, list(files)))}


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ("^1.2", ">=1.2,<2"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        ("1.*", "==1.*"),
        ("*", ""),
        (">=1,<3", ">=1,<3"),
        ("1.2.3", "==1.2.3"),
        ("^1 || ^2", ">=2,<3"),
        ("~=1.4", "~=1.4"),
        ("dev-master", ""),
    ],
)
def test_constraints_of_poetry_become_those_of_pep_440(constraint: str, expected: str) -> None:
    """Carets, tildes, wildcards, alternatives."""
    assert pep440(constraint) == expected


# ---- encodings

JAPANESE = "# -*- coding: euc-jp -*-\ndef 名前(): ...\n\n\ns = '日本語'; 名前()\n\n\ndef plain(): ...\n"
WESTERN = "#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\n'''Größe'''\ndef größe(): ...\n\n\ns = 'ü'; größe()\n"


def test_a_file_is_read_by_its_coding_line_and_its_names_join(tmp_path: Path) -> None:
    """By the real server, which reads UTF-8 only: names, columns, and imports from other files."""
    root = write_tree(
        tmp_path,
        {
            "jp.py": JAPANESE.encode("euc-jp"),
            "west.py": WESTERN.encode("latin-1"),
            "bad.py": b"# one bad byte: \xff\ns = '\xff\xff'; t = 1\ndef works(): return t\n",
            "use.py": "from jp import plain\nfrom west import größe\nfrom bad import works\n\nplain(größe, works)\n",
        },
    )
    done = crawl_with_ty(root)
    meant = _defined(done)
    assert meant["use.py", 4, "plain"] == meant["jp.py", 7, "plain"]
    assert meant["use.py", 4, "größe"] == meant["west.py", 3, "größe"] == meant["west.py", 6, "größe"]
    assert meant["use.py", 4, "works"] == meant["bad.py", 2, "works"]
    assert meant["bad.py", 2, "t"] == meant["bad.py", 1, "t"]
    assert None not in meant.values()
    assert rows(done.generation, "SELECT col FROM occurrences WHERE path = 'jp.py' AND line = 4 AND name = '名前'") == [(11,)]
    assert done.manifest["encodings"] == {"euc_jp": 1, "iso8859-1": 1, REPLACED: 1}
    assert done.manifest["skipped"] == {}


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        (b"x = 1\n", "", "x = 1\n"),
        ("é".encode(), "", "é"),
        (b"# coding: latin-1\n\xe9", "iso8859-1", "# coding: latin-1\né"),
        (b"\n# coding: cp1252\n\x80", "cp1252", "\n# coding: cp1252\n€"),
        (b"x = 1\n# coding: cp1252\n\x80", REPLACED, "x = 1\n# coding: cp1252\n\ufffd"),
        ("# coding: koi8-r\nж".encode("koi8-r"), "koi8-r", "# coding: koi8-r\nж"),
        (b"# coding: utf-8-sig\nx", "", "# coding: utf-8-sig\nx"),
        (b"# coding: rot13\nx\xe9", REPLACED, "# coding: rot13\nx\ufffd"),
        (b"# coding: unicode_escape\n\\ud800\xe9", REPLACED, "# coding: unicode_escape\n\\ud800\ufffd"),
        (b"# coding: nonsense\nabcdefgh\xe3\x81", REPLACED, "# coding: nonsense\nabcdefgh\ufffd\ufffd"),
        (b"\xef\xbb\xbf# coding: latin-1\n\xc3\xa9", "", "\ufeff# coding: latin-1\né"),
    ],
)
def test_bytes_are_read_as_what_the_file_says(content: bytes, encoding: str, text: str) -> None:
    """One U+FFFD for each byte that is no text, so that columns stay; a codec that is none of text is not followed."""
    assert encoding_of(content) == encoding
    assert as_text(content) == text
    assert as_utf8(content) == text.encode()


def test_an_edit_keeps_the_encoding_that_a_file_names_or_is_refused() -> None:
    """The bytes of what is not edited are the same; a character that the encoding lacks is not written as another."""
    document = decode(WESTERN.encode("latin-1"))
    assert (document.text, document.content) == (WESTERN, WESTERN.encode("latin-1"))
    edited = type(document)(text=WESTERN + "# ß\n", encoding=document.encoding, mark=document.mark)
    assert edited.content == (WESTERN + "# ß\n").encode("latin-1")
    with pytest.raises(EditRefused, match="iso8859-1"):
        _ = type(document)(text=WESTERN + "日", encoding=document.encoding, mark=document.mark).content


def test_module_names_of_clashing_projects_stay_unique(tmp_path: Path) -> None:
    """They are named by their whole paths, as no source root leads to them."""
    files = [f"services/{name}/{file}" for name in ("one", "two") for file in ("pyproject.toml", "app/__init__.py", "main.py")]
    write_tree(tmp_path, dict.fromkeys(files, ""))
    project = find_project(tmp_path, files, python="", source_roots=(), environment={}, own_prefix="/nowhere")
    names = module_names(tmp_path, project.all_roots, [path for path in files if path.endswith(".py")])
    assert sorted(names.values()) == ["services.one.app", "services.one.main", "services.two.app", "services.two.main"]


def test_what_is_known_does_not_depend_on_what_was_asked_before_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ty unpacks its typeshed as it is asked about it, and we look there: packages are asked for in every run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    done = crawl_with_ty(write_tree(tmp_path / "w", {"a.py": "import urllib.parse\nimport xml.etree.ElementTree as e\n"}))
    assert rows(done.generation, "SELECT name FROM occurrences WHERE symbol IS NULL") == []


def test_an_import_that_is_used_is_counted_as_unresolved_too(tmp_path: Path) -> None:
    """A server that is asked at the use points to the import itself, which is no answer."""
    done = crawl_with_ty(write_tree(tmp_path, {"a.py": "import missing\nfrom gone import x\n\nmissing.y\nx()\n"}))
    assert rows(done.generation, "SELECT line, module FROM unresolved_imports ORDER BY 1, 2") == [
        (0, "missing"),
        (1, "gone"),
        (1, "gone:x"),
    ]
