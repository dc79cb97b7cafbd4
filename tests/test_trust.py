"""A hostile repository: what a server would execute of it or see of this machine, at each level of trust.

Each attempt succeeds at full trust, or with the guard taken away, in the same test: so that it can fail.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import Watcher, assert_all_ended, fake_server, rows, write_tree
from toolchains import requires

from indexer import sandbox
from indexer.config import load_config
from indexer.crawl.plan import choice, launch
from indexer.crawl.run import Crawl, crawl
from indexer.errors import ServerMissing, UnsafeIndex
from indexer.servers.registry import find_server

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("started_workers")]  # what a server sees of others is what it sees of a user's

_LANDLOCKED = "landlock abi"


def _crawl(root: Path, trust: str, *, watcher: Watcher | None = None, **flags: Any) -> Crawl:
    config = load_config(root, flags={"trust": trust, "jobs": 1, **flags}, environment=os.environ, user_dir=root / "no-user")
    return crawl(root, config, watcher or Watcher(), full=True)


def _script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


# ---- what a confined process sees


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home folder with a key and a token."""
    folder = write_tree(tmp_path_factory.mktemp("user"), {".ssh/id_x": "a key", ".netrc": "a password"})
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GITHUB_TOKEN", "a token")
    return folder


@pytest.fixture
def sockets() -> Iterator[tuple[int, str]]:
    """The port and the abstract name that somebody listens at."""
    name = f"lspidx-test-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"\0{name}")
        unix.listen()
        yield tcp.getsockname()[1], name


def _spied(root: Path, home: Path, sockets: tuple[int, str], trust: str, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, str], Crawl]:
    tool = _script(root / "tool", "#!/bin/sh\n")
    attempts = {
        "key": ["read", str(home / ".ssh/id_x")],
        "password": ["read", str(home / ".netrc")],
        "home": ["list", str(home)],
        "outside": ["write", str(home / f"made-{trust}")],
        "repository": ["write", str(root / f"made-{trust}.txt")],
        "tcp": ["connect", sockets[0]],
        "abstract": ["abstract", sockets[1]],
        "signal": ["signal", os.getpid()],
        "tool": ["execute", str(tool)],
        "token": ["variable", "GITHUB_TOKEN"],
        "token of the worker": ["variable of the parent", "GITHUB_TOKEN"],
    }
    pids = root.parent / f"fake-{trust}" / "pids"
    pids.mkdir(parents=True)
    monkeypatch.setenv("FAKE_SPY", json.dumps(attempts))
    found = fake_server("spies", pids)
    monkeypatch.setattr(choice, "find_server", lambda name, avoid: found)
    made = _crawl(root, trust)
    assert_all_ended([int(file.name) for file in pids.iterdir()])
    assert made.manifest["lost"] == {}
    return json.loads((pids.parent / "spied.json").read_text()), made


def test_a_server_reaches_nothing_of_the_user_unless_it_is_trusted(
    tmp_path: Path, home: Path, sockets: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys, tokens, other processes, the network, and programs of the repository; it reads the repository and answers all the same."""
    root = write_tree(tmp_path / "work", {"a.py": "def f():\n    return len([])\n"})
    trusted, made = _spied(root, home, sockets, "full", monkeypatch)
    assert set(trusted.values()) == {"done"}
    assert made.manifest["sandbox"] == "off: full trust"
    confined, made = _spied(root, home, sockets, "none", monkeypatch)
    assert made.manifest["sandbox"] == sandbox.describe()
    assert confined["token"] == "absent"
    if sandbox.abi() >= 6:
        assert confined == {
            **dict.fromkeys(trusted, "PermissionError"),
            "token": "absent",
        }
        assert not (home / "made-none").exists()


def test_where_nothing_confines_servers_that_is_said_and_the_variables_are_scrubbed(
    tmp_path: Path, home: Path, sockets: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another system, or an old kernel: everything works, and nobody is told that it was safe."""
    described = sandbox.describe()
    monkeypatch.setattr(sandbox, "abi", lambda: 0)
    root = write_tree(tmp_path / "work", {"a.py": "def f():\n    return len([])\n"})
    watcher = Watcher()
    made = _crawl(root, "none", server="ty", watcher=watcher)
    assert made.manifest["sandbox"].startswith("none: ")
    assert [note for note in watcher.notes if "confined in part only" in note and "lspidx doctor" in note]
    assert made.manifest["sandbox"] != described or not described.startswith(_LANDLOCKED)
    assert made.manifest["lost"] == {}
    cell = sandbox.Cell(sandbox.Confinement(run=[], read=[], write=[]))
    try:
        made_of = cell.environment({"GITHUB_TOKEN": "a token", "LC_ALL": "C", "HOME": str(home), "PATH": "/bin:bin:."}, {"X": "y"})
    finally:
        cell.close()
    assert made_of == {
        "LC_ALL": "C",
        "PATH": "/bin",
        "HOME": str(cell.folder / "home"),
        **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(cell.folder / "tmp")),
        "X": "y",
    }
    assert not cell.folder.exists()


