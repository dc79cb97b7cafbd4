"""Workspaces without a server: folders, packages, companions of servers, groups, settings by language."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from typing import cast

import msgspec
import pytest
from support import write_tree

from indexer.config import Config, load_config
from indexer.crawl.plan import choice, groups
from indexer.crawl.plan.companions import compile_commands, go_workspace, include_folders
from indexer.crawl.plan.survey import of_folder, survey, together
from indexer.crawl.pool import _next
from indexer.crawl.process import Task, Worker
from indexer.crawl.units import PlannedDocument, Unit
from indexer.drive.readiness import Readiness, probe_candidates
from indexer.errors import ConfigError, ServerMissing, UsageError
from indexer.lsp.session import Notification
from indexer.packages import Externals, ingredients_digest, own_packages
from indexer.prerequisites import Look, c
from indexer.servers.registry import FoundServer, load_table, server_spec
from indexer.syntax import parse
from indexer.workspace import find_folders, folder_of
from query.answers import advice


def _planned(*paths: str, language: str = "typescript") -> list[PlannedDocument]:
    return [PlannedDocument(path=path, language=language, digest="0", size_bytes=100) for path in paths]


# ---- folders


def test_further_folders_get_names_and_paths_that_lead_there_from_the_root(tmp_path: Path):
    """A folder is named by itself or as given; its prefix leads there from the root."""
    root = write_tree(tmp_path / "app", {"a.py": ""})
    write_tree(tmp_path / "libs" / "core", {"b.py": ""})
    write_tree(tmp_path / "other", {"c.py": ""})
    folders = find_folders(root, ["../libs/core", f"more={tmp_path / 'other'}"])
    assert [(folder.name, folder.prefix) for folder in folders] == [("app", ""), ("core", "../libs/core/"), ("more", "../other/")]
    assert folder_of("../other/c.py", folders).name == "more"
    assert folder_of("a.py", folders).name == "app"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["../nowhere"], "is not a folder"),
        ([".."], "holds the root"),
        (["inner"], "a part of the root"),
        (["../other", "twice=../other"], "overlaps"),
        (["../other", "other=../third"], "two workspace folders are called 'other'"),
    ],
)
def test_folders_that_cannot_be_are_refused(tmp_path: Path, wanted: list[str], message: str):
    """Each refusal says which folder and why."""
    root = write_tree(tmp_path / "app", {"inner/a.py": ""})
    write_tree(tmp_path, {"other/b.py": "", "third/c.py": ""})
    with pytest.raises(UsageError, match=message):
        find_folders(root, wanted)


def test_surveys_of_folders_join(tmp_path: Path):
    """Documents, skips and stamps of a further folder carry its prefix."""
    root = write_tree(tmp_path / "app", {"a.py": "x = 1\n"})
    library = write_tree(tmp_path / "lib", {"b.py": "y = 2\n", "bad.py": b"\0"})
    found = together(
        [
            survey(root, ["a.py"], Config(), languages={"python"}),
            of_folder(survey(library, ["b.py", "bad.py"], Config(), languages={"python"}), "../lib/"),
        ]
    )
    assert [document.path for document in found.documents] == ["a.py", "../lib/b.py"]
    assert [(item.path, str(item.reason)) for item in found.skipped] == [("../lib/bad.py", "binary")]
    assert set(found.folders) == {"", "../lib"}
    assert set(found.stamps) == {"a.py", "../lib/b.py", "../lib/bad.py"}


# ---- packages


@pytest.mark.parametrize(
    ("path", "key", "package"),
    [
        ("/w/node_modules/rxjs/dist/types/index.d.ts", "npm:rxjs@/dist/types/index.d.ts", ("npm", "rxjs", "")),
        ("/w/node_modules/@a/b/c.d.ts", "npm:@a/b@/c.d.ts", ("npm", "@a/b", "")),
        ("/x/node_modules/@typescript/typescript-linux-x64/lib/lib.d.ts", "npm:typescript@/lib/lib.d.ts", ("npm", "typescript", "")),
        ("/h/go/pkg/mod/gopkg.in/!ya!ml.v3@v3.0.1/decode.go", "go:gopkg.in/YaMl.v3@v3.0.1/decode.go", ("go", "gopkg.in/YaMl.v3", "v3.0.1")),
        ("/usr/local/go/src/fmt/print.go", "go:std/fmt/print.go", ("go", "std", "")),
        ("/h/.cargo/registry/src/index.crates.io-1/serde-1.0.2/src/lib.rs", "cargo:serde@1.0.2/src/lib.rs", ("cargo", "serde", "1.0.2")),
        ("/r/lib/rustlib/src/rust/library/core/src/clone.rs", "rust:core/src/clone.rs", ("rust", "core", "")),
        ("/usr/include/c++/12/vector", "system:include/c++/12/vector", ("system", "include", "")),
        ("/s/node_modules/intelephense/lib/stub/SPL/SPL.php", "php:SPL/SPL.php", ("composer", "php", "")),
        ("/w/vendor/acme/tool/src/Tool.php", "unknown:tool/src/Tool.php", ("", "", "")),  # Composer has not written that it is there
        ("/v/lib/python3.11/site-packages/six.py", "pip:six@/six.py", ("pip", "six", "")),
        ("/somewhere/else/entirely/x.ts", "unknown:else/entirely/x.ts", ("", "", "")),
    ],
)  # fmt: skip
def test_files_outside_are_named_by_package_and_never_by_machine(path: str, key: str, package: tuple[str, str, str]):
    """The same package has the same name on every machine and platform."""
    external = Externals().describe(path)
    assert external.key == key
    assert (external.manager, external.package, external.version) == package


def test_a_document_belongs_to_the_package_of_the_nearest_manifest(tmp_path: Path):
    """Nested packages own their files; a manifest without a name does not count, a file above all manifests is the workspace's."""
    root = write_tree(
        tmp_path / "mono",
        {
            "package.json": '{"private": true}',
            "packages/a/package.json": '{"name": "@m/a"}',
            "packages/a/test/package.json": '{"type": "module"}',
            "go/go.mod": "module example.com/go\n",
        },
    )
    paths = ["tool.ts", "packages/a/src/x.ts", "packages/a/test/y.ts"]
    found = own_packages(root, "typescript", paths)
    assert [(found[path][0].name, found[path][1]) for path in paths] == [
        ("workspace", "tool.ts"),
        ("@m/a", "src/x.ts"),
        ("@m/a", "test/y.ts"),
    ]
    assert own_packages(root, "go", ["go/b/c.go"])["go/b/c.go"] == (("go", "example.com/go", ""), "b/c.go")
    assert own_packages(root, "bash", ["x.sh"])["x.sh"][0].name == "workspace"


