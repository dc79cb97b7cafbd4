"""Installing servers: with the real clients where they are quick, with scripts in their place where it is about faults."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from query_support import json_of, lspidx
from support import write_tree
from toolchains import PYPI, requires

from indexer.errors import ConfigError, ServerError, ServerMissing
from indexer.servers import install as installer
from indexer.servers import registry
from indexer.servers.install import Installed, commands, environment_of, install, to_servers
from indexer.servers.installed import find_installed, folder_of, servers_dir, version_of
from indexer.servers.registry import find_server, parse_table

ENTRY = """
[server.x]
languages = ["python"]
command = ["{command}"]
version_command = []
install = {{ {install} }}
otherwise = "{otherwise}"
open = "none"
window = 1
ready = "initialized"
hierarchy = "none"
timeout_s = 1
memory_mb = 1
diagnostics = "none"
lacks = []
tried = "untested"
[language.python]
extensions = [".py"]
servers = ["x"]
"""

FAKE_NPM = """mkdir -p "$3/node_modules/.bin"
printf '#!/bin/sh\\necho 1.0\\n' > "$3/node_modules/.bin/some-server"
chmod +x "$3/node_modules/.bin/some-server"
"""

Put = Callable[..., None]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our own folder of servers, empty."""
    folder = tmp_path / "servers of ours"
    monkeypatch.setenv("LSPIDX_SERVERS_DIR", str(folder))
    return folder


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Put:
    """Puts a table of one server, `x`, in the place of ours."""

    def put(install: str = 'npm = ["x@1"]', *, command: str = "some-server", otherwise: str = "") -> None:
        table = parse_table(ENTRY.format(command=command, install=install, otherwise=otherwise or "ask"), "table")
        for module in (registry, installer):
            monkeypatch.setattr(module, "load_table", lambda: table)

    return put


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Puts a script in the place of a client; each of its calls adds its arguments as a line to the file that this returns."""
    place = tmp_path / "clients"
    place.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join([str(place), "/usr/bin", "/bin"]))

    def put(name: str, script: str) -> Path:
        record = tmp_path / f"{name}.calls"
        (place / name).write_text(f"#!/bin/sh\necho \"$@\" >> '{record}'\n{script}\n", encoding="utf-8")
        (place / name).chmod(0o755)
        return record

    return put


def quiet(line: str) -> None:
    """Nothing needs to be said."""


# ---- the real clients


@pytest.mark.slow
def test_npm_installs_a_server_that_then_runs(folder: Path):
    requires("npm")
    said: list[str] = []
    [made] = install(["bash"], said.append)
    assert made.server == "bash-language-server"
    assert (made.ecosystem, made.fresh) == ("npm", True)
    assert Path(made.folder).parent == folder
    found = find_server("bash-language-server")
    assert (found.version, found.source, found.folder) == (version_of(made.packages[0]), "lspidx servers", made.folder)
    assert [line.split(":")[0] for line in said] == ["bash-language-server"] * 2
    [again] = install(["bash-language-server"], said.append)
    assert again == Installed(server=made.server, ecosystem="npm", packages=made.packages, folder=made.folder, fresh=False)
    assert len(said) == 2


@pytest.mark.slow
def test_pip_installs_into_an_environment_of_its_own(only: Put):
    requires(PYPI)
    only('pip = ["pyflakes==3.4.0"]', command="pyflakes")
    [made] = install(["x"], quiet)
    done = subprocess.run([f"{made.folder}/bin/pyflakes", "--version"], capture_output=True, encoding="utf-8", check=False)
    assert done.stdout.startswith("3.4.0"), done.stderr
    assert find_server("x").command == [f"{made.folder}/bin/pyflakes"]


@pytest.mark.slow
def test_go_installs_a_pinned_program(only: Put):
    requires("go")
    only('go = ["golang.org/x/example/hello@v0.0.0-20250915201037-7f05d217867b"]', command="hello")
    [made] = install(["python"], quiet)
    done = subprocess.run([f"{made.folder}/bin/hello"], capture_output=True, encoding="utf-8", check=False)
    assert done.stdout.startswith("Hello"), done.stderr
    assert os.listdir(f"{made.folder}/bin") == ["hello"]


@pytest.mark.slow
def test_a_version_that_no_registry_has_is_an_error_with_the_clients_own_words(only: Put, folder: Path):
    requires("npm")
    only('npm = ["bash-language-server@0.0.0-none"]')
    with pytest.raises(ServerError, match=r"(?s)x: 'npm install .*' ended with 1:\n.*No matching version") as caught:
        install(["x"], quiet)
    assert caught.value.exit_code == 5
    assert [path.suffix for path in folder.iterdir()] == [".lock"]


def test_an_error_that_a_client_names_before_many_other_lines_is_told(client: Callable[[str, str], Path], only: Put):
    """As rustup does where a home has no toolchain."""
    only('cargo = ["some_server@0.0.9"]')
    client("cargo", "echo info: syncing; echo 'error: rustup has no toolchain'; seq 100; exit 1")
    with pytest.raises(ServerError) as caught:
        install(["x"], quiet)
    told = str(caught.value).splitlines()[1:]
    assert told == ["error: rustup has no toolchain", "…", *(str(number) for number in range(86, 101))]


# ---- what is run


def test_cargo_builds_from_the_lock_file_of_the_package(client: Callable[[str, str], Path], only: Put):
    only('cargo = ["some_server@0.0.9"]')
    record = client("cargo", 'mkdir -p "$3/bin"; cp /bin/true "$3/bin/some-server"')
    [made] = install(["x"], quiet)
    assert record.read_text() == f"install --root {made.folder} --locked --version 0.0.9 some_server\n"
    assert find_server("x").command == [f"{made.folder}/bin/some-server"]


def test_the_command_lines_leave_nothing_to_settings_of_the_place_around(tmp_path: Path):
    assert commands("npm", ["a@1", "b@2"], tmp_path) == [
        [
            "npm", "install", "--prefix", str(tmp_path), "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--global=false",
            "--loglevel=error", "a@1", "b@2",
        ]
    ]  # fmt: skip
    assert commands("go", ["a.org/b@v1"], tmp_path) == [["go", "install", "a.org/b@v1"]]
    [make, fill] = commands("pip", ["a==1"], tmp_path)
    assert make == [sys.executable, "-m", "venv", str(tmp_path)]
    assert fill[0] == str(tmp_path / "bin" / "python")
    assert fill[-1] == "a==1"


def test_variables_that_would_send_an_install_elsewhere_are_dropped(tmp_path: Path):
    foreign = {"PYTHONPATH": "x", "PIP_TARGET": "x", "PIP_USER": "1", "GOBIN": "x", "GOOS": "plan9", "NODE_OPTIONS": "x"}
    kept = {"PATH": "/bin", "PIP_INDEX_URL": "x", "GOPROXY": "x", "npm_config_registry": "x", "HTTPS_PROXY": "x"}
    for ecosystem in ("pip", "npm", "cargo"):
        assert environment_of(ecosystem, tmp_path, {**foreign, **kept}) == kept
    made = environment_of("go", tmp_path, {**foreign, **kept, "GOWORK": "/x/go.work", "GOFLAGS": "-mod=vendor"})
    assert made == {**kept, "GOBIN": str(tmp_path / "bin"), "GOWORK": "off", "GOFLAGS": "-mod=mod", "GO111MODULE": "on"}


def test_the_client_works_in_the_folder_of_the_server(client: Callable[[str, str], Path], only: Put, monkeypatch: pytest.MonkeyPatch):
    only()
    client("npm", f'pwd > "$3/where"\n{FAKE_NPM}')
    [made] = install(["x"], quiet)
    assert (Path(made.folder) / "where").read_text().strip() == made.folder


@pytest.mark.parametrize(
    ("package", "version"),
    [
        ("a==1.2", "1.2"),
        ("a@1.2", "1.2"),
        ("@scope/a@1.2", "1.2"),
        ("a.org/b@v1.2", "1.2"),
    ],
)
def test_folders_are_named_after_the_pinned_versions(package: str, version: str):
    assert version_of(package) == version
    assert folder_of("x", [package, "b@3"]).name == f"x-{version}+3"


def test_the_folder_is_the_one_of_the_variable_else_of_xdg():
    assert str(servers_dir({"LSPIDX_SERVERS_DIR": "/a", "XDG_DATA_HOME": "/b"})) == "/a"
    assert str(servers_dir({"XDG_DATA_HOME": "/b", "HOME": "/c"})) == "/b/lspidx/servers"
    assert str(servers_dir({"HOME": "/c"})) == "/c/.local/share/lspidx/servers"


# ---- faults


def test_names_are_servers_or_languages():
    assert [spec.name for spec in to_servers(["typescript", "javascript", "go", "pyright"])] == ["ts7", "gopls", "pyright"]
    with pytest.raises(ConfigError, match=r"no server is called 'pyrihgt'; did you mean 'pyright'"):
        to_servers(["pyrihgt"])


def test_a_server_that_no_registry_has_is_refused_before_anything_is_installed(folder: Path):
    with pytest.raises(ServerMissing, match=r"solargraph: lspidx cannot install it; to get it: gem install solargraph"):
        install(["bash", "ruby"], quiet)
    assert not folder.exists()


def test_the_first_ecosystem_whose_client_is_here_is_taken(client: Callable[[str, str], Path], only: Put, tmp_path: Path, monkeypatch):
    only('cargo = ["x@1"], npm = ["x@1"]')
    record = client("npm", FAKE_NPM)
    monkeypatch.setenv("PATH", str(tmp_path / "clients") + os.pathsep + str(_tools(tmp_path)))
    [made] = install(["x"], quiet)
    assert made.ecosystem == "npm"
    assert record.exists()


def _tools(tmp_path: Path) -> Path:
    """A place with the tools that the scripts need and no client."""
    place = tmp_path / "tools"
    place.mkdir()
    for name in ("sh", "mkdir", "chmod", "printf"):
        (place / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    return place


def test_a_missing_client_is_named_with_what_brings_it(only: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    only('go = ["x@1"], cargo = ["x@1"]', otherwise="take it from the shelf")
    monkeypatch.setenv("PATH", str(tmp_path))
    expected = r"x: to install it, lspidx needs 'go' \(Go\) or 'cargo' \(Rust, .*\) on PATH; or get it yourself: take it from the shelf"
    with pytest.raises(ServerMissing, match=expected):
        install(["x"], quiet)


def test_a_client_that_fails_leaves_nothing_behind_and_its_last_words_are_shown(
    client: Callable[[str, str], Path], only: Put, folder: Path
):
    only()
    client("npm", f"{FAKE_NPM}\nseq 100; echo 'the last word' >&2; exit 3")
    with pytest.raises(ServerError, match=r"(?s)ended with 3:\n87\n.*\n100\nthe last word$"):
        install(["x"], quiet)
    assert [path.name for path in folder.iterdir()] == ["x-1.lock"]
    with pytest.raises(ServerMissing):
        find_server("x")
    client("npm", FAKE_NPM)
    assert install(["x"], quiet)[0].fresh


def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(client: Callable[[str, str], Path], only: Put, folder: Path):
    only()
    client("npm", FAKE_NPM)
    folder.write_text("no folder", encoding="utf-8")
    with pytest.raises(ServerError, match=r"x: cannot be installed: .* or set LSPIDX_SERVERS_DIR to another folder"):
        install(["x"], quiet)


def test_packages_that_bring_another_command_are_an_error_of_the_table(client: Callable[[str, str], Path], only: Put, folder: Path):
    only(command="other-server")
    client("npm", FAKE_NPM)
    with pytest.raises(ConfigError, match="server 'x': its packages bring no command 'other-server', but some-server"):
        install(["x"], quiet)
    assert [path.name for path in folder.iterdir()] == ["x-1.lock"]


def test_a_half_install_is_never_found_and_is_made_whole_by_the_next(client: Callable[[str, str], Path], only: Put, folder: Path):
    """We are killed while the client works: its folder stays, without a marker."""
    only()
    entry = ENTRY.format(command="some-server", install='npm = ["x@1"]', otherwise="ask")
    code = (
        "from indexer.servers import install, registry\n"
        f"table = registry.parse_table({entry!r}, 'table')\n"
        "install.load_table = registry.load_table = lambda: table\n"
        "install.install(['x'])"
    )
    client("npm", f"{FAKE_NPM}\nkill -9 $PPID")
    done = subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parent.parent)
    assert done.returncode == -signal.SIGKILL
    half = folder / "x-1"
    assert (half / "node_modules/.bin/some-server").exists()
    assert find_installed("x", {"npm": ["x@1"]}) is None
    with pytest.raises(ServerMissing):
        find_server("x")
    (half / "rubbish").write_text("x", encoding="utf-8")
    record = client("npm", FAKE_NPM)
    assert install(["x"], quiet)[0].fresh
    assert len(record.read_text().splitlines()) == 2
    assert not (half / "rubbish").exists()
    assert find_server("x").source == "lspidx servers"


def test_two_at_once_install_once(client: Callable[[str, str], Path], only: Put, tmp_path: Path):
    """The second waits for the first and then finds it done."""
    only()
    os.mkfifo(tmp_path / "go on")
    record = client("npm", f"read line < '{tmp_path / 'go on'}'\n{FAKE_NPM}")
    made: list[Installed] = []
    begun, waits = threading.Event(), threading.Event()

    def first(line: str) -> None:
        begun.set()

    def second(line: str) -> None:
        if "waiting" in line:
            waits.set()

    threads = [threading.Thread(target=lambda say=say: made.extend(install(["x"], say))) for say in (first, second)]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    assert waits.wait(10)
    (tmp_path / "go on").write_text("now\n", encoding="utf-8")
    for thread in threads:
        thread.join(10)
    assert sorted(item.fresh for item in made) == [False, True]
    assert len(record.read_text().splitlines()) == 1


# ---- the command


def _lspidx(*arguments: str, cwd: Path, path: Path) -> subprocess.CompletedProcess[str]:
    return lspidx(*arguments, cwd=cwd, env={"PATH": f"{path}:/usr/bin:/bin", "LSPIDX_SERVERS_DIR": os.environ["LSPIDX_SERVERS_DIR"]})


def test_without_names_the_command_installs_what_the_repository_lacks(client: Callable[[str, str], Path], tmp_path: Path):
    """Not what is found already (ty), not what no registry has (solargraph), not what is not crawled (yaml)."""
    bash = FAKE_NPM.replace("some-server", "bash-language-server").replace("1.0", "5.8.1")
    record = client("npm", bash)
    root = write_tree(tmp_path / "repository", {"a.py": "", "b.sh": "", "c.rb": "", "d.yaml": ""})
    done = _lspidx("servers", "install", cwd=root, path=tmp_path / "clients")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("bash-language-server bash-language-server@5.8.1 in ")
    assert done.stderr.splitlines()[0] == "bash-language-server: npm installs bash-language-server@5.8.1"
    assert len(record.read_text().splitlines()) == 1
    again = _lspidx("servers", "install", "--json", cwd=root, path=tmp_path / "clients")
    assert (again.returncode, again.stderr, json_of(again)) == (0, "", [])
    assert "nothing to install" in _lspidx("servers", "install", cwd=root, path=tmp_path / "clients").stdout
    named = json_of(_lspidx("servers", "install", "bash", "--json", cwd=root, path=tmp_path / "clients"))
    assert [(item["server"], item["fresh"]) for item in named] == [("bash-language-server", False)]
    listed = json_of(_lspidx("servers", "list", "--json", cwd=root, path=tmp_path / "clients"))
    [row] = [item for item in listed if item["server"] == "bash-language-server"]
    assert (row["found"], row["version"], row["source"]) == (True, "5.8.1", "lspidx servers")


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("nothing-like-it", 2, "no server is called 'nothing-like-it'"),
        ("ruby", 5, "solargraph: lspidx cannot install it; to get it: gem install solargraph"),
    ],
)
def test_errors_of_the_command_have_an_exit_code_by_who_must_act(tmp_path: Path, name: str, code: int, message: str):
    done = _lspidx("servers", "install", name, cwd=tmp_path, path=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
