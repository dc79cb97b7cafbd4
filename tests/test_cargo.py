"""Cargo workspaces read without cargo: versions, platforms, manifests, resolution, the project file, what is missing, what is fetched."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support import Watcher, rows, write_tree
from toolchains import requires

from indexer.cargo.disk import Registry, survey
from indexer.cargo.linked import COPIES, find_crates, link, lone_crates
from indexer.cargo.lock import parse_lock
from indexer.cargo.platform import applies, platform_of
from indexer.cargo.resolve import Graph, resolve
from indexer.cargo.toolchain import find_toolchain
from indexer.cargo.versions import allows
from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.model import Trust
from indexer.prerequisites import Look, rust, rust_sources
from indexer.prerequisites.fetch import fetch
from indexer.servers.grants import fetched_places
from indexer.servers.registry import server_spec

LINUX = platform_of("linux", "x86_64", "glibc")


@pytest.mark.parametrize(
    ("requirement", "version", "expected"),
    [
        ("1.2", "1.9.0", True),
        ("1.2", "2.0.0", False),
        ("1.2", "1.1.9", False),
        ("0.3.1", "0.3.9", True),
        ("0.3.1", "0.4.0", False),
        ("0.0.3", "0.0.4", False),
        ("0.0", "0.0.4", True),
        ("0", "0.9.0", True),
        ("~1.2", "1.3.0", False),
        ("=1.2.3", "1.2.4", False),
        ("1.*", "1.9.0", True),
        ("1.2.*", "1.3.0", False),
        ("*", "7.0.0", True),
        ("", "7.0.0", True),
        (">=1.2, <1.5", "1.4.9", True),
        (">=1.2, <1.5", "1.5.0", False),
        (">1", "1.5.0", False),
        (">1", "2.0.0", True),
        ("1.0", "1.1.0-rc.1", False),
        ("1.0.0-rc.1", "1.0.0-rc.2", True),
    ],
)
def test_requirements_allow_what_cargo_allows(requirement: str, version: str, expected: bool) -> None:
    """Carets up to the first number that is not zero, tildes, wildcards, comparisons, pre-releases only where one is named."""
    assert allows(requirement, version) is expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("", True),
        ("cfg(unix)", True),
        ("cfg(windows)", False),
        ('cfg(all(unix, not(target_os = "macos")))', True),
        ('cfg(any(windows, target_arch = "x86_64"))', True),
        ("cfg(any())", False),
        ("cfg(all())", True),
        ('cfg(not(target_has_atomic = "ptr"))', False),
        ("x86_64-unknown-linux-gnu", True),
        ("x86_64-pc-windows-msvc", False),
        ("cfg(all(unix", True),
    ],
)
def test_conditions_on_platforms_hold_as_rustc_says(target: str, expected: bool) -> None:
    """One that cannot be read holds: a dependency too many loses nothing."""
    assert applies(target, LINUX) is expected


WORKSPACE = {
    "Cargo.toml": """
        [workspace]
        members = ["crates/*"]
        exclude = ["fuzz"]
        [workspace.package]
        edition = "2024"
        version = "1.4.0"
        [workspace.dependencies]
        base-lib = { path = "crates/base" }
        outer = { version = "2", default-features = false, features = ["a"] }
        """,
    "crates/base/Cargo.toml": """
        [package]
        name = "base-lib"
        edition.workspace = true
        version.workspace = true
        [features]
        default = ["std"]
        std = ["outer?/extra"]
        net = ["dep:outer"]
        more = []
        [dependencies]
        outer = { workspace = true, optional = true }
        [dev-dependencies]
        app = { path = "../app" }
        """,
    "crates/base/src/lib.rs": "pub fn base() {}\n",
    "crates/app/Cargo.toml": """
        [package]
        name = "app"
        edition = "2021"
        [lib]
        name = "app_core"
        [[bin]]
        name = "tool"
        path = "cmd/tool.rs"
        [dependencies]
        renamed = { package = "base-lib", path = "../base", features = ["net", "more"] }
        [target.'cfg(windows)'.dependencies]
        winapi = "0.3"
        """,
    "crates/app/src/lib.rs": "pub use renamed::base;\n",
    "crates/app/cmd/tool.rs": "fn main() { app_core::base(); }\n",
    "crates/app/src/bin/second-tool.rs": "fn main() {}\n",
    "crates/app/tests/it/main.rs": "#[test] fn t() { renamed::base(); }\n",
    "crates/app/build.rs": "fn main() {}\n",
    "fuzz/Cargo.toml": "[package]\nname = 'fuzz'\nversion = '0.1.0'\n[workspace]\n[dependencies]\napp = { path = '../crates/app' }\n",
    "fuzz/src/main.rs": "fn main() { app_core::base(); }\n",
    "vendor/old/Cargo.toml": "[package]\nname = 'old'\nversion = '0.1.0'\n",
    "vendor/old/.cargo-checksum.json": "{}",
    "testdata/broken/Cargo.toml": "[package\n",
}
LOCK = """
version = 4