@pytest.mark.parametrize(
    ("language", "manifest", "text", "source"),
    [
        ("go", "go.mod", "module example\n", "main.go"),
        ("typescript", "package.json", '{"name": "example"}', "src/main.ts"),
        ("rust", "Cargo.toml", '[package]\nname = "example"\n', "src/main.rs"),
    ],
)
def test_packages_of_one_name_have_symbols_of_their_own(tmp_path: Path, language: str, manifest: str, text: str, source: str):
    """charmbracelet/x has eighteen examples, each `module example`: six functions of six programs were one symbol."""
    paths = [f"examples/{one}/{source}" for one in "ab"]
    root = write_tree(tmp_path, {f"examples/{one}/{manifest}": text for one in "ab"})
    assert {path: (owner.name, place) for path, (owner, place) in own_packages(root, language, paths).items()} == {
        path: ("example", path) for path in paths
    }
    write_tree(root, {f"lib/{manifest}": text})
    found = own_packages(root, language, [*paths, f"lib/{source}"])
    assert found[f"lib/{source}"][1] == source, "the uppermost keeps its name"
    assert [found[path][1] for path in paths] == paths
    assert own_packages(root, language, paths[:1])[paths[0]][1] == source, "alone it is as ever"


def test_manifests_and_lock_files_are_ingredients(tmp_path: Path):
    """A change of a tsconfig or of what npm has installed makes another digest; a change of a source does not."""
    root = write_tree(tmp_path, {"tsconfig.json": "{}", "a.ts": "1"})
    before = ingredients_digest(root, ["a.ts", "tsconfig.json"])
    write_tree(root, {"a.ts": "2"})
    assert ingredients_digest(root, ["a.ts", "tsconfig.json"]) == before
    write_tree(root, {"node_modules/.package-lock.json": "{}"})
    installed = ingredients_digest(root, ["a.ts", "tsconfig.json"])
    assert installed != before
    write_tree(root, {"tsconfig.json": '{"strict": true}'})
    assert ingredients_digest(root, ["a.ts", "tsconfig.json"]) != installed