def test_what_a_killed_run_left_is_removed_and_what_is_in_use_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of a confined server ends with it, but not if its maker is killed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = "import os, signal\nfrom indexer import sandbox\n"
    program += "sandbox.Cell(sandbox.Confinement(run=[], read=[], write=[]))\nos.kill(os.getpid(), signal.SIGKILL)\n"
    subprocess.run([sys.executable, "-c", program], check=False, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert len(os.listdir(tmp_path)) == 1
    used = sandbox.Cell(sandbox.Confinement(run=[], read=[], write=[]))
    sandbox.sweep()
    assert os.listdir(tmp_path) == [used.folder.name]
    used.close()
    assert os.listdir(tmp_path) == []


# ---- what real servers execute


@contextlib.contextmanager
def _options_alone() -> Iterator[None]:
    """What the servers are told must do without a sandbox, for not every system has one."""
    everything = sandbox.Confinement(run=["/"], read=["/"], write=["/"], variables=["*"])
    real = launch.confinement
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(launch, "confinement", lambda *words, **named: (everything, real(*words, **named)[1]))
        yield


GUARDS = (_options_alone, contextlib.nullcontext)
"""What keeps code from being executed: the options alone, and these with the sandbox. That it would be executed is seen once for both."""


def _mark(root: Path, name: str = "mark") -> Path:
    """A file that a confined server could write: where it is missing, nobody tried."""
    (root / ".lspidx/cache").mkdir(parents=True, exist_ok=True)
    return root / ".lspidx/cache" / name


def test_rust_executes_build_scripts_and_macros_at_full_trust_only(tmp_path: Path) -> None:
    """And nothing is lost of what stands in the sources."""
    marks = _mark(tmp_path / "work", "marks")
    marks.mkdir()
    write = 'std::fs::write("{}", "x").ok();'
    root = write_tree(
        tmp_path / "work",
        {
            "Cargo.toml": '[package]\nname = "victim"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nmacros = { path = "macros" }\n',
            "build.rs": f"fn main() {{ {write.format(marks / 'build')} }}\n",
            "src/lib.rs": "macros::evil!();\npub fn first() -> i32 { second() }\nfn second() -> i32 { 1 }\n",
            "macros/Cargo.toml": '[package]\nname = "macros"\nversion = "0.1.0"\nedition = "2021"\n[lib]\nproc-macro = true\n',
            "macros/src/lib.rs": (
                "use proc_macro::TokenStream;\n#[proc_macro]\npub fn evil(input: TokenStream) -> TokenStream { "
                f"{write.format(marks / 'macro')} input }}\n"
            ),
        },
    )
    for guard in GUARDS:
        with guard():
            made = _crawl(root, "none", server="rust-analyzer")
        assert os.listdir(marks) == []
        assert ("first", "second") in _calls(made)
    _crawl(root, "full", server="rust-analyzer")
    assert "build" in os.listdir(marks)


def test_cargo_is_not_asked_where_its_configuration_would_execute_something(tmp_path: Path) -> None:
    """A wrapper of rustc runs before anything is compiled: at the first question what rustc can."""
    mark = _mark(tmp_path / "work")
    root = write_tree(
        tmp_path / "work",
        {
            "a.py": "x = 1\n",
            "Cargo.toml": '[package]\nname = "victim"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": "pub fn first() {}\n",
            ".cargo/config.toml": f'[build]\nrustc-wrapper = "{tmp_path / "work" / "evil"}"\n',
        },
    )
    _script(root / "evil", f'#!/bin/sh\ntouch "{mark}"\nexec "$@"\n')
    for guard in GUARDS:
        with guard():
            made = _crawl(root, "none")
        assert not mark.exists()
        assert "--trust full" in made.manifest["missing_servers"]["rust"]
        assert "build.rustc-wrapper" in made.manifest["missing_servers"]["rust"]
    _crawl(root, "full")
    assert mark.exists()


TYPESCRIPT = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "plugins": [{"name": "evil"}]}}\n',
    "package.json": '{"name": "victim"}\n',
    "a.ts": "export function first(): number { return second(); }\nfunction second(): number { return 1; }\n",
    "node_modules/typescript/package.json": '{"name": "typescript", "version": "5.9.3"}\n',
    "node_modules/evil/package.json": '{"name": "evil", "main": "index.js"}\n',
}