[[package]]
name = "app"
version = "0.0.0"
dependencies = [
 "base-lib",
 "winapi",
]

[[package]]
name = "base-lib"
version = "1.4.0"
dependencies = [
 "app",
 "outer 2.1.0",
]

[[package]]
name = "outer"
version = "1.0.0"
source = "registry+https://example.invalid/index"

[[package]]
name = "outer"
version = "2.1.0"
source = "registry+https://example.invalid/index"

[[package]]
name = "winapi"
version = "0.3.9"
source = "registry+https://example.invalid/index"
"""


def _outer(version: str, home: Path) -> None:
    manifest = f"[package]\nname = 'outer'\nversion = '{version}'\n[features]\na = []\nextra = []\ndefault = ['extra']\n"
    write_tree(
        home / f"registry/src/index-1/outer-{version}", {"Cargo.toml": manifest, "src/lib.rs": "pub fn outer() {}\n", ".cargo-ok": ""}
    )


def _repository(root: Path, *, locked: bool = True) -> tuple[Path, list[str]]:
    files = {**WORKSPACE, **({"Cargo.lock": LOCK} if locked else {})}
    return write_tree(root, files), sorted(files)


def _graph(root: Path, paths: list[str], home: Path) -> Graph:
    found = survey(root, paths)
    return resolve(found.packages, found.workspaces, Registry(str(home)), LINUX)


def _project(root: Path, paths: list[str], home: Path) -> dict[str, Mapping[str, Any]]:
    linked = link(find_crates(root, paths, {"CARGO_HOME": str(home), "PATH": ""}))
    crates = json.loads(linked.project)["crates"]
    return {
        f"{Path(item['root_module']).relative_to(root) if Path(item['root_module']).is_relative_to(root) else item['display_name']}": {
            **item,
            "deps": {dep["name"]: crates[dep["crate"]]["display_name"] for dep in item["deps"]},
        }
        for item in crates
    }


def test_members_targets_and_what_is_inherited_are_read_from_the_manifests(tmp_path: Path) -> None:
    """Named and found targets, renamed ones, excluded folders as workspaces of their own; vendored and broken manifests are none."""
    root, paths = _repository(tmp_path)
    found = survey(root, paths)
    named = {item.name: item for item in found.packages}
    assert {name: Path(item.workspace).relative_to(root).as_posix() for name, item in named.items()} == {
        "base-lib": ".",
        "app": ".",
        "fuzz": "fuzz",
    }
    assert (named["base-lib"].edition, named["base-lib"].version, named["app"].edition, named["fuzz"].edition) == (
        "2024",
        "1.4.0",
        "2021",
        "2015",
    )
    assert [(item.kind, item.name, item.path) for item in named["app"].targets] == [
        ("lib", "app_core", "src/lib.rs"),
        ("bin", "tool", "cmd/tool.rs"),
        ("bin", "second_tool", "src/bin/second-tool.rs"),
        ("test", "it", "tests/it/main.rs"),
        ("build", "build_script_build", "build.rs"),
    ]


def test_a_lock_file_says_which_of_several_versions_a_package_has() -> None:
    """Cargo names the version only where there are several."""
    lock = parse_lock(LOCK)
    assert [(item.name, item.version) for item in lock.candidates("base-lib", "1.4.0", "outer")] == [("outer", "2.1.0")]
    assert lock.candidates("app", "0.0.0", "outer") == []


def test_features_are_those_that_anybody_asks_for(tmp_path: Path) -> None:
    """Defaults, a dependency's own wishes, `dep:`, and `package?/feature` for what is switched on elsewhere; by the locked version."""
    root, paths = _repository(tmp_path / "work")
    home = tmp_path / "home"
    for version in ("1.0.0", "2.0.0", "2.1.0"):
        _outer(version, home)
    graph = _graph(root, paths, home)
    by_name = {Path(folder).name: features for folder, features in graph.features.items()}
    assert by_name["base"] == {"default", "std", "net", "more"}
    assert by_name["outer-2.1.0"] == {"a", "extra"}  # default-features = false, and extra by the weak wish
    assert "outer-1.0.0" not in by_name
    assert "outer-2.0.0" not in by_name
    assert graph.missing(str(root)) == []  # winapi is for another platform