# ---- companions


def test_clangd_gets_a_database_outside_the_repository(tmp_path: Path):
    """The project's own is copied; compile_flags.txt becomes one; without either it is a guess that says so."""
    root = write_tree(tmp_path / "c", {"src/a.c": "", "lib/include/b.h": ""})
    cache = tmp_path / "cache"
    cache.mkdir()
    documents = _planned("src/a.c", "lib/include/b.h", language="c")

    def arguments() -> list[str]:
        (entry,) = json.loads((cache / "compile_commands.json").read_text())
        assert (entry["directory"], entry["file"]) == (str(root), str(root / "src/a.c"))
        return entry["arguments"]

    assert compile_commands(root, documents, cache, [item.path for item in documents]).startswith("guessed")
    assert f"-I{root / 'lib/include'}" in arguments()
    write_tree(root, {"compile_flags.txt": "-std=c11\n\n-DX\n"})
    assert compile_commands(root, documents, cache, [item.path for item in documents]) == "compile_flags.txt"
    assert arguments()[1:3] == ["-std=c11", "-DX"]
    write_tree(root, {"build/compile_commands.json": "[]"})
    assert compile_commands(root, documents, cache, [item.path for item in documents]) == "build/compile_commands.json"
    assert (cache / "compile_commands.json").read_text() == "[]"
    assert sorted(path.name for path in root.iterdir()) == ["build", "compile_flags.txt", "lib", "src"]


def test_include_folders_are_those_that_the_includes_lead_to():
    """A header beside the file needs none; where two folders have one of that name, the one that serves more is meant, then the nearer."""
    includes = {
        "src/a.c": ["a.h", "lib/util.h", "stdio.h", "config.h"],
        "src/deep/b.c": ["lib/util.h", "lib/more.h", "config.h"],
        "test/t.c": ["../src/a.h", "a.h"],
    }
    paths = ["src/a.h", "vendor/lib/util.h", "vendor/lib/more.h", "old/lib/util.h", "src/config.h", "test/config.h", *includes]
    assert include_folders(includes, paths) == ["vendor", "src", ""]
    assert include_folders(includes, reversed(paths)) == ["vendor", "src", ""]


def test_what_stands_in_for_headers_of_the_system_comes_behind_them(tmp_path: Path):
    """As jemalloc has a strings.h for Windows: no include of that name leads there, and a folder that has one for another hides none."""
    includes = {"src/a.c": ["strings.h", "stdint.h", "compat.h"]}
    paths = ["compat/strings.h", "compat/compat.h", "compat/C99/stdint.h", *includes]
    assert include_folders(includes, paths) == ["compat", ""]
    root = write_tree(tmp_path / "app", {"src/a.c": "#include <strings.h>\n#include <compat.h>\n"})
    cache = tmp_path / "cache"
    cache.mkdir()
    compile_commands(root, _planned("src/a.c", language="c"), cache, paths)
    (entry,) = json.loads((cache / "compile_commands.json").read_text())
    assert f"-idirafter{root / 'compat'}" in entry["arguments"]
    assert f"-I{root / 'src'}" in entry["arguments"]


def test_go_modules_side_by_side_get_a_go_work(tmp_path: Path):
    """The newest language version of the modules holds; one module, or a go.work of the root, needs none."""
    root = write_tree(tmp_path / "app", {"go.mod": "module a\n\ngo 1.9\n"})
    write_tree(tmp_path / "lib", {"go.mod": "module b\n\ngo 1.22.1\n"})
    cache = tmp_path / "cache"
    cache.mkdir()
    environment = {"HOME": str(tmp_path / "home")}

    def made(*folders: str) -> str:
        found = go_workspace(find_folders(root, folders), ["go.mod"], cache, environment)
        return Path(found.variables["GOWORK"]).read_text() if "GOWORK" in found.variables else ""

    assert made() == ""
    text = made("../lib")
    assert "go 1.22.1\n" in text
    assert f"\t{root}\n" in text
    write_tree(root, {"go.work": "go 1.22\n"})
    assert made("../lib") == ""


