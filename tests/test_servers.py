"""The server table: it loads, it is strict, and it finds what is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from indexer.errors import ConfigError, ServerMissing
from indexer.servers import quirks, registry, scripts, table
from indexer.servers.placeholders import PLACEHOLDERS, fill, fill_words
from indexer.servers.registry import (
    FoundServer,
    find_server,
    is_test,
    language_id,
    language_of,
    languages_present,
    load_table,
    parse_table,
    server_spec,
)  # fmt: skip

ENTRY = """
[server.{name}]
languages = ["python"]
command = ["{command}"]
version_command = ["{command}", "--version"]
install = {{ pip = ["x==1"] }}
open = "none"
window = 1
ready = "initialized"
hierarchy = "none"
timeout_s = 1
memory_mb = 1
diagnostics = "none"
lacks = []
tried = "1"
{more}
[language.python]
extensions = [".py"]
servers = ["{name}"]
"""


def _table(*, name: str = "x", command: str = "x", more: str = "") -> str:
    return ENTRY.format(name=name, command=command, more=more)


def test_the_table_loads_and_every_entry_is_whole() -> None:
    """Each server is some language's, can be had somehow, says what is known of it and whether it was tried."""
    table = load_table()
    assert table.language["python"].servers[0] == "ty"
    for name, spec in table.server.items():
        assert spec.name == name
        assert spec.install or spec.otherwise, name
        assert spec.notes, name
        assert not spec.notes.endswith("."), name
        assert spec.tried == "untested" or spec.tried[0].isdigit(), name
        assert spec.languages, name
        for language in spec.languages:
            assert name in table.language[language].servers, (name, language)


def test_every_language_has_files_and_a_server() -> None:
    """And those that people have most are crawled, by a server that lspidx can install."""
    table = load_table()
    for language, spec in table.language.items():
        assert spec.extensions, language
        assert all(item.startswith(".") and item == item.lower() for item in spec.extensions), language
        assert spec.servers, language
        assert len(set(spec.servers)) == len(spec.servers), language
    for language in ("python", "typescript", "javascript", "go", "c", "cpp", "rust", "bash"):
        spec = table.language[language]
        assert spec.crawl == "full"
        assert table.server[spec.servers[0]].install, language
    uncrawled = {language for language, spec in table.language.items() if spec.crawl == "none"}
    assert uncrawled >= {"json", "yaml", "html", "css", "dockerfile"}


def test_the_languages_of_the_seed_are_all_there() -> None:
    """The surface that we serve names thirty."""
    named = "typescript python go rust java c php cpp javascript ruby yaml json dockerfile csharp kotlin lua swift zig css html terraform"
    named += " scala gleam elixir prisma sql clojure nix dart mongodb bash haskell ocaml elm r vue svelte"
    assert set(named.split()) == set(load_table().language)


def test_every_placeholder_of_the_table_is_explained_in_it() -> None:
    """The head of the file is the place to look them up."""
    head = registry.TABLE.read_text(encoding="utf-8").partition("\n[")[0]
    explained = head.partition("Known: ")[2].partition("\n#\n")[0]
    for name in PLACEHOLDERS:
        assert name in explained, name


def test_every_key_of_the_table_is_explained_in_it() -> None:
    """In the lists at its top."""
    head = registry.TABLE.read_text(encoding="utf-8").partition("\n[")[0]
    for record in (registry.ServerSpec, registry.LanguageSpec):
        for field in msgspec.structs.fields(record):
            assert field.name == "name" or field.name in head, field.name