def test_a_weak_wish_switches_nothing_on_but_for_cargo_metadata(tmp_path: Path) -> None:
    """`cargo metadata` wants more crates than are compiled; that it cannot be used must be known before it is."""
    files = {
        "Cargo.toml": "[package]\nname='a'\nversion='1.0.0'\n[features]\ndefault=['o?/x']\n[dependencies]\no={version='1',optional=true}\n",
        "src/lib.rs": "",
    }
    root = write_tree(tmp_path, files)
    found = survey(root, sorted(files))
    strict = resolve(found.packages, found.workspaces, Registry(str(tmp_path / "home")), LINUX)
    wide = resolve(found.packages, found.workspaces, Registry(str(tmp_path / "home")), LINUX, as_metadata=True)
    assert (strict.missing(str(root)), wide.missing(str(root))) == ([], ["o"])


def test_own_crates_join_though_nothing_was_downloaded(tmp_path: Path) -> None:
    """Each target knows its own library, what its package depends on by the name that code uses, and no cycle is made."""
    root, paths = _repository(tmp_path / "work")
    crates = _project(root, paths, tmp_path / "nothing")
    assert crates["crates/app/src/lib.rs"]["deps"] == {"renamed": "base_lib"}
    assert crates["crates/app/cmd/tool.rs"]["deps"] == {"app_core": "app_core", "renamed": "base_lib"}
    assert crates["crates/app/tests/it/main.rs"]["deps"] == {"app_core": "app_core", "renamed": "base_lib"}
    assert crates["crates/app/build.rs"]["deps"] == {}
    assert crates["crates/base/src/lib.rs"]["deps"] == {}  # app, for its tests, leads back to it
    assert crates["fuzz/src/main.rs"]["deps"] == {"app_core": "app_core"}
    assert crates["crates/base/src/lib.rs"]["cfg"] == ['feature="default"', 'feature="more"', 'feature="net"', 'feature="std"']
    assert crates["crates/base/src/lib.rs"]["edition"] == "2024"
    assert crates["crates/app/src/lib.rs"]["env"]["CARGO_PKG_NAME"] == "app"


def test_crates_that_are_on_this_machine_are_used_though_others_are_not(tmp_path: Path) -> None:
    """A registry that holds a part of what is needed."""
    root, paths = _repository(tmp_path / "work")
    _outer("2.1.0", tmp_path / "home")
    crates = _project(root, paths, tmp_path / "home")
    assert crates["crates/base/src/lib.rs"]["deps"] == {"outer": "outer"}
    assert crates["outer"]["is_workspace_member"] is False


