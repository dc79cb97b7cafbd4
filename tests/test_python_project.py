"""A Python project as imports see it, and the names of what lies outside."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import write_tree

from indexer.python_project import Externals, environment_digest, find_project, is_test, module_names


def _project(root: Path, files: list[str], **more: object):
    write_tree(root, dict.fromkeys(files, ""))
    options = {"python": "", "source_roots": (), "environment": {}, "own_prefix": "/nowhere", **more}
    return find_project(root, files, **options)  # type: ignore[arg-type]


def _names(root: Path, files: list[str]) -> dict[str, str]:
    return module_names(root, _project(root, files).source_roots, files)


def test_a_flat_layout_imports_from_the_root(tmp_path: Path) -> None:
    """Packages by their folders, `__init__` by its folder alone."""
    assert _names(tmp_path, ["pkg/__init__.py", "pkg/mod.py", "pkg/sub/x.py", "top.py", "setup.py"]) == {
        "pkg/__init__.py": "pkg",
        "pkg/mod.py": "pkg.mod",
        "pkg/sub/x.py": "pkg.sub.x",
        "top.py": "top",
        "setup.py": "setup",
    }


def test_a_src_layout_imports_from_src(tmp_path: Path) -> None:
    """`src` is no package; tests and the root are roots too."""
    project = _project(tmp_path, ["pyproject.toml", "src/pkg/__init__.py", "src/pkg/a.py", "tests/test_a.py", "tests/helpers.py"])
    assert [path.relative_to(tmp_path).as_posix() for path in project.source_roots] == ["src", ".", "tests"]
    names = module_names(tmp_path, project.source_roots, ["src/pkg/__init__.py", "src/pkg/a.py", "tests/helpers.py"])
    assert names == {"src/pkg/__init__.py": "pkg", "src/pkg/a.py": "pkg.a", "tests/helpers.py": "helpers"}


def test_a_src_that_is_a_package_is_one(tmp_path: Path) -> None:
    """With `__init__.py` in it, it is imported by its name."""
    assert _names(tmp_path, ["src/__init__.py", "src/a.py"])["src/a.py"] == "src.a"


def test_tests_that_are_a_package_are_one(tmp_path: Path) -> None:
    """tests/__init__.py makes `tests.test_a`."""
    assert _names(tmp_path, ["tests/__init__.py", "tests/test_a.py"])["tests/test_a.py"] == "tests.test_a"


def test_a_root_that_is_itself_a_package_is_imported_from_above(tmp_path: Path) -> None:
    """lspidx may be pointed at the package's own folder."""
    root = tmp_path / "outer" / "pkg"
    write_tree(tmp_path, {"outer/__init__.py": ""})
    names = _names(root, ["__init__.py", "a.py", "sub/__init__.py"])
    assert names == {"__init__.py": "outer.pkg", "a.py": "outer.pkg.a", "sub/__init__.py": "outer.pkg.sub"}


def test_projects_inside_a_repository_have_roots_of_their_own(tmp_path: Path) -> None:
    """Each folder with a project file counts, its `src` first."""
    files = ["one/pyproject.toml", "one/src/a/__init__.py", "two/setup.py", "two/b/__init__.py"]
    names = _names(tmp_path, files)
    assert names["one/src/a/__init__.py"] == "a"
    assert names["two/b/__init__.py"] == "b"


def test_only_a_folder_called_src_is_a_source_folder(tmp_path: Path) -> None:
    """`mysrc` merely ends like one."""
    roots = _project(tmp_path, ["mysrc/pyproject.toml", "mysrc/a.py", "z.py"]).source_roots
    assert [path.relative_to(tmp_path).as_posix() for path in roots] == [".", "mysrc"]


def test_module_names_are_unique(tmp_path: Path) -> None:
    """A stub beside its module and two conftest.py: the first has the name, the others are called by their path."""
    files = ["a.py", "a.pyi", "conftest.py", "tests/conftest.py", "tests/test_x.py", "pkg.py", "pkg/__init__.py"]
    names = _names(tmp_path, files)
    assert len(set(names.values())) == len(files)
    assert names["a.py"] == "a"
    assert names["a.pyi"] == "a.pyi"
    assert names["conftest.py"] == "conftest"
    assert names["tests/conftest.py"] == "tests/conftest.py"


def test_configured_source_roots_win(tmp_path: Path) -> None:
    """Nothing is looked for then."""
    project = _project(tmp_path, ["lib/a.py", "src/b.py"], source_roots=("lib",))
    assert project.source_roots == (tmp_path / "lib",)
    assert module_names(tmp_path, project.source_roots, ["lib/a.py", "src/b.py"]) == {"lib/a.py": "a", "src/b.py": "src.b"}


# ---- environments


def _environment(folder: Path) -> Path:
    write_tree(folder, {"pyvenv.cfg": "home = /usr\n", "bin/python": "", "lib/python3.12/site-packages/x-1.0.dist-info/METADATA": ""})
    return folder


@pytest.mark.parametrize("name", [".venv", "venv", "env", ".env"])
def test_an_environment_in_the_root_is_found(tmp_path: Path, name: str) -> None:
    """By its pyvenv.cfg; its python is never run."""
    _environment(tmp_path / name)
    project = _project(tmp_path, ["a.py"])
    assert (project.prefix, project.interpreter, project.found_by) == (tmp_path / name, tmp_path / name / "bin/python", f"folder {name}")
    assert project.placeholders()["python_prefix"] == str(tmp_path / name)


def test_a_file_of_settings_is_no_environment(tmp_path: Path) -> None:
    """`.env` usually is a file."""
    write_tree(tmp_path, {".env": "SECRET=1"})
    project = _project(tmp_path, ["a.py"])
    assert (project.prefix, project.interpreter, project.found_by) == (None, None, "none found: only the standard library is known")
    assert project.placeholders()["python"] is None
    assert environment_digest(project) == "none"


