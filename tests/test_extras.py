"""What comes by an extra of the package: declared, imported where it is missed with a word, and needed by nothing else."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from support import parsed, write_tree

from indexer import extras

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = PROJECT["optional-dependencies"]
BROUGHT = {"anyio": "starlette", "botocore": "s3fs", "h11": "uvicorn", "mcp-types": "mcp"}  # with what we ask for
MAIN = "from query.cli import main; main()"
DEVELOPERS = {"indexer/lsp/generate.py"}  # a part of `make docs`


def names(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements}  # pyright: ignore[reportOptionalSubscript]


def imports(node: ast.AST, guarded: bool = False) -> Iterator[tuple[str, int, bool]]:
    """Top name of each import, its line, and whether it stands in `with needed_for(…)`; what only type checkers read is left out."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                continue
            case ast.With(items=[ast.withitem(ast.Call(ast.Name("needed_for")))]):
                yield from imports(child, guarded=True)
            case ast.Import(module_names):
                yield from ((alias.name.partition(".")[0], child.lineno, guarded) for alias in module_names)
            case ast.ImportFrom(module, _, 0) if module:
                yield module.partition(".")[0], child.lineno, guarded
            case ast.expr():  # holds no statement
                continue
            case _:
                yield from imports(child, guarded)


@pytest.mark.slow
def test_what_is_imported_is_declared_and_an_extra_is_imported_where_its_absence_is_told():
    core, optional = names(PROJECT["dependencies"]), names([*OPTIONAL["mcp"], *OPTIONAL["remote"]])
    installed = packages_distributions()
    # Loaded by modules that are themselves imported in such a block, and by nothing else.
    behind = {"query/mcp/http.py", "query/mcp/sdk.py", "indexer/cache/remote.py", "indexer/cache/signature.py"}
    wrong: list[str] = []
    for package in ("indexer", "query"):
        for path, tree in parsed(package):
            for name, line, guarded in imports(tree):
                if name in sys.stdlib_module_names or name in ("indexer", "query") or path in DEVELOPERS:
                    continue
                found = {owner.lower().strip("_").replace("_", "-") for owner in installed.get(name, [name])}
                owners = {BROUGHT.get(owner, owner) for owner in found}
                if not (owners & core or (owners & optional and (guarded or path in behind))):
                    wrong.append(f"{path}:{line} imports {name}, which is of {sorted(owners)}")
    assert "\n".join(wrong) == ""


def test_the_extra_all_is_every_other():
    (everything,) = OPTIONAL["all"]
    assert everything == f"lspidx[{','.join(sorted({*OPTIONAL} - {'all'}))}]"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with an index and an artifact of it. What is refused there changes nothing."""
    root = tmp_path_factory.mktemp("exported") / "work"
    write_tree(root, {"a.py": "x = 1\n", "key": "", "lspidx.toml": 'trusted_keys = ["ssh-ed25519 AAAA"]\n'})
    for words in (["index"], ["cache", "export", "out"]):
        subprocess.run([sys.executable, "-c", MAIN, *words], cwd=root, capture_output=True, check=True)
    return root


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "words", "extra"),
    [
        ("mcp", ["mcp", "--http", "0"], "mcp"),
        ("cryptography", ["cache", "export", "out", "--sign", "key"], "remote"),
        ("cryptography", ["cache", "import", "out"], "remote"),
    ],
)
def test_what_is_not_installed_is_named_with_the_command_that_brings_it(exported: Path, library: str, words: list[str], extra: str) -> None:
    code = f"import sys; sys.modules['{library}'] = None; {MAIN}"
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=exported, capture_output=True, text=True, check=False)
    assert (done.returncode, f"to get it: pip install 'lspidx[{extra}]'" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/srv/project/.venv", "pip install 'lspidx[mcp]'"),
        ("/opt/share/uv/tools/lspidx", "uv tool install 'lspidx[mcp]'"),
        ("/opt/share/pipx/venvs/lspidx", "pipx install --force 'lspidx[mcp]'"),
    ],
)
def test_the_command_is_that_of_the_installer(monkeypatch: pytest.MonkeyPatch, prefix: str, command: str) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    assert extras.command("mcp") == command