def test_cargo_is_asked_only_where_it_can_answer_offline(tmp_path: Path) -> None:
    """All that is needed here, and a lock file that it need not write; the other workspace has none, and gets a project file."""
    root, paths = _repository(tmp_path / "work")
    environment = {"CARGO_HOME": str(tmp_path / "home"), "PATH": ""}
    before = link(find_crates(root, paths, environment))
    assert (before.manifests, before.why) == ([], "1 of 1 crates that are needed are not downloaded")
    _outer("2.1.0", tmp_path / "home")
    after = link(find_crates(root, paths, environment))
    assert after.manifests == [str(root / "Cargo.toml")]
    assert "fuzz" in after.project
    assert after.why == "there is no Cargo.lock, and cargo would write one"
    assert before.digest != after.digest  # a download is a reason to crawl again
    other, _ = _repository(tmp_path / "elsewhere" / "work")
    _outer("2.1.0", tmp_path / "elsewhere" / "home")
    moved = link(find_crates(other, paths, {"CARGO_HOME": str(tmp_path / "elsewhere" / "home"), "PATH": ""}))
    assert moved.digest == after.digest  # another place is none: facts travel


def test_a_patch_leads_to_the_package_in_the_repository(tmp_path: Path) -> None:
    """Also from a crate that was downloaded, and without a lock file."""
    home = tmp_path / "home"
    files = {
        "Cargo.toml": "[workspace]\nmembers=['a','b']\n[patch.crates-io]\na={path='a'}\n",
        "a/Cargo.toml": "[package]\nname='a'\nversion='1.0.0'\n",
        "a/src/lib.rs": "",
        "b/Cargo.toml": "[package]\nname='b'\nversion='1.0.0'\n[dependencies]\nc='1'\n",
        "b/src/lib.rs": "",
    }
    manifest = "[package]\nname='c'\nversion='1.0.0'\n[dependencies]\na='1'\n"
    write_tree(home / "registry/src/i/c-1.0.0", {"Cargo.toml": manifest, "src/lib.rs": ""})
    write_tree(home / "registry/src/i/a-1.5.0", {"Cargo.toml": "[package]\nname='a'\nversion='1.5.0'\n", "src/lib.rs": ""})
    root = write_tree(tmp_path / "work", files)
    graph = _graph(root, sorted(files), home)
    assert [edge.to for edge in graph.edges[str(home / "registry/src/i/c-1.0.0")]] == [str(root / "a")]


# ---- the toolchain


def _rustup(folder: Path, *toolchains: str) -> dict[str, str]:
    """A machine with rustup and these toolchains, the first as its default."""
    files = {"bin/rustup": "", "home/settings.toml": f'default_toolchain = "{toolchains[0]}"\n'}
    files |= {f"home/toolchains/{name}/bin/rustc": "" for name in toolchains}
    write_tree(folder, files)
    (folder / "bin/rustup").chmod(0o755)
    (folder / "bin/rustc").symlink_to("rustup")
    return {"PATH": str(folder / "bin"), "RUSTUP_HOME": str(folder / "home"), "CARGO_HOME": str(folder / "cargo"), "RUST_SRC_PATH": ""}


def test_the_toolchain_is_the_one_that_rustup_would_choose(tmp_path: Path) -> None:
    """What a file above names, else the default; one that is not installed is said, and the default taken."""
    environment = _rustup(tmp_path / "rust", "stable-x", "1.80.0-x")
    root = write_tree(tmp_path / "work", {"a/Cargo.toml": ""})
    assert Path(find_toolchain(root, environment).folder).name == "stable-x"
    write_tree(root, {"rust-toolchain": "1.80.0\n"})
    assert Path(find_toolchain(root / "a", environment).folder).name == "1.80.0-x"
    write_tree(root, {"rust-toolchain.toml": "[toolchain]\nchannel = '1.99'\n", "rust-toolchain": "1.99"})
    found = find_toolchain(root, environment)
    assert (Path(found.folder).name, found.absent, found.instead) == ("stable-x", "1.99", "stable-x")
    assert find_toolchain(root, {"PATH": str(tmp_path)}).folder == ""