# ---- groups


def _found(name: str, avoid: object = ()) -> FoundServer:
    return FoundServer(spec=server_spec(name), command=[f"/bin/{name}"], version="1", source="tests", folder="/servers")


def test_languages_that_share_a_server_are_one_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """TypeScript and JavaScript go together; a language without a server is read for its text, and said so."""
    here = {"ts7": _found("ts7"), "ty": _found("ty")}

    def find(name: str, avoid: object = ()) -> FoundServer:
        if name not in here:
            raise ServerMissing(f"{name}: not here")
        return here[name]

    monkeypatch.setattr(choice, "find_server", find)
    root = write_tree(tmp_path / "mixed", {"package.json": '{"name": "mixed"}'})
    documents = [
        *_planned("a.ts", "b.test.ts"),
        *_planned("c.js", language="javascript"),
        *_planned("d.py", language="python"),
        *_planned("e.go", language="go"),
        *_planned("f.kt", language="kotlin"),
        *_planned("g.nix", language="nix"),
    ]
    found = groups.group(find_folders(root, []), [item.path for item in documents], documents, Config(), {})
    by_server = {item.server.spec.name: [document.path for document in item.documents] for item in found.groups}
    assert by_server == {"ts7": ["a.ts", "b.test.ts", "c.js"], "ty": ["d.py"], "none": ["e.go", "f.kt"]}
    assert set(found.missing) == {"go", "kotlin", "nix"}
    assert [(item.path, str(item.reason)) for item in found.skipped] == [("g.nix", "no_server")]
    first, test = next(item for item in found.groups if item.server.spec.name == "ts7").documents[:2]
    assert (first.package, first.module, first.place, first.is_test) == (("npm", "mixed", ""), "a", "a.ts", False)
    assert test.is_test


def test_no_server_at_all_is_an_error_that_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """There is nothing to publish then."""

    def find(name: str, avoid: object = ()) -> FoundServer:
        raise ServerMissing(f"{name}: to get it: lspidx servers install {name}")

    monkeypatch.setattr(choice, "find_server", find)
    with pytest.raises(ServerMissing, match="lspidx servers install gopls"):
        groups.group(find_folders(tmp_path, []), ["a.go"], _planned("a.go", language="go"), Config(), {})