def test_typescript_of_the_repository_is_run_at_a_level_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where lspidx has installed a compiler of its own for the server, that one; else the server is not started below `deps`."""
    requires("typescript-language-server")
    installed = find_server("typescript-language-server")
    mark = _mark(tmp_path / "work")
    evil = f"require('fs').writeFileSync({json.dumps(str(mark))}, 'x');\nmodule.exports = () => ({{ create: i => i.languageService }});\n"
    root = write_tree(
        tmp_path / "work",
        {
            **TYPESCRIPT,
            "node_modules/evil/index.js": evil,
            **{f"node_modules/typescript/lib/{n}.js": evil for n in ("tsserver", "typescript")},
        },
    )
    for guard in GUARDS:
        with guard():
            made = _crawl(root, "none", server="typescript-language-server")
        assert not mark.exists()
        assert ("first", "second") in _calls(made)
    path = tmp_path / "path"
    path.mkdir()
    (path / "typescript-language-server").symlink_to(os.path.realpath(installed.command[0]))
    monkeypatch.setenv("PATH", f"{path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LSPIDX_SERVERS_DIR", str(tmp_path / "none"))
    for guard in GUARDS:
        with guard(), pytest.raises(ServerMissing, match="--trust deps"):
            _crawl(root, "none", server="typescript-language-server")
        assert not mark.exists()
    with contextlib.suppress(Exception):  # it is no compiler
        _crawl(root, "full", server="typescript-language-server", request_timeout_s=5.0)
    assert mark.exists()


@pytest.mark.parametrize("server", ["ty", "basedpyright", "pyrefly"])
def test_an_interpreter_of_the_repository_is_not_run_to_be_asked(server: str, tmp_path: Path) -> None:
    """Neither the file that calls itself python, nor what .pth files of the environment make the real one do."""
    mark, path_mark = _mark(tmp_path / "work"), _mark(tmp_path / "work", "path-mark")
    root = write_tree(
        tmp_path / "work",
        {
            "a.py": "import inner\n\ndef first():\n    return second()\n\ndef second():\n    return inner.third()\n",
            ".venv/pyvenv.cfg": f"home = {Path(sys.base_prefix) / 'bin'}\nversion = 3.11\n",
            ".venv/lib/python3.11/site-packages/inner.py": "def third():\n    return 1\n",
            ".venv/lib/python3.11/site-packages/evil.pth": f"import pathlib; pathlib.Path({str(path_mark)!r}).touch()\n",
        },
    )
    real = os.path.realpath(sys.executable)
    _script(root / ".venv/bin/python", f'#!/bin/sh\ntouch "{mark}"\nexec "{real}" "$@"\n')
    for guard in GUARDS:
        with guard():
            made = _crawl(root, "none", server=server)
        assert not mark.exists()
        assert ("first", "second") in _calls(made)
        if server != "pyrefly":
            assert ("second", "third") in _calls(made), "what is installed is known all the same"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for guard in GUARDS:
        with guard():
            _crawl(root, "deps", server=server)
        assert not mark.exists(), "it is part of the repository"
    if server != "ty":  # which runs none at any level
        _crawl(root, "full", server=server)
        assert mark.exists()
        mark.unlink()
        (root / ".gitignore").write_text(".venv\n")
        _crawl(root, "deps", server=server)
        assert mark.exists(), "it was installed for it"
    shutil.rmtree(root / ".venv/bin")
    (root / ".venv/bin").mkdir()
    (root / ".venv/bin/python").symlink_to(real)
    path_mark.unlink(missing_ok=True)
    for guard in GUARDS:
        with guard():
            _crawl(root, "none", server=server)
        assert not path_mark.exists()


def test_go_neither_fetches_a_toolchain_nor_runs_a_tool_that_the_repository_names(tmp_path: Path) -> None:
    """The project's own settings tell a server nothing that may make it run something."""
    mark = _mark(tmp_path / "work")
    root = write_tree(
        tmp_path / "work",
        {
            "go.mod": "module example.org/victim\n\ngo 1.22\n\ntoolchain go1.99.0\n",
            "a.go": "package victim\n\nfunc first() int { return second() }\n\nfunc second() int { return 1 }\n",
            "lspidx.toml": f'trust = "full"\n[language.go.environment]\nGOFLAGS = "-mod=readonly -toolexec={tmp_path / "work" / "evil"}"\n',
        },
    )
    _script(root / "evil", f'#!/bin/sh\ntouch "{mark}"\nexec "$@"\n')
    for guard in GUARDS:
        watcher = Watcher()
        with guard():
            made = _crawl(root, "none", watcher=watcher)
        assert not mark.exists()
        assert ("first", "second") in _calls(made)
        assert any("language.go.environment of lspidx.toml is not followed" in note for note in watcher.notes)
    _crawl(root, "full")
    assert mark.exists()