def test_an_activated_environment_counts_unless_it_is_our_own(tmp_path: Path) -> None:
    """lspidx's own packages are not the project's."""
    active = _environment(tmp_path / "elsewhere")
    assert _project(tmp_path / "w", ["a.py"], environment={"VIRTUAL_ENV": str(active)}).prefix == active
    assert _project(tmp_path / "w", ["a.py"], environment={"VIRTUAL_ENV": str(active)}, own_prefix=str(active)).prefix is None
    assert _project(tmp_path / "w", ["a.py"], environment={"CONDA_PREFIX": str(active)}).found_by.endswith("CONDA_PREFIX")
    assert _project(tmp_path / "w", ["a.py"], environment={"VIRTUAL_ENV": str(tmp_path / "gone")}).prefix is None


def test_a_configured_python_wins(tmp_path: Path) -> None:
    """As a folder, as an interpreter, relative to the root; what does not exist is said."""
    chosen = _environment(tmp_path / "chosen")
    _environment(tmp_path / ".venv")
    assert _project(tmp_path, ["a.py"], python="chosen").prefix == chosen
    assert _project(tmp_path, ["a.py"], python="chosen/bin/python").prefix == chosen
    missing = _project(tmp_path, ["a.py"], python="gone")
    assert missing.prefix is None
    assert "gone" in missing.found_by


def test_the_environments_digest_is_of_what_is_installed(tmp_path: Path) -> None:
    """Names and versions; where it lies does not matter."""
    _environment(tmp_path / "a" / ".venv")
    _environment(tmp_path / "b" / ".venv")
    first, second = _project(tmp_path / "a", ["x.py"]), _project(tmp_path / "b", ["x.py"])
    assert environment_digest(first) == environment_digest(second)
    write_tree(tmp_path / "b", {".venv/lib/python3.12/site-packages/y-2.dist-info/METADATA": ""})
    assert environment_digest(first) != environment_digest(second)


# ---- outside


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"/c/ty/vendored/typeshed/{'0a' * 20}/stdlib/os/path.pyi", ("python", "stdlib", "", "os.path", "python:stdlib/os/path.pyi")),
        ("/c/typeshed/stdlib/builtins.pyi", ("python", "stdlib", "", "builtins", "python:stdlib/builtins.pyi")),
        ("/x/dist/typeshed-fallback/stdlib/os/__init__.pyi", ("python", "stdlib", "", "os", "python:stdlib/os/__init__.pyi")),
        (
            "/x/typeshed-fallback/stubs/requests/requests/api.pyi",
            ("pip", "types-requests", "", "requests.api", "pip:types-requests/requests/api.pyi"),
        ),
        ("/usr/lib/python3.12/json/decoder.py", ("python", "stdlib", "", "json.decoder", "python:stdlib/json/decoder.py")),
        ("/opt/tool/a/b/c.py", ("", "", "", "a.b.c", "unknown:a/b/c.py")),
    ],
)
def test_files_outside_are_named_without_the_machine(path: str, expected: tuple[str, ...]) -> None:
    """Typeshed and the standard library by module, an unknown place by its last parts."""
    found = Externals().describe(path)
    assert (found.manager, found.package, found.version, found.module, found.key) == expected


def test_installed_packages_have_name_and_version(tmp_path: Path) -> None:
    """From RECORD: the distribution may be called otherwise than its module."""
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    write_tree(
        site,
        {
            "PyYAML-6.0.dist-info/RECORD": "yaml/__init__.py,sha256=x,1\nPyYAML-6.0.dist-info/RECORD,,\n../../bin/x,,\n",
            "requests_toolbelt-1.2.dist-info/RECORD": "requests_toolbelt/__init__.py,,\nsingle.py,,\n",
            "some-stubs/a.pyi": "",
        },
    )
    externals = Externals()
    yaml = externals.describe(str(site / "yaml/__init__.py"))
    assert (yaml.package, yaml.version, yaml.module, yaml.key) == ("pyyaml", "6.0", "yaml", "pip:pyyaml@6.0/yaml/__init__.py")
    assert externals.describe(str(site / "requests_toolbelt/x.py")).package == "requests-toolbelt"
    assert externals.describe(str(site / "single.py")).package == "requests-toolbelt"
    unknown = externals.describe(str(site / "stray.py"))
    assert (unknown.package, unknown.version) == ("stray", "")
    assert externals.describe(str(site / "some-stubs/a.pyi")).module == "some.a"


# ---- tests


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("test_a.py", True),
        ("a_test.py", True),
        ("tests.py", True),
        ("app/tests.py", True),
        ("conftest.py", True),
        ("pkg/tests/helpers.py", True),
        ("test/support.py", True),
        ("a.py", False),
        ("testing.py", False),
        ("pkg/testing/a.py", False),
        ("contest.py", False),
        ("latest.py", False),
        ("my.test.data/a.py", False),
        ("attests/a.py", False),
        ("django/test/utils.py", True),
        ("test_a.txt/a.py", False),
        ("greatest_test_case.py", False),
    ],
)
def test_tests_are_told_by_name_or_folder(path: str, expected: bool) -> None:
    """By whole words of the path, not by letters in them."""
    assert is_test(path) is expected


def test_configured_patterns_correct_the_convention() -> None:
    """`not_tests` has the last word."""
    assert is_test("spec/a.py", more=["spec/*"])
    assert not is_test("django/test/utils.py", fewer=["django/test/*"])
    assert not is_test("spec/a.py", more=["spec/*"], fewer=["*"])
