"""What a project's own files may bring into an index from outside of it: nothing without the user's word, and some places never."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from query_support import json_of, lspidx
from support import write_tree

from indexer import user_state
from indexer.config import Config, load_config
from indexer.consent import Reach, allow_folders
from indexer.errors import ConfigError
from indexer.packages import Externals
from indexer.private_places import is_closed, is_held

HOMES, USERS, ROOTS = "/home", "/Users", "/root"
"""Apart from what follows: a test looks for folders of somebody's machine in all that is tracked."""

MARK = "secretmarker"
SECRET = f'''"""a doc with {MARK}_text"""

def {MARK}(x="{MARK}_text"):
    """{MARK}_text"""
    return "{MARK}_text"


KEY = "{MARK}_text"
'''
"""A module whose text says `secretmarker_text`; `secretmarker` alone is the name of a declaration."""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`home` with a key in a hidden folder, `next` beside the project `work`, which imports from wherever it can."""
    write_tree(
        tmp_path,
        {"home/.ssh/sec.py": SECRET, "next/sec.py": SECRET, "work/app.py": f"import sec\nfrom sec import {MARK}\n\n{MARK}()\n"},
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LSPIDX_STATE_DIR", str(tmp_path / "state"))
    return tmp_path


def _config(machine: Path, **more: Any) -> Config:
    return load_config(machine / "work", environment={"HOME": str(machine / "home")}, user_dir=machine / "user", **more)


# ---- the rule


@pytest.mark.parametrize(
    "path",
    [
        "/", "/home", "/etc", "/etc/ssl", "/proc/self", "/sys", "/dev/shm", "/run/user/0", "/root", "/var/lib/docker", f"{HOMES}/me",
        f"{HOMES}/me/.ssh", f"{HOMES}/me/.config/gh", f"{HOMES}/me/.local/share/keyrings", f"{HOMES}/other/.ssh", f"{ROOTS}/.aws",
        f"{USERS}/x/.ssh",
        f"{HOMES}/me/work/../.ssh", "/tmp", "/usr",
    ],
)  # fmt: skip
def test_nobody_opens_these_places(path: str) -> None:
    assert is_closed(path, f"{HOMES}/me")


@pytest.mark.parametrize(
    "path", [f"{HOMES}/me/work", f"{HOMES}/me/work/.github", "/data/libs", "/srv/git/lib", "/tmp/x", "/opt/lib", f"{HOMES}/other/x"]
)
def test_these_places_are_open_to_who_is_allowed_them(path: str) -> None:
    assert not is_closed(path, f"{HOMES}/me")


def test_who_works_in_a_hidden_place_may_name_what_lies_beside() -> None:
    assert not is_closed(f"{HOMES}/me/.dotfiles/lib", f"{HOMES}/me", root=f"{HOMES}/me/.dotfiles/work")
    assert is_closed(f"{HOMES}/me/.ssh", f"{HOMES}/me", root=f"{HOMES}/me/.dotfiles/work")
    assert not is_closed("/var/lib/jenkins/workspace/lib", f"{HOMES}/me", root="/var/lib/jenkins/workspace/app")


def test_a_link_is_as_closed_as_what_it_leads_to(machine: Path) -> None:
    (machine / "next/keys").symlink_to(machine / "home/.ssh")
    assert is_closed(str(machine / "next/keys"), str(machine / "home"))
    reach = Reach(machine / "work", [str(machine / "next")], {"HOME": str(machine / "home")})
    assert reach.is_allowed(str(machine / "next"))
    assert not reach.is_allowed(str(machine / "next/keys"))


# ---- settings


@pytest.mark.parametrize("setting", ["folders", "source_roots", "python"])
@pytest.mark.parametrize("how", ["lspidx.toml", "pyproject.toml", "flags"])
def test_a_project_names_no_place_outside_without_the_users_word(machine: Path, setting: str, how: str) -> None:
    value: Any = "../next" if setting == "python" else ["../next"]
    line = f"{setting} = {json.dumps(value)}\n"
    write_tree(
        machine / "work",
        {"lspidx.toml": line} if how == "lspidx.toml" else {"pyproject.toml": f"[tool.lspidx]\n{line}"} if how != "flags" else {},
    )
    remembered = {setting: value} if how == "flags" else {}
    config = _config(machine, remembered=remembered)
    assert not getattr(config, setting)
    (refusal,) = config.refused
    assert (refusal.setting, refusal.text, refusal.closed) == (setting, "../next", False)
    assert refusal.remedy == f"lspidx index {'--python' if setting == 'python' else '--allow-folder'} ../next"
    for word in ({"flags": {"allow_folders": [str(machine / "next")]}}, {"flags": {setting: value}}):
        assert getattr(_config(machine, remembered=remembered, **word), setting)
    allow_folders(machine / "work", [str(machine / "next")])
    assert getattr(_config(machine, remembered=remembered), setting)
    assert user_state.record(machine / "next") == {}  # what is allowed to one workspace is allowed to no other


@pytest.mark.parametrize("text", ["~/.ssh", "../home/.ssh", "../home", "..", "/etc"])
def test_no_answer_opens_a_closed_folder(machine: Path, text: str) -> None:
    write_tree(machine / "work", {"lspidx.toml": f"folders = ['{text}']\n"})
    allow_folders(machine / "work", [str(machine / "home/.ssh"), str(machine / "home"), str(machine), "/etc"])
    config = _config(machine)
    assert config.folders == ()
    assert [(item.closed, item.remedy) for item in config.refused] == [(True, "")]
    with pytest.raises(ConfigError, match="alone: lspidx index"):
        _config(machine, flags={"folders": [str(machine / "home/.ssh")]})


def test_the_users_own_file_and_environment_need_nobody(machine: Path) -> None:
    write_tree(machine / "user", {"config.toml": "folders = ['../next']\n"})
    assert _config(machine).folders == ("../next",)
    write_tree(machine / "work", {"lspidx.toml": "folders = ['../next', '../state']\n"})
    config = _config(machine)
    assert (config.folders, [item.text for item in config.refused]) == (("../next",), ["../state"])
    environment = {"HOME": str(machine / "home"), "LSPIDX_FOLDERS": str(machine / "next")}
    assert load_config(machine / "work", environment=environment, user_dir=machine / "none").folders == (str(machine / "next"),)


def test_a_project_allows_itself_nothing_and_asks_for_no_less_than_the_user(machine: Path) -> None:
    write_tree(machine / "work", {"lspidx.toml": "allow_folders = ['/']\nfolders = ['../next']\nmin_resolved = 0.0\n"})
    write_tree(machine / "user", {"config.toml": "min_resolved = 80.0\n"})
    config = _config(machine, remembered={"allow_folders": ["/"]})
    assert (config.allow_folders, config.folders, config.min_resolved) == ((), (), 80.0)


def test_an_interpreter_that_is_a_link_to_the_systems_allows_no_other_environment(machine: Path) -> None:
    """Both are links to one program, but not one place."""
    for name in ("mine", "theirs"):
        (machine / name / "bin").mkdir(parents=True)
        (machine / name / "bin/python").symlink_to("/usr/bin/env")
    allow_folders(machine / "work", [str(machine / "mine/bin/python")])
    write_tree(machine / "work", {"lspidx.toml": "python = '../theirs/bin/python'\n"})
    assert _config(machine).python == ""
    write_tree(machine / "work", {"lspidx.toml": "python = '../mine/bin/python'\n"})
    assert _config(machine).python == "../mine/bin/python"


@pytest.mark.parametrize("name", ["lspidx.toml", "pyproject.toml"])
def test_settings_that_are_a_link_out_of_the_workspace_are_not_read(machine: Path, name: str) -> None:
    """Else the message about an unknown key would quote a file of the user's."""
    write_tree(machine, {"home/.ssh/x": f"{MARK} = 1\n[tool.lspidx]\n{MARK} = 1\n"})
    (machine / "work" / name).symlink_to(machine / "home/.ssh/x")
    assert any(name in text for text in _config(machine).withheld)
    assert not is_held(str(machine / "work"), name)