def test_no_toolchain_lies_in_the_repository(tmp_path: Path) -> None:
    """Its rustc would be executed: neither a path in the place of a channel, nor a program that PATH leads to there."""
    environment = _rustup(tmp_path / "rust", "stable-x")
    root = write_tree(tmp_path / "work", {"evil/bin/rustc": "", "evil/lib/rustlib/x": ""})
    (root / "evil/bin/rustc").chmod(0o755)
    for name, text in (("rust-toolchain.toml", f"[toolchain]\nchannel = '{root}/evil'\n"), ("rust-toolchain", f"{root}/evil\n")):
        (root / name).write_text(text, encoding="utf-8")
        assert Path(find_toolchain(root, environment).folder).name == "stable-x"
        (root / name).unlink()
    inside = {**environment, "PATH": f"{root}/evil/bin:{environment['PATH']}"}
    assert Path(find_toolchain(root, inside).folder).name == "stable-x"


def test_a_standard_library_of_another_version_is_used_and_said(tmp_path: Path) -> None:
    """Its own where that is there; else another one, whose version is told with what is lacking."""
    environment = _rustup(tmp_path / "rust", "stable-x")
    other = write_tree(tmp_path / "rustc-1.2.3/library", {"core/src/lib.rs": ""})
    files = {"Cargo.toml": "[package]\nname='a'\nversion='1.0.0'\n", "src/lib.rs": "", "Cargo.lock": ""}
    root = write_tree(tmp_path / "work", files)
    look = _look(root, sorted(files), {**environment, "RUST_SRC_PATH": str(other)}, tmp_path / "fetched")
    [lacking] = rust.find(look)
    assert (lacking.name, lacking.remedy) == ("rust-src", "rustup component add rust-src")
    assert "1.2.3" in lacking.detail
    write_tree(tmp_path / "rust/home/toolchains/stable-x/lib/rustlib/src/rust/library", {"core/src/lib.rs": ""})
    assert rust.find(_look(root, sorted(files), environment, tmp_path / "fetched")) == []


def test_a_file_that_no_package_holds_is_a_crate_of_its_own(tmp_path: Path) -> None:
    """Told of no project, rust-analyzer looks for one by itself, finds none, and is never ready: seven minutes for one lone file."""

    def crates(*paths: str, manifest: str = "") -> list[str]:
        root = write_tree(tmp_path / str(len(paths)) / (manifest or "none").replace("/", "_"), dict.fromkeys(paths, "fn f() {}\n"))
        if manifest:
            write_tree(root, {manifest: "[package]\nname = 'p'\nversion = '1.0.0'\n"})
        environment = {"CARGO_HOME": str(tmp_path / "home"), "PATH": ""}
        found = find_crates(root, [*paths, *filter(None, [manifest])], environment)
        project = json.loads(link(found, lone_crates(found, paths)).project)
        return [os.path.relpath(crate["root_module"], root) for crate in project["crates"]]

    assert crates("a.rs", "x/b.rs", "x/mod.rs") == ["a.rs", "x/b.rs"]
    assert crates("src/lib.rs", "src/inner/b.rs", "c.rs", "x/main.rs") == ["c.rs", "src/lib.rs", "x/main.rs"]
    assert crates("mod.rs") == ["mod.rs"]
    assert crates("p/src/lib.rs", "p/other/b.rs", "c.rs", manifest="p/Cargo.toml") == ["p/src/lib.rs", "c.rs"]
    assert crates("src/lib.rs", "other/b.rs", manifest="Cargo.toml") == ["src/lib.rs"]
    assert crates() == []