def test_the_page_of_languages_has_the_table_of_now() -> None:
    """To write it: python -m indexer.servers.table indexer/doc/languages.md."""
    text = (Path(__file__).parent.parent / "indexer/doc/languages.md").read_text(encoding="utf-8")
    assert table.replace_block(text) == text


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (_table(more="memroy_mb = 3"), "server 'x' has an unknown key 'memroy_mb', did you mean 'memory_mb'"),
        (_table(more="zzz = 3"), "server 'x' has an unknown key 'zzz'$"),
        (_table(more='quirks = ["x"]'), "server 'x' has an unknown quirk 'x'"),
        (_table(more='command = ["x"]'), "table: not readable as TOML"),
        (_table().replace('command = ["x"]', "command = []"), "server 'x' has an empty command"),
        (_table().replace('hierarchy = "none"', ""), "server 'x' has no 'hierarchy'"),
        (_table().replace('{ pip = ["x==1"] }', '{ pip = ["x"] }'), "server 'x' does not pin 'x'"),
        (_table().replace('{ pip = ["x==1"] }', '{ npm = ["@scope/x"] }'), "server 'x' does not pin '@scope/x'"),
        (_table().replace('{ pip = ["x==1"] }', "{ pip = [] }"), "server 'x' has an ecosystem without packages"),
        (_table().replace('{ pip = ["x==1"] }', '{ gem = ["x@1"] }'), "table: .*gem"),
        (_table().replace('install = { pip = ["x==1"] }', ""), "says neither by 'install' nor by 'otherwise'"),
        (_table(more="ready_method = 'x'"), "needs 'ready_method' with ready = \"notification\", and only then"),
        (_table().replace('"initialized"', '"notification"'), "needs 'ready_method' with"),
        (_table(more="ready_title = 'x'"), "has a 'ready_title', which only"),
        (_table(more="ready_title = '('").replace('"initialized"', '"progress"'), "'ready_title' that is no regex"),
        (_table(more="environment = { X = '{scratsh}' }"), "unknown placeholder '{scratsh}', did you mean 'scratch'"),
        (_table(more="options = { a = ['{zzz}/b'] }"), "unknown placeholder '{zzz}'$"),
        (
            _table().replace('servers = ["x"]', 'servers = ["x"]\nextension = 1'),
            "language 'python' has an unknown key 'extension', did you",
        ),
        (_table().replace('servers = ["x"]', 'servers = ["x"]\nids = { ".pyx" = "x" }'), "an id for '.pyx', which is not its own"),
        (_table().replace('servers = ["x"]', 'servers = ["x"]\nclaims = [".py"]'), "claims '.py', which no other language has"),
        (_table() + '[language.c]\nextensions = [".py"]\nservers = []\n', "'.py' belongs to language 'python' and to 'c'"),
        (_table().replace("window = 1", "window = 'many'"), "table: .*window"),
        (_table().replace('open = "none"', 'open = "sometimes"'), "table: .*open"),
        (_table().replace("timeout_s = 1\n", ""), "server 'x' has no 'timeout_s'"),
        (_table().replace('servers = ["x"]', ""), "language 'python' has no 'servers'"),
        (_table().replace('servers = ["x"]', 'servers = ["y"]'), "names server 'y', which does not serve it"),
        (_table().replace('languages = ["python"]', 'languages = ["c"]'), "names server 'x', which does not serve it"),
        (_table() + "[languages.c]\n", "table: .*languages"),
        (_table().replace('servers = ["x"]', 'servers = ["x"]\nzzz = 1'), "language 'python' has an unknown key 'zzz'$"),
        ("[server", "table: "),
        ("server = 3", "table: "),
    ],
)
def test_a_mistake_in_the_table_names_entry_and_key(text: str, pattern: str) -> None:
    """With the nearest known key."""
    with pytest.raises(ConfigError, match=pattern):
        parse_table(text, "table")


def test_an_unknown_server_names_the_nearest() -> None:
    """And lists those that are known."""
    with pytest.raises(ConfigError, match=r"did you mean 'pyright'.* known: ty, basedpyright"):
        server_spec("pyrihgt")


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.py", "python"),
        ("a/b.PYI", "python"),
        ("a.txt", ""),
        ("py", ""),
        ("a.py/b", ""),
        (".py", "python"),
        ("a.pyw", "python"),
        ("a.b/c", ""),
        ("a.pyc", ""),
        ("src/a.d.mts", "typescript"),
        ("a.TSX", "typescript"),
        ("a.cjs", "javascript"),
        ("a.H", "c"),
        ("a.ipp", "cpp"),
        ("home/.bashrc", "bash"),
        (".bashrc/x", ""),
        ("bashrc", ""),
        ("images/Dockerfile", "dockerfile"),
        ("dockerfile", ""),
        ("a.mli", "ocaml"),
        ("", ""),
    ],
)
def test_a_language_is_told_by_name_or_extension(path: str, language: str) -> None:
    """Of the last part of the path, whatever the case of the extension."""
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"#!/usr/bin/env python3\nimport os\n", "python"),
        (b"#! /usr/local/bin/python3.12 -u\n", "python"),
        (b"#!/usr/bin/env -S uv run --script\n", "python"),
        (b"#!/usr/bin/env -S PATH=/x node --no-warnings\n", "javascript"),
        (b"#!/bin/sh", "bash"),
        (b"#!/usr/bin/perl\n", ""),
        (b"#!\n/bin/sh\n", ""),
        (b"# python3\n", ""),
        (b"", ""),
    ],
)
def test_a_script_without_an_extension_is_in_the_language_of_the_program_that_runs_it(head: bytes, language: str) -> None:
    """Whatever the version of that program, and whatever `env` is told beside it."""
    assert scripts.language_of_script(head) == language