def test_what_a_session_takes_is_not_remembered(machine: Path) -> None:
    allow_folders(machine / "work", [str(machine / "next")])
    config = _config(machine, remembered={"folders": ["../next"]}, session={"folders": ["../next", "../other"]})
    assert config.folders == ("../next", "../other")
    assert config.flags() == {"folders": ("../next",)}
    assert "folders" not in _config(machine, session={"folders": ["../other"]}).flags()


# ---- what is installed


def test_only_what_really_lies_in_an_installed_package_is_quoted(tmp_path: Path) -> None:
    site = write_tree(tmp_path, {"env/lib/python3.12/site-packages/a.py": "", "next/a.py": "", "next/include/a.h": ""})
    (tmp_path / "env/lib/python3.12/site-packages/linked.py").symlink_to(tmp_path / "next/a.py")
    externals = Externals()
    assert externals.is_installed(str(site / "env/lib/python3.12/site-packages/a.py"))
    assert externals.is_installed("/usr/include/stdio.h")
    for path in ("env/lib/python3.12/site-packages/linked.py", "next/a.py", "next/include/a.h"):
        assert not externals.is_installed(str(tmp_path / path))


# ---- traps: a project that names what it likes, crawled by ty


def _link(root: Path, name: str, target: Path) -> None:
    (root / name).symlink_to(target)