# ---- what is lacking, and fetching it


def _look(root: Path, paths: list[str], environment: Mapping[str, str], fetched: Path) -> Look:
    return Look(root=root, paths=paths, languages=frozenset({"rust"}), environment=environment, fetched=fetched)


def test_crates_that_are_lacking_are_named_with_the_command(tmp_path: Path) -> None:
    """Those that this platform needs; none where all are there, and no word in a folder without a crate."""
    root, paths = _repository(tmp_path / "work")
    environment = _rustup(tmp_path / "rust", "stable-x")
    named = {item.name: item for item in rust.find(_look(root, paths, environment, tmp_path / "fetched"))}
    assert named["crates"].detail == "1 crate that is needed is not downloaded (outer)"
    assert (named["crates"].remedy, named["crates"].can_fetch) == ("cargo fetch", True)
    _outer("2.1.0", tmp_path / "rust/cargo")
    assert "crates" not in {item.name for item in rust.find(_look(root, paths, environment, tmp_path / "fetched"))}
    assert rust.find(_look(root, ["a.rs"], environment, tmp_path / "fetched")) == []


def test_every_target_has_its_file_where_the_folder_for_fetched_things_is_named_with_dots(tmp_path: Path) -> None:
    """cargo takes no manifest without a target; LSPIDX_SERVERS_DIR may be `code/../servers`."""
    root, paths = _repository(tmp_path / "work")
    environment = _rustup(tmp_path / "rust", "stable-x")
    plain, dotted = (rust.steps(_look(root, paths, environment, place)) for place in (tmp_path / "f", tmp_path / "work/../f"))
    assert any(path.endswith(".rs") for step in plain for path in step.files)
    assert [{os.path.normpath(path) for path in step.files} for step in dotted] == [set(step.files) for step in plain]


def test_fetching_reads_nothing_of_the_repository_but_its_manifests(tmp_path: Path) -> None:
    """A cargo that is run there could be told by `.cargo/config.toml` to execute something; and it would write a lock file."""
    root, paths = _repository(tmp_path / "work")
    write_tree(root, {".cargo/config.toml": "[build]\nrustc = './evil'\n", "rust-toolchain.toml": "[toolchain]\npath='./evil'\n"})
    listed = [*paths, ".cargo/config.toml", "rust-toolchain.toml"]
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    environment = _rustup(tmp_path / "rust", "stable-x")
    script = '#!/bin/sh\necho "$PWD|$CARGO_HOME|$*" >> "$CARGO_HOME/said"\n'
    (tmp_path / "rust/bin/cargo").write_text(script, encoding="utf-8")
    (tmp_path / "rust/bin/cargo").chmod(0o755)
    look = _look(root, listed, environment, tmp_path / "fetched")
    steps = rust.steps(look)
    copies = look.fetched_here / COPIES
    assert [(item.level, item.executes) for item in steps] == [(Trust.NONE, "")] * len(steps)
    assert all("evil" not in content for step in steps for content in step.files.values())
    steps = [
        type(item)(
            language=item.language,
            command=[str(tmp_path / "rust/bin/cargo"), *item.command[1:]],
            cwd=item.cwd,
            environment=item.environment,
            writes=item.writes,
            files=item.files,
        )
        for item in steps
    ]
    assert [item.problem for item in fetch(steps, Trust.NONE, avoid=[], say=lambda text: None)] == ["", ""]
    said = (look.fetched / "cargo/said").read_text(encoding="utf-8").splitlines()
    places = [f"{copies}/Cargo.toml", f"{copies}/fuzz/Cargo.toml"]
    assert said == [f"{copies}|{look.fetched / 'cargo'}|fetch --manifest-path {place}" for place in places]
    assert (copies / "crates/app/cmd/tool.rs").read_bytes() == b""  # cargo takes no manifest without its targets
    assert (copies / "Cargo.lock").read_text(encoding="utf-8") == LOCK
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_fetching_reads_no_lock_file_without_an_end_nor_one_elsewhere(tmp_path: Path) -> None:
    """`Cargo.lock -> /dev/zero`, which a clone can hold, took all memory there is."""
    root = write_tree(
        tmp_path / "work", {"Cargo.toml": '[package]\nname = "own"\nversion = "1.0.0"\n[dependencies]\nserde = "1"\n', "src/lib.rs": ""}
    )
    elsewhere = write_tree(tmp_path / "home", {"Cargo.lock": "SECRET"}) / "Cargo.lock"
    look = _look(root, ["Cargo.toml", "src/lib.rs"], {"HOME": str(tmp_path / "home")}, tmp_path / "fetched")
    for plant in (lambda lock: lock.symlink_to("/dev/zero"), os.mkfifo, lambda lock: lock.symlink_to(elsewhere)):
        (root / "Cargo.lock").unlink(missing_ok=True)
        plant(root / "Cargo.lock")
        [step] = rust.steps(look)
        assert not any(path.endswith("Cargo.lock") for path in step.files)