def test_only_a_file_whose_name_says_nothing_is_asked_for_its_first_line(tmp_path: Path) -> None:
    """A link is not followed: it may lead out of the repository."""
    (tmp_path / "tool").write_bytes(b"#!/usr/bin/env python3\n")
    (tmp_path / "tool.txt").write_bytes(b"#!/usr/bin/env python3\n")
    (tmp_path / "Dockerfile").write_bytes(b"#!/usr/bin/env python3\n")
    (tmp_path / "link").symlink_to("tool")
    found = {name: scripts.language_of_file(tmp_path, name) for name in ("tool", "tool.txt", "Dockerfile", "link", "gone")}
    assert found == {"tool": "python", "tool.txt": "", "Dockerfile": "dockerfile", "link": "", "gone": ""}


def test_a_header_is_of_c_unless_there_are_sources_in_cpp() -> None:
    """C++ claims what C owns, where C++ is present by files of its own."""
    assert languages_present(["a.c", "a.h", "x.txt"]) == {"c"}
    assert language_of("a.h", languages_present(["a.c", "a.h"])) == "c"
    assert languages_present(["a.h", "b.cc"]) == {"c", "cpp"}
    assert language_of("a.h", languages_present(["a.h", "b.cc"])) == "cpp"
    assert language_of("a.c", frozenset({"cpp"})) == "c"


@pytest.mark.parametrize(
    ("path", "language", "expected"),
    [
        ("a.py", "python", "python"),
        ("a/b.ts", "typescript", "typescript"),
        ("a/b.TSX", "typescript", "typescriptreact"),
        ("b.jsx", "javascript", "javascriptreact"),
        ("b.mjs", "javascript", "javascript"),
        ("b.sh", "bash", "shellscript"),
        (".bashrc", "bash", "shellscript"),
        ("b.h", "cpp", "cpp"),
        ("b.h", "c", "c"),
        ("b.mli", "ocaml", "ocaml.interface"),
    ],
)
def test_documents_are_announced_under_the_protocols_names(path: str, language: str, expected: str) -> None:
    """Which are not always the language's."""
    assert language_id(path, language) == expected


@pytest.mark.parametrize(
    ("path", "language", "expected"),
    [
        ("test_a.py", "python", True),
        ("a_test.py", "python", True),
        ("conftest.py", "python", True),
        ("app/tests.py", "python", True),
        ("tests/data.py", "python", True),
        ("a/test/b.py", "python", True),
        ("testing/a.py", "python", False),
        ("a/contest.py", "python", False),
        ("a_test.go", "go", True),
        ("test/a.go", "go", False),
        ("a.test.ts", "typescript", True),
        ("a.spec.tsx", "typescript", True),
        ("my.test.data/a.ts", "typescript", False),
        ("src/__tests__/a.ts", "typescript", True),
        ("tests/a.js", "javascript", False),
        ("src/test/java/A.java", "java", True),
        ("src/tests/A.java", "java", False),
        ("x/src/test/kotlin/A.kt", "kotlin", True),
        ("tests/a.rs", "rust", True),
        ("src/test.rs", "rust", False),
        ("a_test.cc", "cpp", True),
        ("test_a.c", "c", True),
        ("x/tests/a.h", "c", True),
        ("test/a.c", "c", False),
        ("tests/a.json", "json", False),
    ],
)
def test_tests_are_told_by_each_languages_conventions(path: str, language: str, expected: bool) -> None:
    """By the name of the file, or by a whole folder of the path."""
    assert is_test(path, language) is expected