def _plant(machine: Path, trap: str) -> None:
    work, ssh = machine / "work", machine / "home/.ssh"
    site = ".venv/lib/python3.12/site-packages"
    environment = {".venv/pyvenv.cfg": f"home = {ssh}\nversion = 3.12\n", f"{site}/x.pth": f"{ssh}\n"}
    texts = {
        "folders": {"lspidx.toml": f"folders = ['{ssh}']\n"},
        "flags.json": {".lspidx/flags.json": json.dumps({"folders": [str(ssh)], "python": str(ssh), "source_roots": [str(ssh)]})},
        "python": {"lspidx.toml": f"python = '{ssh}'\n"},
        "source_roots": {"lspidx.toml": f"source_roots = ['{ssh}', '.']\n"},
        "pth": environment,
        "ty.toml": {"ty.toml": f"[environment]\nextra-paths = ['{ssh}']\n"},
        "requirements": {"requirements.txt": f"-r {ssh}/config\n-c ../home/.ssh/config\n"},
    }
    write_tree(work, texts.get(trap, {}))
    write_tree(
        ssh, {"config": f"{MARK}_text\n", "lib/python3.12/site-packages/sec.py": SECRET, "package.json": f'{{"name": "{MARK}_text"}}'}
    )
    if trap == "link":
        _link(work, "sec.py", ssh / "sec.py")
    if trap == "linked folder":
        _link(work, "sec", ssh)
    if trap == "linked environment":
        _link(work, ".venv", ssh)
    if trap == "linked manifest":
        write_tree(work, {"a.ts": "export const a = 1;\n"})
        _link(work, "package.json", ssh / "package.json")


TRAPS = [
    "folders", "flags.json", "python", "source_roots", "pth", "ty.toml", "requirements", "link", "linked folder", "linked environment",
    "linked manifest",
]  # fmt: skip
COMMANDS = ["index --jobs 1", "status", "doctor", "config", "lint", "query get_diagnostics", f"query source {MARK}", f"query hover {MARK}"]