def test_fetching_brings_no_repository_of_this_machine(tmp_path: Path) -> None:
    """`git = "file:///srv/me/private"` was cloned into lspidx's folder, which servers read."""
    requires("cargo")
    private = write_tree(
        tmp_path / "private", {"Cargo.toml": '[package]\nname = "private"\nversion = "1.0.0"\n', "src/lib.rs": "// SECRET\n"}
    )
    git = ["git", "-C", str(private), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    revision = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    lock = (
        'version = 4\n\n[[package]]\nname = "own"\nversion = "1.0.0"\ndependencies = ["private"]\n\n'
        f'[[package]]\nname = "private"\nversion = "1.0.0"\nsource = "git+file://{private}#{revision}"\n'
    )
    manifest = f'[package]\nname = "own"\nversion = "1.0.0"\n[dependencies]\nprivate = {{ git = "file://{private}" }}\n'
    root = write_tree(tmp_path / "work", {"Cargo.toml": manifest, "src/lib.rs": "", "Cargo.lock": lock})
    environment = {name: os.environ[name] for name in ("HOME", "PATH")}
    look = _look(root, ["Cargo.toml", "Cargo.lock", "src/lib.rs"], environment, tmp_path / "fetched")
    [outcome] = fetch(rust.steps(look), Trust.NONE, avoid=[str(root)], say=lambda text: None)
    assert "transport 'file' not allowed" in outcome.problem
    assert [path for path in look.fetched.rglob("*.rs") if path.read_bytes()] == []


LEADING_OUT = """[package]
name = "own"
version = "1.0.0"
workspace = "/srv/me"

[lib]
path = "src/lib.rs"

[dependencies]
itoa = "1"
beside = { path = "crates/beside" }
lib = { path = "/srv/me/private" }
up = { path = "crates/../../private", version = "1" }

[target.'cfg(any())'.build-dependencies]
deep = { path = "~/../../../private" }

[workspace]
members = ["crates/*", "/srv/me/*", "../beside"]
default-members = ["."]
dependencies = { shared = { path = "../../private" }, kept = "1" }

[patch.crates-io]
itoa = { path = "/srv/me/itoa" }
serde = { git = "https://example.org/serde" }
"""


def test_cargo_is_shown_nothing_that_leads_out_of_the_workspace(tmp_path: Path) -> None:
    """It read the manifest of a private crate, and asked the registry for what that names."""
    text, lost = rust_sources.inside(LEADING_OUT, ".")
    made = tomllib.loads(text)
    assert lost == ["lib", "up", "deep", "shared", "itoa"]
    assert made["package"] == {"name": "own", "version": "1.0.0"}
    assert made["lib"] == {"path": "src/lib.rs"}
    assert made["dependencies"] == {"itoa": "1", "beside": {"path": "crates/beside"}}
    assert made["workspace"] == {"members": ["crates/*"], "default-members": ["."], "dependencies": {"kept": "1"}}
    assert made["patch"] == {"crates-io": {"serde": {"git": "https://example.org/serde"}}}
    inner = '[package]\nname = "x" # as it was\n[dependencies]\nbeside = { path = "../beside" }\n'
    assert rust_sources.inside(inner, "crates/x") == (inner, [])
    assert rust_sources.inside(inner, ".")[1] == ["beside"]
    with pytest.raises(ValueError, match="nested"):
        rust_sources.inside("a = " + "[" * 100_000, ".")
    root = write_tree(tmp_path / "work", {"Cargo.toml": LEADING_OUT, "src/lib.rs": ""})
    [step] = rust.steps(_look(root, ["Cargo.toml", "src/lib.rs"], {"HOME": str(tmp_path)}, tmp_path / "fetched"))
    assert not any("private" in content or "/srv" in content for content in step.files.values())
    assert set(step.without) == set(lost)


@pytest.mark.slow
def test_fetching_asks_for_nothing_that_a_private_crate_names(tmp_path: Path) -> None:
    """Shown by cargo itself, which ends well where it is told of no crate that has to be downloaded."""
    requires("cargo")
    private = write_tree(
        tmp_path / "private",
        {
            "Cargo.toml": '[package]\nname = "private"\nversion = "1.0.0"\n[dependencies]\nsecret = { git = "file:///nowhere" }\n',
            "src/lib.rs": "",
        },
    )
    manifest = f'[package]\nname = "own"\nversion = "1.0.0"\n[dependencies]\nprivate = {{ path = "{private}" }}\n'
    root = write_tree(tmp_path / "work", {"Cargo.toml": manifest, "src/lib.rs": ""})
    environment = {name: os.environ[name] for name in ("HOME", "PATH")}
    said: list[str] = []
    look = _look(root, ["Cargo.toml", "src/lib.rs"], environment, tmp_path / "fetched")
    [outcome] = fetch(rust.steps(look), Trust.NONE, avoid=[str(root)], say=said.append)
    assert outcome.problem == ""
    assert said[0] == "fetch rust: not fetched, since it comes from no registry: private"
    assert "private" not in (look.fetched_here / COPIES / "Cargo.lock").read_text(encoding="utf-8")


def test_a_server_is_pointed_at_what_was_fetched_and_else_at_the_users_own() -> None:
    """A place that begins with a placeholder sets its variable at every level of trust, once that has a value."""
    spec = server_spec("rust-analyzer")
    assert fetched_places(spec, {"fetched": "/own"}) == {"CARGO_HOME": "/own/cargo"}
    assert fetched_places(spec, {"fetched": None, "rust_sources": "/src"}) == {"RUST_SRC_PATH": "/src"}
    assert fetched_places(spec, {}) == {}


@pytest.mark.slow
def test_calls_lead_from_crate_to_crate_in_a_fresh_clone(tmp_path: Path) -> None:
    """With a crate that was never downloaded; `cargo metadata` alone knows lone packages then, and no call left its crate."""
    requires("rust-analyzer")
    root, _ = _repository(tmp_path / "work", locked=False)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    watcher = Watcher()
    done = crawl(root, Config(jobs=1), watcher, environment={"CARGO_HOME": str(tmp_path / "nothing"), "LSPIDX_SERVERS_DIR": ""})
    assert done.manifest["lost"] == {}
    calls = rows(done.generation, "SELECT DISTINCT path, callee FROM calls WHERE callee LIKE '%base()%' ORDER BY ALL")
    assert [path for path, _ in calls] == ["crates/app/cmd/tool.rs", "crates/app/tests/it/main.rs", "fuzz/src/main.rs"]
    assert any("project file" in text for text in watcher.notes)