def test_the_configuration_has_the_last_word_on_tests() -> None:
    """What it says to be none, then what it says to be one."""
    assert is_test("checks/a.py", "python", more=["checks/*"])
    assert not is_test("tests/a.py", "python", fewer=["tests/*"])
    assert not is_test("tests/a.py", "python", more=["tests/*"], fewer=["tests/a*"])


def test_placeholders_are_filled_or_their_keys_left_out() -> None:
    """Whole values, or paths and switches around them; a table that loses all its keys goes too."""
    template = {"a": "{python}", "b": {"c": "{gone}", "d": 1}, "e": {"f": "{gone}"}, "g": "{unknown}"}
    template |= {"h": "no {python}", "i": ["{python}"], "j": "{server}/lib", "k": "{gone}/lib", "l": {}}
    values = {"python": ["/p"], "gone": None, "server": "/s"}
    assert fill(template, values) == {"a": ["/p"], "b": {"d": 1}, "h": "no {python}", "i": ["{python}"], "j": "/s/lib", "l": {}}
    assert template["a"] == "{python}"
    assert fill_words(["x", "-data", "{server}", "--log={server}/log", "{gone}", "--x={gone}"], values) == [
        "x",
        "-data",
        "/s",
        "--log=/s/log",
    ]


# ---- what is on this machine


def _tool(path: Path, text: str = "echo tool 7.8.9") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with three empty places to look in: own/ (beside the interpreter), servers/ and path/."""
    _tool(tmp_path / "own" / "python")
    (tmp_path / "path").mkdir()
    monkeypatch.setattr(registry.sys, "executable", str(tmp_path / "own" / "python"))
    monkeypatch.setenv("LSPIDX_SERVERS_DIR", str(tmp_path / "servers"))
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "path"), "/bin", "/usr/bin"]))
    return tmp_path


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a table of one server, `x`, in the place of ours."""

    def put(**changes: str) -> None:
        monkeypatch.setattr(registry, "load_table", lambda: parse_table(_table(command="some-server", **changes), "table"))

    return put


def _install(places: Path, *, packages: str = '["x==1"]', text: str = "echo 2.0") -> Path:
    folder = places / "servers" / "x-1"
    tool = _tool(folder / "bin" / "some-server", text)
    _tool(folder / "bin" / "python")
    (folder / "complete.json").write_text(f'{{"ecosystem":"pip","packages":{packages}}}', encoding="utf-8")
    return tool


def test_our_own_environment_comes_before_our_folder_and_that_before_the_path(places: Path, only: Callable[..., None]) -> None:
    """What is pinned with us is what is started, then what the table pins."""
    only()
    on_path = _tool(places / "path" / "some-server")
    found = find_server("x")
    assert (found.command, found.version, found.source, found.folder) == ([str(on_path)], "7.8.9", "PATH", "")
    installed = _install(places)
    found = find_server("x")
    assert (found.command, found.version, found.source) == ([str(installed)], "1", "lspidx servers")
    assert found.placeholders() == {"server": str(places / "servers" / "x-1")}
    own = _tool(places / "own" / "some-server")
    found = find_server("x")
    assert (found.command, found.source, found.placeholders()) == ([str(own)], "lspidx environment", {"server": None})


@pytest.mark.parametrize("packages", ['["x==2"]', '["x==1","y==1"]', "[]", "3", ""])
def test_what_is_not_exactly_the_pinned_install_is_not_found(places: Path, only: Callable[..., None], packages: str) -> None:
    """Another version, another set of packages, a damaged marker."""
    only()
    _install(places, packages=packages)
    with pytest.raises(ServerMissing):
        find_server("x")


def test_an_environment_whose_interpreter_is_gone_is_not_found(places: Path, only: Callable[..., None]) -> None:
    """The scripts are there, but cannot run."""
    only()
    (_install(places).parent / "python").unlink()
    with pytest.raises(ServerMissing):
        find_server("x")