def _everything(root: Path, env: dict[str, str]) -> dict[str, str]:
    """All that this product says and keeps, by where it stands."""
    said: dict[str, str] = {}
    for command in [*COMMANDS, "query symbols --limit 100 --json", f"cache export {root.parent / 'out'}"]:
        done = lspidx(*command.split(), cwd=root, env=env)
        said[command] = done.stdout + done.stderr
    for file in (root / ".lspidx/db").glob("gen-*.duckdb"):
        with duckdb.connect(str(file), read_only=True) as connection:
            for (table,) in connection.execute("SELECT table_name FROM information_schema.tables").fetchall():
                said[f"table {table}"] = str(connection.execute(f'SELECT * FROM "{table}"').fetchall())
    for place in (root / ".lspidx", root.parent / "out"):
        for file in place.rglob("*"):
            if file.is_file() and file.suffix in (".log", ".json", ".jsonl") and file.name != "flags.json":
                said[file.name] = file.read_text(encoding="utf-8", errors="replace")
    return said


@pytest.mark.slow
@pytest.mark.parametrize("trap", TRAPS)
def test_nothing_of_a_hidden_folder_gets_into_anything(machine: Path, trap: str) -> None:
    _plant(machine, trap)
    said = _everything(machine / "work", {"HOME": str(machine / "home"), "LSPIDX_STATE_DIR": str(machine / "state")})
    assert "nothing lost" in said["index --jobs 1"], said["index --jobs 1"]
    assert [where for where, text in said.items() if f"{MARK}_text" in text] == []


@pytest.mark.slow
@pytest.mark.parametrize("trap", ["pth", "ty.toml"])
def test_of_what_the_user_has_allowed_next_door_only_names_are_kept(machine: Path, trap: str) -> None:
    """An allowed path is followed, so that names resolve; what the files say is not kept but for the types of the project's own names."""
    texts = {
        "pth": {".venv/pyvenv.cfg": "home = /none\nversion = 3.12\n", ".venv/lib/python3.12/site-packages/x.pth": f"{machine / 'next'}\n"},
        "ty.toml": {"ty.toml": "[environment]\nextra-paths = ['../next']\n"},
    }
    write_tree(machine / "work", texts[trap])
    allow_folders(machine / "work", [str(machine / "next")])
    said = _everything(machine / "work", {"HOME": str(machine / "home"), "LSPIDX_STATE_DIR": str(machine / "state")})
    assert re.search(rf"'{MARK}'", said["table symbol"]), "the path must have been followed, or this shows nothing"
    assert "was not allowed" not in said["status"]
    assert [where for where, text in said.items() if f"{MARK}_text" in text] == []


@pytest.mark.slow
def test_a_folder_that_was_not_allowed_is_a_gap_until_it_is(machine: Path) -> None:
    root, env = machine / "work", {"HOME": str(machine / "home"), "LSPIDX_STATE_DIR": str(machine / "state")}
    before = lspidx("index", "--jobs", "1", cwd=root, env=env)
    assert before.returncode == 0, before.stderr
    write_tree(root, {"lspidx.toml": "folders = ['../next']\n"})
    said = "folder '../next' is named by lspidx.toml and was not allowed"
    refused = lspidx("index", "--jobs", "1", cwd=root, env=env)
    assert f"{said}; to allow that: lspidx index --allow-folder ../next" in refused.stderr
    assert said in lspidx("status", cwd=root, env=env).stdout
    answer = lspidx("query", "references", "app", "--json", "--strict", cwd=root, env=env)
    assert answer.returncode == 1
    assert [item["detail"] for item in json_of(answer)["completeness"]["reasons"] if item["code"] == "not_allowed"] == [
        f"{said}: lspidx index --allow-folder ../next"
    ]
    allowed = lspidx("index", "--jobs", "1", "--allow-folder", "../next", cwd=root, env=env)
    assert said not in allowed.stderr
    assert "2 files" in allowed.stderr
    again = lspidx("index", "--jobs", "1", "--full", cwd=root, env=env)  # it was remembered, outside of the repository
    assert "2 files" in again.stderr
    assert not any("next" in file.read_text() for file in (root / ".lspidx").glob("*.json"))
    assert os.listdir(machine / "state/workspaces")
