"""Puts pinned servers into lspidx's own folder, with the registry's ordinary client: pip, npm, go, cargo.

`installed` says how the folder looks. An install is done at its final place under a lock, and counts only when its marker is
written at the end: a half one is never found, and is removed by the next. What is there already is not touched.
The client runs with that folder as its own, so that no settings of the repository around us apply to it (.npmrc, go.work,
rust-toolchain.toml), and no package runs scripts on the way in where its client can forbid it (npm).
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import portalocker

from indexer.errors import ConfigError, ServerError, ServerMissing
from indexer.servers.installed import MARKER, Ecosystem, Record, commands_of, find_installed, folder_of, servers_dir
from indexer.servers.registry import ServerSpec, find_server, how_to_get, load_table, server_spec

log = logging.getLogger(__name__)

_TAIL_LINES = 15
_MOST_ERRORS = 10
_IS_ERROR = re.compile(r"\s*(npm )?error\b", re.IGNORECASE)

_CLIENTS: Mapping[Ecosystem, tuple[str, str]] = {
    "pip": (sys.executable, "a Python with the venv module"),
    "npm": ("npm", "Node.js, which brings npm"),
    "go": ("go", "Go"),
    "cargo": ("cargo", "Rust, which brings cargo"),
}
"""Command of each client, and what to install to have it."""

_FOREIGN = re.compile(r"PYTHONPATH|PYTHONHOME|PIP_(TARGET|PREFIX|ROOT|USER|REQUIRE_VIRTUALENV)|VIRTUAL_ENV|NODE_OPTIONS|GOOS|GOARCH|GOBIN")
"""Variables that would make a client install elsewhere or for another machine."""


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """A server in lspidx's own folder. `fresh`: this call has put it there."""

    server: str
    ecosystem: Ecosystem
    packages: list[str]
    folder: str
    fresh: bool


def to_servers(names: Iterable[str]) -> list[ServerSpec]:
    """Entries by name of a server or of a language, which stands for its default server.

    Raises:
        ConfigError: neither a server nor a language has this name.
    """
    table = load_table()
    specs = [server_spec(name if name not in table.language else table.language[name].servers[0]) for name in names]
    return list({spec.name: spec for spec in specs}.values())


def install(names: Iterable[str], say: Callable[[str], None] = log.info) -> list[Installed]:
    """Installs servers, one after the other.

    Args:
        names: of servers or languages; a language stands for its default server.
        say: gets a line before and after each install that takes time.
    Raises:
        ConfigError: no such server or language.
        ServerMissing: no registry has one of them, or its client is not here.
        ServerError: the client failed, or our folder cannot be written; what was installed before stays.
    """
    specs = to_servers(names)
    there = [spec for spec in specs if spec.module]
    for spec in there:
        found = find_server(spec.name)
        say(f"{spec.name}: nothing to install, it comes with lspidx; {found.version} is driven by it")
    specs = [spec for spec in specs if spec not in there]
    for spec in specs:
        if not spec.install:
            raise ServerMissing(f"{spec.name}: lspidx cannot install it; to get it: {how_to_get(spec)}")
    made: list[Installed] = []
    for spec in specs:
        try:
            made.append(_install(spec, say))
        except OSError as error:
            where = f"'{servers_dir()}', or set LSPIDX_SERVERS_DIR to another folder"
            raise ServerError(f"{spec.name}: cannot be installed: {error.strerror}: '{error.filename}'; look at {where}") from error
    return made


def _install(spec: ServerSpec, say: Callable[[str], None]) -> Installed:
    present = _present(spec)
    if present is not None:
        return present
    ecosystem, packages = _choose(spec)
    folder = folder_of(spec.name, packages)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder, say) as lock:
        present = _present(spec)  # somebody else has installed it while we waited
        if present is not None:
            return present
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        say(f"{spec.name}: {ecosystem} installs {' '.join(packages)}")
        try:
            for command in commands(ecosystem, packages, folder):
                _run(spec, command, folder, ecosystem, lock)
            _check(spec, folder, ecosystem)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        marker = folder / f"{MARKER}.new"
        marker.write_bytes(msgspec.json.encode(Record(ecosystem=ecosystem, packages=packages)))
        marker.replace(folder / MARKER)
    say(f"{spec.name}: installed in {folder}")
    return Installed(server=spec.name, ecosystem=ecosystem, packages=packages, folder=str(folder), fresh=True)


