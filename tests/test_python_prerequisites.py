"""What a clone of a Python repository lacks, and how `--fetch` brings it: wheels only, into a folder of lspidx's own."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from support import Watcher, rows, write_tree

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.prerequisites import Look, Prerequisite, fetched_dir, python_install, steps
from indexer.prerequisites.python import fetched_environment, find
from indexer.prerequisites.python_install import bring, chosen, install, lacking, version_for
from indexer.python_manifests import read_manifests
from indexer.python_requirements import Need


def _look(root: Path, files: dict[str, str], environment: dict[str, str] | None = None, python: str = "") -> Look:
    write_tree(root, files)
    around = {"XDG_DATA_HOME": str(root.parent / "data"), **(environment or {})}
    return Look(
        root=root,
        paths=[path for path in files if not path.startswith(".venv")],
        languages=frozenset({"python"}),
        environment=around,
        fetched=fetched_dir(around),
        python=python,
    )


def _found(look: Look) -> Prerequisite:
    [found] = find(look)
    return found


PROJECT = {"pyproject.toml": "[project]\nname = 'x'\ndependencies = ['b>=1', 'a', 'C_c', 'd', 'e', 'f']\n", "x.py": ""}


def test_a_clone_without_an_environment_says_what_it_declares_and_what_helps(tmp_path: Path) -> None:
    """A few names and a count; the command of the tool whose lock file is there."""
    found = _found(_look(tmp_path / "w", PROJECT))
    assert found.detail.endswith("it declares a, b, c-c, d and 2 more")
    assert (found.name, found.can_fetch) == ("environment", True)
    assert found.remedy == "python3 -m venv .venv && .venv/bin/pip install -e ."
    assert _found(_look(tmp_path / "u", {**PROJECT, "uv.lock": ""})).remedy == "uv sync"
    assert _found(_look(tmp_path / "p", {**PROJECT, "poetry.lock": ""})).remedy == "poetry install"
    only = _look(tmp_path / "r", {"requirements.txt": "a\n", "x.py": ""})
    assert _found(only).remedy == "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"


def test_a_project_that_needs_nothing_lacks_nothing(tmp_path: Path) -> None:
    """Only tests' requirements, names of the standard library, the workspace's own projects: no line."""
    text = "[project]\nname = 'x'\ndependencies = ['dataclasses', 'X[all]']\n[dependency-groups]\ntest = ['pytest']\n"
    assert find(_look(tmp_path / "w", {"pyproject.toml": text})) == []
    assert find(_look(tmp_path / "v", {"a.py": ""})) == []


def test_an_environment_that_lacks_declared_packages_names_them(tmp_path: Path) -> None:
    """One that has them all is not mentioned."""
    files = {**PROJECT, ".venv/pyvenv.cfg": "version = 3.12\n"}
    site = ".venv/lib/python3.12/site-packages"
    there = {f"{site}/{name}-1.0.dist-info/METADATA": "" for name in ("a", "b", "c_c", "d")}
    found = _found(_look(tmp_path / "w", {**files, **there}))
    assert found.detail == "2 of 6 declared packages are not in the environment (folder .venv): e, f"
    assert found.remedy == ".venv/bin/pip install -e ."
    assert not found.can_fetch
    assert find(_look(tmp_path / "v", {**files, **there, **{f"{site}/{name}-1.dist-info/METADATA": "" for name in "ef"}})) == []


def test_nothing_is_fetched_for_a_project_that_has_its_environment_or_names_one(tmp_path: Path) -> None:
    """And what a step executes of the repository is nothing."""
    [step] = steps(_look(tmp_path / "w", PROJECT))
    assert (step.executes, str(step.level)) == ("", "none")
    assert list(steps(_look(tmp_path / "v", {**PROJECT, ".venv/pyvenv.cfg": ""}))) == []
    assert list(steps(_look(tmp_path / "u", PROJECT, python="gone"))) == []
    assert list(steps(_look(tmp_path / "t", {"a.py": ""}))) == []


# ---- what can be had


def _pip(missing: Sequence[str] = (), clash: Sequence[str] = (), calls: list[list[str]] | None = None):
    """A registry that lacks `missing` (requirements), and has all of `clash` only one at a time."""

    def attempt(items: Sequence[str], _only_try: bool) -> str:
        if calls is not None:
            calls.append(list(items))
        for item in items:
            if item in missing:
                return f"ERROR: Could not find a version that satisfies the requirement {item} (from versions: 1)\n"
        return "ERROR: ResolutionImpossible" if sum(item in clash for item in items) > 1 else ""

    return attempt


def test_what_cannot_be_had_loses_nothing_else() -> None:
    """A name that no registry has, a version that does not exist, requirements that exclude each other."""
    assert bring(["a", "b>=2", "c"], _pip()) == (["a", "b>=2", "c"], [], "")
    assert bring(["a", "gone", "c"], _pip(missing=["gone"])) == (["a", "c"], ["gone"], "")
    assert bring(["a", "b>=9", "c"], _pip(missing=["b>=9"])) == (["a", "b", "c"], ["b>=9"], "")
    assert bring(["a", "b>=9"], _pip(missing=["b>=9", "b"])) == (["a"], ["b>=9", "b"], "")
    assert bring(["a==1", "b", "c", "z==2"], _pip(clash=["a==1", "z==2"]), {"a", "z"}) == (["a==1", "b", "c", "z"], ["z==2"], "")
    assert bring(["gone"], _pip(missing=["gone"])) == ([], ["gone"], "")
    assert bring([], _pip()) == ([], [], "")


def test_versions_that_tests_pin_are_given_up_before_those_that_the_project_runs_with() -> None:
    """Two pins exclude each other: the one that is not firm goes, and no half is tried."""
    calls: list[list[str]] = []
    pip = _pip(clash=["a==1", "z==2"], calls=calls)
    assert bring(["a==1", "b", "z==2"], pip, {"a"}) == (["a==1", "b", "z"], ["z==2"], "")
    assert len(calls) == 2


def test_what_several_services_pin_is_installed_as_it_is_declared() -> None:
    """Pins that exclude each other: no half is tried, and what cannot be had is left out; where few are pinned, halves are."""
    calls: list[list[str]] = []
    pins = ["a==1", "b==1", "gone==1", "z==2"]
    each_alone = _pip(missing=["gone==1", "gone"])
    together = _pip(clash=["a==1", "z==2"], calls=calls)
    assert bring(pins, together, {"a", "b", "gone", "z"}, each_alone) == (["a==1", "b==1", "z==2"], ["gone==1", "gone"], "")
    assert len(calls) == 1
    assert bring(["a>=1", "b", "z>=2"], _pip(clash=["a>=1", "z>=2"]), {"a", "z"}, each_alone) == (["a>=1", "b", "z"], ["z>=2"], "")


def test_where_each_alone_cannot_be_had_either_halves_are_tried() -> None:
    said: list[list[str]] = []
    pip = _pip(clash=["a==1", "z==2"])
    kept, lost, problem = bring(["a==1", "z==2"], pip, {"a", "z"}, lambda items, _: said.append(list(items)) or "ERROR: no room")
    assert (kept, lost, problem, said) == (["a==1", "z"], ["z==2"], "", [["a==1", "z==2"]])


def test_a_registry_that_cannot_be_reached_is_not_asked_again_and_again() -> None:
    """It is no fault of any one requirement."""
    calls: list[list[str]] = []

    def attempt(items: Sequence[str], _only_try: bool) -> str:
        calls.append(list(items))
        return "WARNING: Retrying: NewConnectionError\nERROR: No matching distribution found for a"

    assert bring(["a", "b"], attempt)[0] == []
    assert len(calls) == 1


def test_one_bad_requirement_among_many_costs_few_tries() -> None:
    """Halves, not one by one."""
    calls: list[list[str]] = []
    names = [f"p{number}" for number in range(64)]
    kept, lost, _ = bring(names, _pip(clash=["p7", "p50"], calls=calls))
    assert (len(kept), lost) == (63, ["p50"])
    assert len(calls) < 25


def test_one_requirement_is_chosen_for_each_name(tmp_path: Path) -> None:
    """What a project is run with decides about the version; markers count for the Python that it is for."""
    texts = [
        ("a", "a>=2", "run"), ("b", "b; python_version < '3.9'", "run"), ("c", "c; python_version >= '3.9'", "run"),
        ("a", "a[x]==1", "more"), ("d", "d; sys_platform == 'nowhere'", "more"),
    ]  # fmt: skip
    needs = [Need(name=name, text=text, kind=kind) for name, text, kind in texts]  # type: ignore[arg-type]
    assert chosen(needs, "3.13") == ["a[x]>=2", "c"]
    in_matrix = [Need(name=text[:1], text=text, kind="matrix") for text in ("a==1", "e==1.11", "e==5", "f==2", "f==2", "g", "g[y]>1")]
    assert chosen([*needs, *in_matrix], "3.13") == ["a[x]>=2", "c", "e", "f==2", "g[y]"]
    for requires, expected in ((">=3.9", "3.13"), (">=3.9,<3.12", "3.9"), (">=3.14", "3.14"), ("nonsense", "3.13")):
        write_tree(tmp_path, {"pyproject.toml": f"[project]\nrequires-python = '{requires}'\n"})
        assert version_for(read_manifests(tmp_path, ["pyproject.toml"])) == expected


def test_what_only_tests_import_is_fetched_though_nothing_declares_it(tmp_path: Path) -> None:
    assert len([*steps(_look(tmp_path / "w", {"a.py": "", "tests/test_a.py": "import pytest\n"}))]) == 1
    assert [*steps(_look(tmp_path / "v", {"a.py": "", "tests/test_a.py": "import unittest\n"}))] == []


@pytest.mark.parametrize("most", [1, 60])
def test_a_matrix_of_versions_costs_what_is_declared_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """sentry's tox.ini has 332 packages more, each pinned apart: pip took 7 minutes for them, and was near the end of what it may take."""
    tried: list[list[str]] = []

    def run(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        items = list(command[command.index("--") + 1 :])
        tried.append(items)
        if len(items) > 2:
            raise subprocess.TimeoutExpired(command, 1.0)
        write_tree(Path(command[command.index("--target") + 1]), {"a-1.0.dist-info/METADATA": "Name: a\nVersion: 1.0\n"})
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(python_install.subprocess, "run", run)
    monkeypatch.setattr(python_install, "_MOST_OF_MATRIX", most)
    tox = "[testenv]\ndeps =\n    pytest\n    py39-b: b==1\n    py310-b: b==2\n    c: c==3\n"
    look = _look(tmp_path / "w", {"pyproject.toml": "[project]\nname = 'w'\ndependencies = ['a']\n", "tox.ini": tox, "w.py": ""})
    said: list[str] = []
    assert install(look.root, fetched_environment(look.root, look.environment), said.append) == ""
    assert tried == ([["a", "pytest"]] if most == 1 else [["a", "pytest", "b", "c==3"], ["a", "pytest"]])
    assert said == []
    assert _found(look).detail == "2 packages that only some environments of tox have were not fetched: b, c"


# ---- the whole way, with a registry that is a folder


def _wheel(folder: Path, name: str, files: dict[str, str], requires: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n" + (f"Requires-Dist: {requires}\n" if requires else "")
    wheel = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    whole = {**files, f"{info}/METADATA": metadata, f"{info}/WHEEL": wheel}
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()},{len(text.encode())}\n"
        for path, text in whole.items()
    )
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in {**whole, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            archive.writestr(path, text)


@pytest.mark.slow
def test_pins_that_exclude_each_other_bring_what_they_need_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two services pin packages that want other versions of a third; each has a part of one folder, and one needs what nobody has."""
    shelf = tmp_path / "shelf"
    _wheel(shelf, "left", {"space/left.py": "def of_left(): ...\n"}, requires="deeper==1.0")
    _wheel(shelf, "right", {"space/right.py": "def of_right(): ...\n"}, requires="deeper==9")
    _wheel(shelf, "deeper", {"space/deeper.py": "def deepest(): ...\n"}, requires="no-such-name")
    _wheel(shelf, "pytest", {"pytest.py": ""})
    _wheel(shelf, "setuptools", {"setuptools/__init__.py": ""})
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf), "PIP_CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    files = {"one/requirements.txt": "left==1.0\n", "two/requirements.txt": "right==1.0\n", "a.py": "import space.left\n"}
    files["tests/test_a.py"] = "import pytest\n"
    root = write_tree(tmp_path / "w", files)
    said: list[str] = []
    assert install(root, tmp_path / "environment", said.append) == ""
    [site] = (tmp_path / "environment").glob("lib/*/site-packages")
    assert sorted(path.name for path in (site / "space").iterdir()) == ["deeper.py", "left.py", "right.py"]
    assert lacking(site, "3.13") == {"no-such-name"}
    assert (site / "pytest.py").is_file(), (
        "no file declares it, and a folder of tests, whose own project files are a stranger's, imports it"
    )
    assert said == []


@pytest.mark.slow
def test_fetch_brings_what_is_declared_and_the_next_index_resolves_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As wheels; a source archive, which would be executed, and a name that is nowhere are left out, and nothing else for them."""
    shelf = tmp_path / "shelf"
    _wheel(shelf, "dep", {"dep/__init__.py": "from deeper import deepest\ndef of_dep(): ...\n"}, requires="deeper")
    _wheel(shelf, "deeper", {"deeper.py": "def deepest(): ...\n"})
    _wheel(shelf, "setuptools", {"setuptools/__init__.py": ""})
    (shelf / "sourced-1.0.tar.gz").write_bytes(b"no archive")
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf), "PIP_CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    root = write_tree(
        tmp_path / "w",
        {
            "setup.py": f"open({str(tmp_path / 'executed')!r}, 'w')\nsetup(name='w', install_requires=NEEDS)\n"
            "NEEDS = ['dep', 'sourced', 'no-such-name']\n",
            "a.py": "from deeper import deepest\nfrom dep import of_dep\n\nof_dep(deepest)\n",
        },
    )
    environment = {"XDG_DATA_HOME": str(tmp_path / "data")}
    before = crawl(root, Config(), Watcher(), environment=environment)
    assert [item["name"] for item in before.manifest["prerequisites"]] == ["environment"]
    assert before.manifest["environment"].startswith("none found")
    crawl(root, Config(fetch=True), Watcher(), environment=environment)
    after = crawl(root, Config(), Watcher(), environment=environment)
    assert after.up_to_date
    assert after.manifest["environment"] == "lspidx index --fetch"
    [left] = after.manifest["prerequisites"]
    assert left["detail"] == "2 of 3 declared packages could not be fetched as wheels: no-such-name, sourced"
    meant = dict(rows(after.generation, "SELECT name, symbol FROM occurrences WHERE path = 'a.py' AND line = 3"))
    assert meant == {"of_dep": "python pip dep 1.0 dep/of_dep().", "deepest": "python pip deeper 1.0 deeper/deepest()."}
    place = fetched_environment(root, environment)
    assert place.is_relative_to(tmp_path / "data")
    assert (place / "lspidx-fetched.txt").read_text() == "no-such-name\nsourced\n"
    assert not (tmp_path / "executed").exists()
    assert not any((place / name).exists() for name in ("bin/python", "bin/python3"))