def test_a_language_is_switched_off_or_given_another_server_by_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`language.NAME.server` holds for that language alone, `server` for those that it serves."""
    monkeypatch.setattr(choice, "find_server", _found)
    write_tree(
        tmp_path,
        {"lspidx.toml": 'server = "pyrefly"\nlanguage.go.server = "none"\nlanguage.typescript.server = "typescript-language-server"\n'},
    )
    config = load_config(tmp_path, environment={}, user_dir=tmp_path / "none")
    documents = [*_planned("a.ts"), *_planned("b.go", language="go"), *_planned("c.py", language="python")]
    found = groups.group(find_folders(tmp_path, []), [], documents, config, {})
    assert {item.server.spec.name for item in found.groups} == {"typescript-language-server", "pyrefly"}
    assert [(item.path, str(item.reason)) for item in found.skipped] == [("b.go", "excluded")]


def test_settings_of_a_language_merge_key_by_key(tmp_path: Path):
    """A project adds to what the user has set; an unknown key is refused with its place."""
    user = write_tree(tmp_path / "u", {"config.toml": "[language.go]\ntimeout_s = 5.0\noptions = { a = 1, deep = { b = 2 } }\n"})
    root = write_tree(tmp_path / "r", {"lspidx.toml": "[language.go]\nmemory_mb = 7\noptions = { deep = { c = 3 } }\n"})
    config = load_config(root, environment={"LSPIDX_TRUST": "full"}, user_dir=user)
    go = config.of_language("go")
    assert (go.timeout_s, go.memory_mb, go.options) == (5.0, 7, {"a": 1, "deep": {"b": 2, "c": 3}})
    assert config.of_language("rust").options == {}
    write_tree(root, {"lspidx.toml": "[language.go]\nmemry_mb = 7\n"})
    with pytest.raises(ConfigError, match="memry_mb"):
        load_config(root, environment={}, user_dir=user)


def _lane_task(name: str, lane: str = "") -> Task:
    return Task(Unit(name=name, fingerprint="", documents=[]), 0, Path(name), lane=lane)


def test_units_of_one_lane_go_to_one_worker_and_the_others_to_anybody():
    """A server that must load the whole project is started once; whoever has it goes on with it first."""
    one, two = cast("Worker", "one"), cast("Worker", "two")
    queue = deque([_lane_task("rust-0", "rust"), _lane_task("py-0"), _lane_task("rust-1", "rust"), _lane_task("py-1")])
    held: dict[str, Worker] = {}

    def take(worker: Worker) -> str | None:
        task = _next(queue, worker, held)
        if task is not None and task.lane:
            held[task.lane] = worker
        return task.unit.name if task else None

    assert [take(one), take(two), take(one), take(two)] == ["rust-0", "py-0", "rust-1", "py-1"]
    queue.append(_lane_task("rust-2", "rust"))
    assert take(two) is None
    del held["rust"]  # the worker that had it has ended
    assert take(two) == "rust-2"


def test_a_server_whose_project_is_one_lane_may_go_on_from_unit_to_unit():
    """Else each of its units would load the whole project again."""
    assert [name for name, spec in load_table().server.items() if not spec.split and spec.fresh] == []


# ---- readiness


def _said(method: str, **params: object) -> Notification:
    return Notification(method, msgspec.Raw(msgspec.json.encode(params)))


def test_progress_is_over_when_the_right_one_began_and_all_have_ended():
    """Another server's progress, or one of two that still runs, is no readiness."""
    readiness = Readiness("progress", "^Setting up", "", {})
    readiness.notified(_said("$/progress", token=1, value={"kind": "begin", "title": "Other"}))
    readiness.notified(_said("$/progress", token=1, value={"kind": "end"}))
    assert (readiness.begun, readiness.ready) == (True, False)
    readiness.notified(_said("$/progress", token="a", value={"kind": "begin", "title": "Setting up workspace"}))
    readiness.notified(_said("$/progress", token="b", value={"kind": "begin", "title": "More"}))
    readiness.notified(_said("$/progress", token="a", value={"kind": "end"}))
    assert not readiness.ready
    readiness.notified(_said("$/progress", token="b", value={"kind": "end"}))
    assert readiness.ready


def test_a_notification_says_ready_by_its_values():
    """Equal values, or a text that the wanted one is a pattern of; what is strange is passed over."""
    status = Readiness("notification", "", "experimental/serverStatus", {"quiescent": True})
    status.notified(_said("experimental/serverStatus", quiescent=False))
    assert (status.begun, status.ready) == (True, False)
    status.notified(Notification("experimental/serverStatus", msgspec.Raw(b"[1]")))
    status.notified(_said("experimental/serverStatus", quiescent=True))
    assert (status.ready, status.reloads) == (True, False)
    status.notified(_said("experimental/serverStatus", health="ok"))
    assert not status.reloads
    status.notified(_said("experimental/serverStatus", quiescent=False))
    assert (status.ready, status.reloads) == (True, True)
    status.notified(_said("experimental/serverStatus", quiescent=True))
    assert not status.reloads
    log = Readiness("notification", "", "window/logMessage", {"message": "Analysis: Completed"})
    log.notified(_said("window/logMessage", message="12:00 BackgroundAnalysis: Completed after 1 s"))
    log.notified(_said("window/logMessage", message="12:01 something else"))
    assert (log.ready, log.reloads) == (True, False)


def test_the_probe_asks_only_what_the_file_itself_can_answer():
    """A name that the file defines once at its top, used elsewhere; not one that it defines twice, nor a member."""
    go = parse("go", "a.go", b"package a\n\ntype T struct{}\n\nfunc f() T { return T{} }\n", "a")
    assert {go.tokens.name[token] for token in probe_candidates(go)} == {"T"}
    source = b"""
        import { far } from './far';
        class Near { near() { return far(); } }
        function twice() { return new Near(); }
        function other() { return new Near().near(); }
        """
    typescript = parse("typescript", "a.ts", source, "a")
    assert {typescript.tokens.name[token] for token in probe_candidates(typescript)} <= {"Near"}
    listed = parse("python", "a.py", b"__all__ = ['first', 'second']\n\ndef first(): ...\n\ndef second(): return first()\n", "a")
    assert [listed.tokens.line[token] for token in probe_candidates(listed)] == [4], "no server places a name in a string"