@pytest.mark.parametrize(
    ("text", "more", "pattern"),
    [
        ("echo 5.9.3", 'at_least = "7"', "'.*/path/some-server' is 5.9.3, at least 7 is needed; to get it: lspidx servers install x"),
        ("echo 6.10.0", 'at_least = "6.11"', "is 6.10.0, at least 6.11"),
        ("echo no such toolchain >&2; echo more >&2; exit 3", "", "ended with 3, 'no such toolchain'"),
    ],
)
def test_what_lies_on_the_path_may_be_too_old_or_unable_to_run(
    places: Path, only: Callable[..., None], text: str, more: str, pattern: str
) -> None:
    """It is passed over, and the message says why."""
    only(more=more)
    _tool(places / "path" / "some-server", text)
    with pytest.raises(ServerMissing, match=pattern):
        find_server("x")


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("some-server 1.2.3", "1.2.3"),
        ("Version 7.0.2", "7.0.2"),
        ("golang.org/x/tools/gopls v0.24.0", "0.24.0"),
        ("Ubuntu clangd version 22.1.1 (https://x 1)", "22.1.1"),
        ("some words", "unknown"),
    ],
)
def test_a_version_is_found_in_what_is_printed(places: Path, only: Callable[..., None], printed: str, version: str) -> None:
    """The first word that begins with a digit, or with v and a digit."""
    only()
    _tool(places / "path" / "some-server", f"echo '{printed}'")
    assert find_server("x").version == version


def test_what_was_installed_has_the_pinned_versions_whatever_it_prints(places: Path, only: Callable[..., None]) -> None:
    """But it has to run."""
    only()
    _install(places, text="echo 0.0.0")
    assert find_server("x").version == "1"
    _install(places, text="exit 1")
    with pytest.raises(ServerMissing, match="ended with 1"):
        find_server("x")


def test_a_server_without_a_version_command_has_the_version_that_was_installed(places: Path, only: Callable[..., None]) -> None:
    """Elsewhere it is unknown."""
    only()
    entry = _table(command="some-server").replace('version_command = ["some-server", "--version"]', "version_command = []")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "load_table", lambda: parse_table(entry, "table"))
        _tool(places / "path" / "some-server", "exit 1")
        assert find_server("x").version == "unknown"
        _install(places, text="exit 1")
        assert find_server("x").version == "1"


def test_the_program_behind_a_wrapper_is_started_where_it_is_there(places: Path, only: Callable[..., None]) -> None:
    """A script that only starts another program costs time and memory."""
    only(more='native = "platform-*/lib/some-server"')
    wrapper = _tool(places / "package" / "bin" / "some-server", "echo 1.0")
    (places / "path" / "some-server").symlink_to(wrapper)
    assert find_server("x").command[0] == str(places / "path" / "some-server")
    program = _tool(places / "package" / "platform-a" / "lib" / "some-server", "echo 2.0")
    found = find_server("x")
    assert (found.command[0], found.version) == (str(program), "2.0")


def test_a_missing_server_says_how_to_get_it(places: Path, only: Callable[..., None]) -> None:
    """By lspidx itself, or otherwise."""
    only(more='otherwise = "apt install x"')
    with pytest.raises(ServerMissing, match=r"no 'some-server' beside lspidx.* to get it: lspidx servers install x or apt install x"):
        find_server("x")


def test_a_fingerprint_depends_on_what_changes_answers() -> None:
    """Version, options, settings, environment; not on where the server lies."""
    spec = server_spec("ty")
    base = FoundServer(spec=spec, command=["/a/ty"], version="1", source="PATH")
    assert base.fingerprint == msgspec.structs.replace(base, command=["/b/ty"], source="x").fingerprint
    assert base.fingerprint != msgspec.structs.replace(base, version="2").fingerprint
    changes = [
        {"options": {"x": 1}},
        {"settings": {"x": 1}},
        {"environment": {"X": "1"}},
        {"name": "y"},
        {"open": "each"},
        {"command": ["a", "b"]},
    ]
    for change in changes:
        assert base.fingerprint != msgspec.structs.replace(base, spec=msgspec.structs.replace(spec, **change)).fingerprint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```python\n(A & B) | Divergent\n```", "```python\nA & B\n```"),
        ("```python\nDivergent | int\n```", "```python\nint\n```"),
        ("```python\n(A) | (B) | Divergent\n```\n---\ndoc", "```python\n(A) | (B)\n```\n---\ndoc"),
        ("```python\n(A, B)\n```", "```python\n(A, B)\n```"),
    ],
)
def test_the_mark_of_a_type_that_is_defined_by_itself_leaves_hovers(text: str, expected: str) -> None:
    """What depends on the order of the questions must not get into shards."""
    assert quirks.divergent_in_hover(text) == expected