def _present(spec: ServerSpec) -> Installed | None:
    found = find_installed(spec.name, spec.install)
    if found is None:
        return None
    record = msgspec.json.decode((found[0] / MARKER).read_bytes(), type=Record)
    return Installed(server=spec.name, ecosystem=record.ecosystem, packages=record.packages, folder=str(found[0]), fresh=False)


def _choose(spec: ServerSpec) -> tuple[Ecosystem, list[str]]:
    """The first ecosystem of the entry whose client is here."""
    for ecosystem, packages in spec.install.items():
        if shutil.which(_CLIENTS[ecosystem][0]):
            return ecosystem, packages
    needs = " or ".join(f"'{_CLIENTS[ecosystem][0]}' ({_CLIENTS[ecosystem][1]})" for ecosystem in spec.install)
    otherwise = f"; or get it yourself: {spec.otherwise}" if spec.otherwise else ""
    raise ServerMissing(f"{spec.name}: to install it, lspidx needs {needs} on PATH{otherwise}")


def commands(ecosystem: Ecosystem, packages: Sequence[str], folder: Path) -> list[list[str]]:
    """What is run to install `packages` into `folder`."""
    client = _CLIENTS[ecosystem][0]
    if ecosystem == "pip":
        python = commands_of(folder, "pip") / ("python.exe" if os.name == "nt" else "python")
        return [
            [client, "-m", "venv", str(folder)],
            [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet", *packages],
        ]
    if ecosystem == "npm":
        switches = ["--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--global=false", "--loglevel=error"]
        return [[client, "install", "--prefix", str(folder), *switches, *packages]]
    if ecosystem == "go":
        return [[client, "install", package] for package in packages]
    return [
        [client, "install", "--root", str(folder), "--locked", "--version", version, name]
        for name, _, version in (package.rpartition("@") for package in packages)
    ]


def environment_of(ecosystem: Ecosystem, folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The client's environment: ours, without what would send the install elsewhere."""
    env = {name: value for name, value in environment.items() if not _FOREIGN.fullmatch(name)}
    if ecosystem == "go":
        env |= {"GOBIN": str(commands_of(folder, "go")), "GOWORK": "off", "GOFLAGS": "-mod=mod", "GO111MODULE": "on"}
    return env


def _run(spec: ServerSpec, command: list[str], folder: Path, ecosystem: Ecosystem, lock: int) -> None:
    log.info("install runs: server=%s command=%s", spec.name, command)
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment_of(ecosystem, folder, os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
            pass_fds=(lock,) if os.name == "posix" else (),
        )
    except OSError as error:
        raise ServerError(f"{spec.name}: '{command[0]}' cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        raise ServerError(f"{spec.name}: '{' '.join(command)}' ended with {done.returncode}:\n{_what_went_wrong(done.stdout)}")


def _what_went_wrong(output: str) -> str:
    """The last lines of a client's output, and before them the earlier ones in which it calls something an error.

    rustup says first that it has no toolchain, and then, at length, how to get one.
    """
    lines = output.strip().splitlines()
    earlier = [line for line in lines[:-_TAIL_LINES] if _IS_ERROR.match(line)][:_MOST_ERRORS]
    return "\n".join([*earlier, *(["…"] if earlier else []), *lines[-_TAIL_LINES:]])


def _check(spec: ServerSpec, folder: Path, ecosystem: Ecosystem) -> None:
    """The client may be content without having made the command that the entry names."""
    where = commands_of(folder, ecosystem)
    if shutil.which(spec.command[0], path=str(where)) is None:
        made = ", ".join(sorted(os.listdir(where))) if where.is_dir() else "nothing"
        raise ConfigError(f"server '{spec.name}': its packages bring no command '{spec.command[0]}', but {made}")


@contextmanager
def _lock(folder: Path, say: Callable[[str], None]) -> Generator[int]:
    """Held while one server is installed; the next process waits, and then finds it done. Gives its file's descriptor.

    The client inherits it: if we are killed and it lives on, the lock stays until it has ended.
    """
    with open(folder.parent / f"{folder.name}.lock", "a") as file:
        try:
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.LockException:
            say(f"{folder.name}: another process installs it, waiting")
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
        yield file.fileno()