WITHOUT_HEADERS = """#include <Absent.h>
static Handle *mask(Handle *self, Handle *given)
{
    int size = 0;
    if (!absent_parse(given, &size)) { return NULL; }
    for (int i = 0; i < size; i++) { size += i; }
    return absent_of(size);
}
static ABSENT_METHODS methods[] = { {"mask", mask, ABSENT_FLAG, ""}, {NULL, NULL, 0, NULL} };
ABSENT_INIT made(void) { return absent_make(methods); }
"""


def test_a_server_that_reads_each_file_alone_is_asked_for_local_names_too():
    """Without its headers a compiler may know no name of a file's top."""
    parsed = parse("c", "a.c", WITHOUT_HEADERS.encode(), "a")
    top = probe_candidates(parsed)
    assert top
    more = probe_candidates(parsed, alone=True)
    assert more[: len(top)] == top
    assert {parsed.tokens.name[token] for token in more[len(top) :]} <= {"given", "size", "i"}
    assert len(more) > len(top)
    assert load_table().server["clangd"].alone
    assert not probe_candidates(parse("c", "a.c", b"int f(int a) { return a; }", "a"), alone=True), (
        "no name of its top is used: nothing is to be proved"
    )


def test_every_language_that_is_crawled_can_be_read():
    """A language of the table has a syntax of its own, or the general one."""
    for language, spec in load_table().language.items():
        if spec.crawl == "full":
            ending = (spec.extensions or [".x"])[0]
            syntax = parse(language, f"file{ending}", b"name = other(1)\n", "file")
            assert syntax.symbols[0].name == "file", language


def test_a_missing_compilation_database_is_said_where_something_is_compiled(tmp_path: Path):
    """The remedy is that of the build; fixtures and tests in C are no build."""

    def lacking(*paths: str) -> list[str]:
        look = Look(root=tmp_path, paths=paths, languages=frozenset({"c"}), environment={}, fetched=tmp_path / "fetched")
        return [item.remedy for item in c.find(look)]

    assert lacking("tests/fixtures/a.c", "testdata/b.c", "examples/c.c") == []
    assert lacking("src/a.c")[0].startswith("bear -- make")
    write_tree(tmp_path, {"setup.py": ""})
    assert lacking("src/a.c") == ["bear -- pip install --no-build-isolation -e ."], "no make builds it"
    write_tree(tmp_path, {"configure.ac": ""})
    assert lacking("src/a.c") == ["autoreconf -i && ./configure && bear -- make"]
    write_tree(tmp_path, {"CMakeLists.txt": ""})
    assert lacking("src/a.c") == ["cmake -S . -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    write_tree(tmp_path, {"build/compile_commands.json": "[]"})
    assert lacking("src/a.c") == []


@pytest.mark.parametrize(
    ("numbers", "share"), [({}, ""), ({"identifiers": 0}, ""), ({"identifiers": 4, "unresolved_behind_imports": 1}, "25 %")]
)
def test_what_is_lacking_is_said_of_a_language_without_a_name(numbers: dict[str, int], share: str):
    """Files that hold no identifier (`package c`) beside a manifest whose packages are missing ended `index` with an internal error."""
    item = {"language": "go", "detail": "1 module is missing", "remedy": "go mod download", "can_fetch": True}
    (line,) = advice.lacking({"prerequisites": [item], "resolution": {"go": numbers}})
    assert line.startswith("go: 1 module is missing")
    assert share in line
    assert bool(share) == ("unresolved" in line)


def test_types_that_are_lacking_may_be_behind_all_that_is_unresolved():
    """Scripts require packages, and tests find `describe` in the air: no import is unresolved for it."""
    numbers = {"identifiers": 100, "unresolved": 31, "unresolved_behind_imports": 0}
    item = {"language": "javascript", "name": "types", "detail": "no types", "remedy": "npm install @types/node", "can_fetch": True}
    (line,) = advice.lacking({"prerequisites": [item], "resolution": {"javascript": numbers}})
    assert "; up to 31 % of the javascript identifiers are unresolved for it; to get it: lspidx index --fetch, or: npm install" in line