def test_a_server_that_lies_in_the_repository_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PATH leads there in an activated environment; not even the version is asked."""
    mark = _mark(tmp_path / "work")
    root = write_tree(tmp_path / "work", {"go.mod": "module example.org/victim\n\ngo 1.22\n", "a.go": "package victim\n"})
    _script(root / "bin/gopls", f'#!/bin/sh\ntouch "{mark}"\necho gopls v0.23.0\n')
    monkeypatch.setenv("LSPIDX_SERVERS_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", f"{root / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    with pytest.raises(ServerMissing):
        _crawl(root, "none")
    assert not mark.exists()
    with contextlib.suppress(Exception):  # it is no server
        _crawl(root, "full", request_timeout_s=5.0)
    assert mark.exists()


# ---- the repository's own word


def test_a_folder_of_ours_that_came_with_the_repository_raises_nothing(tmp_path: Path) -> None:
    """Remembered flags lie in the work tree: they count as the project's."""
    remembered = {"trust": "full", "readable": ["/"], "language": {"go": {"environment": {"LD_PRELOAD": "evil.so"}}}, "jobs": 2}
    config = load_config(tmp_path, remembered=remembered, environment={}, user_dir=tmp_path / "no")
    assert (config.trust, config.readable, config.of_language("go").environment, config.jobs) == ("none", (), {}, 2)
    assert len(config.withheld) == 3
    trusted = load_config(tmp_path, remembered=remembered, environment={"LSPIDX_TRUST": "full"}, user_dir=tmp_path / "no")
    assert trusted.of_language("go").environment == {"LD_PRELOAD": "evil.so"}
    assert "trust" not in load_config(tmp_path, flags={"trust": "full", "jobs": 3}, environment={}, user_dir=tmp_path / "no").flags()


@pytest.mark.parametrize(
    ("user", "project", "environment", "effective"),
    [
        ("", "full", "", "none"),
        ("", "deps", "", "none"),
        ("full", "none", "", "none"),
        ("full", "deps", "", "deps"),
        ("deps", "full", "", "deps"),
        ("", "full", "deps", "deps"),
        ("full", "none", "full", "full"),
    ],
)
def test_a_project_lowers_trust_and_never_raises_it(user: str, project: str, environment: str, effective: str, tmp_path: Path) -> None:
    """What the user says in a file binds it; what is said for this run binds both."""
    root = write_tree(tmp_path / "work", {"lspidx.toml": f'trust = "{project}"\n'})
    write_tree(tmp_path / "user", {"config.toml": f'trust = "{user}"\n' if user else ""})
    env = {"LSPIDX_TRUST": environment} if environment else {}
    assert load_config(root, environment=env, user_dir=tmp_path / "user").trust == effective


def test_servers_do_not_write_where_a_link_in_the_repository_leads(tmp_path: Path) -> None:
    """A repository may hold `.lspidx/cache` as a link into the home folder."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    root = write_tree(tmp_path / "work", {"a.py": "x = 1\n", ".lspidx/.gitignore": ""})
    (root / ".lspidx/cache").symlink_to(elsewhere)
    for level in ("none", "full"):
        with pytest.raises(UnsafeIndex, match="is a link"):
            _crawl(root, level)
    assert os.listdir(elsewhere) == []


def _calls(made: Crawl) -> set[tuple[str, str]]:
    sql = "SELECT a.name, b.name FROM calls c JOIN symbols a ON a.symbol = c.caller JOIN symbols b ON b.symbol = c.callee"
    return set(rows(made.generation, sql))
