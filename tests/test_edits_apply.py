"""Edits on disk: all files or none, whatever happens on the way, and nothing of a file but its text is changed."""

from __future__ import annotations

import codecs
import contextlib
import functools
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import commands
import pytest
from query_support import json_of, lspidx, plain_environment
from support import DIES_AT, write_tree

from indexer.errors import EditRefused, EditsOff, LspidxError, Storage, UsageError
from indexer.text import blob_digest
from query.edits import apply as applying
from query.edits import journal
from query.edits.apply import apply, is_pending, recover
from query.edits.plan import Plan, plan_documents, plan_edit, plan_match, with_digests
from query.edits.scope import Scope
from query.edits.text import Document
from query.surface.registry import call

FILES: dict[str, str | bytes] = {
    "crlf.py": "one = 1\r\ntwo = 2\r\n",
    "bom.py": codecs.BOM_UTF8 + b"one = 1\n",
    "latin.py": b"# caf\xe9\none = 1\n",
    "wide.txt": codecs.BOM_UTF16_LE + "one = 1\r\n".encode("utf-16-le"),
    "open.py": "# \N{PARTY POPPER}\none = 1 # \N{PARTY POPPER}\N{PARTY POPPER} one",
    "pkg/tool.sh": "#!/bin/sh\necho one\n",
    "pkg/secret": "one\n",
    "pkg/gone.py": "",
    "other.py": "untouched\n",
}
MODES = {"pkg/tool.sh": 0o755, "pkg/secret": 0o600}

State = dict[str, tuple[int, bytes]]


def state(root: Path) -> State:
    """Modes and contents of all files but lspidx's own, and of folders."""
    return {
        path.relative_to(root).as_posix(): (stat.S_IMODE(path.lstat().st_mode), path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
        if ".lspidx" not in path.relative_to(root).parts
    }


def make(root: Path) -> Path:
    write_tree(root, FILES)
    for path, mode in MODES.items():
        (root / path).chmod(mode)
    (root / ".lspidx").mkdir()
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "work")


@pytest.fixture
def scope(root: Path) -> Scope:
    return Scope(root)


def put(line: int, start: int, end: int, new_text: str) -> dict[str, Any]:
    return {"range": {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}, "newText": new_text}


def everything(root: Path) -> dict[str, Any]:
    """An edit of all kinds."""
    uri = {path: (root / path).as_uri() for path in (*FILES, "pkg/new.py", "far/away/made.py")}

    def of(path: str, *edits: dict[str, Any]) -> dict[str, Any]:
        return {"textDocument": {"uri": uri[path], "version": None}, "edits": list(edits)}

    return with_digests(
        Scope(root),
        {
            "documentChanges": [
                of("crlf.py", put(1, 0, 3, "due"), put(0, 0, 0, "a\nb\n")),
                of("bom.py", put(0, 0, 3, "uno")),
                of("latin.py", put(1, 0, 3, "uno")),
                of("wide.txt", put(0, 0, 3, "uno\n\u20ac")),
                of("open.py", put(1, 15, 18, "uno"), put(0, 2, 4, "\N{SPARKLES}")),
                of("pkg/tool.sh", put(1, 5, 8, "uno")),
                {"kind": "rename", "oldUri": uri["pkg/secret"], "newUri": uri["far/away/made.py"]},
                of("far/away/made.py", put(0, 0, 3, "uno")),
                {"kind": "create", "uri": uri["pkg/new.py"]},
                of("pkg/new.py", put(0, 0, 0, "new\n")),
                {"kind": "delete", "uri": uri["pkg/gone.py"]},
            ]
        },
    )


def expected(before: State) -> State:
    folder = before["pkg"][0]
    after = dict(before)
    mode = after["crlf.py"][0]
    after["crlf.py"] = (mode, b"a\r\nb\r\none = 1\r\ndue = 2\r\n")
    after["bom.py"] = (mode, codecs.BOM_UTF8 + b"uno = 1\n")
    after["latin.py"] = (mode, b"# caf\xe9\nuno = 1\n")
    after["wide.txt"] = (mode, codecs.BOM_UTF16_LE + "uno\r\n\u20ac = 1\r\n".encode("utf-16-le"))
    after["open.py"] = (mode, "# \N{SPARKLES}\none = 1 # \N{PARTY POPPER}\N{PARTY POPPER} uno".encode())
    after["pkg/tool.sh"] = (0o755, b"#!/bin/sh\necho uno\n")
    after["far"] = after["far/away"] = (folder, b"")
    after["far/away/made.py"] = (0o600, b"uno\n")
    after["pkg/new.py"] = (mode, b"new\n")
    del after["pkg/secret"], after["pkg/gone.py"]
    return after


def leftovers(root: Path) -> list[str]:
    """What edits have left behind."""
    return [path.name for path in (root / ".lspidx/edits").glob("*") if path.name != "lock"]


# ---- what is written


def test_an_edit_of_all_kinds_changes_what_it_names_and_keeps_modes_marks_and_line_ends(root: Path, scope: Scope):
    before = state(root)
    apply(scope, plan_edit(scope, everything(root)))
    assert state(root) == expected(before)
    assert leftovers(root) == []


def test_a_folder_moves_with_its_empty_folders_and_binary_files(root: Path, scope: Scope):
    write_tree(root, {"pkg/deep/data.bin": b"\0\1"})
    (root / "pkg/empty").mkdir()
    before = state(root)
    rename = {"kind": "rename", "oldUri": (root / "pkg").as_uri(), "newUri": (root / "lib/inner").as_uri()}
    apply(scope, plan_edit(scope, {"documentChanges": [rename]}))
    wanted = {("lib/inner" + path[3:] if path.startswith("pkg") else path): value for path, value in before.items()}
    assert state(root) == dict(sorted({**wanted, "lib": before["pkg"]}.items()))


def test_a_folder_is_deleted_and_what_is_beside_it_stays(root: Path, scope: Scope):
    before = state(root)
    delete = {"kind": "delete", "uri": (root / "pkg").as_uri(), "options": {"recursive": True}}
    apply(scope, plan_edit(scope, {"documentChanges": [delete]}))
    assert state(root) == {path: value for path, value in before.items() if not path.startswith("pkg")}


def test_a_link_stays_a_link_and_its_file_is_edited(root: Path, scope: Scope):
    (root / "link.py").symlink_to("crlf.py")
    apply(scope, plan_match(scope, "link.py", "one", "uno"))
    assert (root / "link.py").is_symlink()
    assert (root / "crlf.py").read_bytes().startswith(b"uno = 1\r\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser may give files away")
def test_the_owner_of_a_file_stays_its_owner(root: Path, scope: Scope):
    os.chown(root / "pkg/tool.sh", 1234, 2345)
    (root / "pkg/tool.sh").chmod(0o4755)
    apply(scope, plan_match(scope, "pkg/tool.sh", "one", "uno"))
    found = (root / "pkg/tool.sh").stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 2345, 0o4755)


def test_what_users_have_attached_to_a_file_stays(root: Path, scope: Scope):
    os.setxattr(root / "crlf.py", "user.note", b"mine")
    apply(scope, plan_match(scope, "crlf.py", "one", "uno"))
    assert os.getxattr(root / "crlf.py", "user.note") == b"mine"


def test_where_there_is_no_index_the_journal_is_in_the_users_own_folder(
    root: Path, scope: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (root / ".lspidx").rmdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    apply(scope, plan_match(scope, "crlf.py", "one", "uno"))
    assert not (root / ".lspidx").exists()
    [folder] = (tmp_path / "state/lspidx/edits").iterdir()
    assert (stat.S_IMODE(folder.stat().st_mode), [path.name for path in folder.iterdir()]) == (0o700, ["lock"])


# ---- what is refused, and what goes wrong


def refused(scope: Scope, plan: Plan, error: type[LspidxError], words: str) -> None:
    """It is refused with these words, and nothing is another than before."""
    before = state(scope.root)
    with pytest.raises(error, match=words):
        apply(scope, plan)
    assert state(scope.root) == before
    assert leftovers(scope.root) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "bom.py").write_text("somebody else\n"),
        lambda root: (root / "bom.py").unlink(),
        lambda root: (root / "pkg/new.py").write_text("made meanwhile\n"),
        lambda root: ((root / "pkg").rename(root / "moved"), (root / "pkg").symlink_to("moved")),
        lambda root: ((root / "latin.py").unlink(), (root / "latin.py").symlink_to("other.py")),
        lambda root: ((root / "latin.py").unlink(), (root / "latin.py").mkdir()),
    ],
    ids=["another content", "gone", "made", "folder is a link", "file is a link", "file is a folder"],
)
def test_a_file_that_was_changed_since_the_plan_stops_all(root: Path, scope: Scope, change: Callable[[Path], object]):
    plan = plan_edit(scope, everything(root))
    change(root)
    refused(scope, plan, EditRefused, r"changed since|another way|not a regular file")


def test_a_file_that_is_changed_while_others_are_written_stops_all(root: Path, scope: Scope, monkeypatch: pytest.MonkeyPatch):
    """Everything is read again when all is staged; what somebody has written stays."""
    plan = plan_edit(scope, everything(root))
    before = state(root)
    stage = applying._stage

    def interfere(scope: Scope, change: Any, name: str) -> None:
        stage(scope, change, name)
        (root / "bom.py").write_bytes(b"somebody else\n")

    monkeypatch.setattr(applying, "_stage", interfere)
    with pytest.raises(EditRefused, match=r"'bom.py' has changed since"):
        apply(scope, plan)
    assert state(root) == {**before, "bom.py": (before["bom.py"][0], b"somebody else\n")}
    assert leftovers(root) == []


def test_a_file_that_nobody_may_write_stops_all(root: Path, scope: Scope):
    (root / "latin.py").chmod(0o444)
    refused(scope, plan_edit(scope, everything(root)), EditRefused, "'latin.py' is read-only")


@pytest.mark.parametrize("number", range(1, 9))
def test_a_failure_in_the_middle_undoes_what_was_done(root: Path, scope: Scope, number: int, monkeypatch: pytest.MonkeyPatch):
    plan = plan_edit(scope, everything(root))
    replace, count = os.replace, 0

    def fail(source: str | Path, target: str | Path, **folders: int) -> None:
        nonlocal count
        if str(source).endswith(".lspidx"):
            count += 1
            if count == number:
                raise OSError(5, "Input/output error", str(target))
        replace(source, target, **folders)

    monkeypatch.setattr(os, "replace", fail)
    refused(scope, plan, Storage, "Input/output error; no file was changed")
    assert count == number
    monkeypatch.undo()
    apply(scope, plan)


_STEPS = ("open", "link", "replace", "unlink", "mkdir", "rmdir", "rename", "lstat", "stat")


def test_a_folder_that_becomes_a_link_at_any_moment_leads_no_edit_out_of_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Before each step on the disk in turn: nothing outside is written, linked or removed, and the failure is one of ours."""
    outcomes: set[str] = set()
    for moment in range(1, 1_000):
        root, outside = make(tmp_path / "work"), tmp_path / "outside"
        shutil.copytree(root / "pkg", outside)  # so what is there passes for what was planned
        before, scope = state(outside), Scope(root)
        plan = plan_edit(scope, everything(root))
        left = moment

        def step(do: Callable[..., Any], *arguments: Any, root: Path = root, outside: Path = outside, **more: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                (root / "pkg").rename(root / "moved")
                (root / "pkg").symlink_to(outside)
            return do(*arguments, **more)

        with monkeypatch.context() as patched:
            for name in _STEPS:
                patched.setattr(os, name, functools.partial(step, getattr(os, name)))
            try:
                apply(scope, plan)
                outcomes.add("applied")
            except LspidxError as error:
                outcomes.add(type(error).__name__)
        assert state(outside) == before, moment
        shutil.rmtree(root)
        shutil.rmtree(outside)
        if left > 0:
            break
    assert left > 0
    assert outcomes >= {"applied", "EditRefused", "Storage"}


def test_what_was_written_beside_a_file_that_became_a_link_is_removed(root: Path, scope: Scope, monkeypatch: pytest.MonkeyPatch):
    plan = plan_edit(scope, everything(root))
    staged = applying._stage

    def then(scope: Scope, change: Any, name: str) -> None:
        staged(scope, change, name)
        if change.path == "bom.py":
            (root / "bom.py").unlink()
            (root / "bom.py").symlink_to("/dev/zero")

    monkeypatch.setattr(applying, "_stage", then)
    with pytest.raises(EditRefused, match="another way"):
        apply(scope, plan)
    assert not list(root.rglob(".*-*.lspidx"))


def test_what_cannot_be_undone_at_once_is_undone_by_the_next_edit(root: Path, scope: Scope, monkeypatch: pytest.MonkeyPatch):
    before = state(root)
    plan = plan_edit(scope, everything(root))
    replace, done = os.replace, False

    def fail(source: str | Path, target: str | Path, **folders: int) -> None:
        nonlocal done
        if done:
            raise OSError(30, "Read-only file system", str(target))
        done = str(source).endswith(".lspidx")
        replace(source, target, **folders)

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(journal, "_put_back", lambda backup, scope, path: fail(backup, path))
    with pytest.raises(Storage, match="could not be undone either"):
        apply(scope, plan)
    monkeypatch.undo()
    assert is_pending(scope)
    assert state(root) != before
    assert recover(scope).restored == ["bom.py"]
    assert state(root) == before
    assert not is_pending(scope)


def test_a_disk_that_may_not_grow_stops_all(root: Path):
    """A limit on the size of files, which anybody may set: writing fails in the middle of a file as on a full disk."""
    (root / "long.py").write_text("x\n" * 100_000)
    before = state(root)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    edit = {"changes": {(root / path).as_uri(): [put(0, 0, 0, "new\n")] for path in ("crlf.py", "long.py", "other.py")}}
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lspidx")), "query", "apply_edit", "--apply", "--workspace-edit", "-", "--json"],
        cwd=root, env=plain_environment(root), input=json.dumps(edit), capture_output=True, encoding="utf-8", check=False, preexec_fn=limit,
    )  # fmt: skip
    assert (done.returncode, "no file was changed" in json_of(done)["error"]["message"]) == (4, True), done
    assert state(root) == before
    assert leftovers(root) == []


@contextlib.contextmanager
def disk(place: Path, size_bytes: int) -> Iterator[None]:
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "lspidx-test", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nobody may mount a file system here; see the test with a limit on the size of files")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_stops_all(tmp_path: Path):
    with disk(tmp_path / "disk", 1_000_000):
        root = make(tmp_path / "disk/work")
        scope = Scope(root)
        plan = plan_documents(scope, {"crlf.py": Document(text="x\n"), "long.py": Document(text="x" * 900_000)})
        (root / "ballast").write_bytes(bytes(500_000))
        refused(scope, plan, Storage, "No space left on device; no file was changed")
        (root / "ballast").unlink()
        apply(scope, plan)
        assert (root / "long.py").stat().st_size == 900_000


def test_a_disk_that_is_read_only_stops_all(tmp_path: Path):
    with disk(tmp_path / "disk", 1_000_000):
        root = make(tmp_path / "disk/work")
        scope = Scope(root)
        plan = plan_edit(scope, everything(root))
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path / "disk")], check=True)
        refused(scope, plan, Storage, "Read-only file system")


def test_a_workspace_on_two_disks_is_one_edit_too(root: Path, scope: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The journal cannot link there: it copies, and what is undone comes back with its mode."""
    with disk(root / "mounted", 1_000_000):
        write_tree(root, {"mounted/x.sh": "one\n"})
        (root / "mounted/x.sh").chmod(0o750)
        before = state(root)
        plan = plan_edit(
            scope, {"changes": {(root / path).as_uri(): [put(0, 0, 3, "uno")] for path in ("mounted/x.sh", "pkg/secret", "bom.py")}}
        )
        end = journal.Record.end
        monkeypatch.setattr(journal.Record, "end", lambda record: (_ for _ in ()).throw(OSError(5, "Input/output error")))
        with pytest.raises(Storage):
            apply(scope, plan)
        monkeypatch.setattr(journal.Record, "end", end)
        recover(scope)
        assert state(root) == before
        apply(scope, plan)
        assert state(root)["mounted/x.sh"] == (0o750, b"uno\n")


# ---- kill -9


def _dies(step: int, command: tuple[str, ...], root: Path, edit: str) -> int:
    """The command, killed just before its so-many-th step on the disk; its status."""
    done = commands.run(command, cwd=root, env=plain_environment(root), first=DIES_AT.format(step=step), given=edit)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


APPLY = ("query", "apply_edit", "--apply", "--workspace-edit", "-")


@pytest.mark.slow
def test_an_edit_that_is_killed_before_any_of_its_steps_is_as_if_it_had_not_begun(tmp_path: Path):
    """Whatever is killed: each file is the old or the new one at once, all are old or all new after the next edit, nothing is left."""
    first = make(tmp_path / "first")
    before, after = state(first), expected(state(first))
    counts: Counter[str] = Counter()
    for step in range(1, 200):
        root = make(tmp_path / "work")
        edit = json.dumps(everything(root))
        status = _dies(step, APPLY, root, edit)
        for path, (_, content) in state(root).items():
            assert content in {side[path][1] for side in (before, after) if path in side} or path.endswith(".lspidx"), path
        recover(Scope(root))
        found = state(root)
        assert found in (before, after), step
        assert leftovers(root) == []
        counts["old" if found == before else "new"] += 1
        if found == before:
            assert json_of(lspidx(*APPLY[:3], "--workspace-edit", edit, "--json", cwd=root))["result"]["applied"]
            assert state(root) == after
        shutil.rmtree(root)
        if status == 0:
            break
    assert status == 0
    assert counts["old"] > 20
    assert counts["new"] > 3


@pytest.mark.slow
def test_the_undoing_may_be_killed_too(tmp_path: Path):
    """The next edit finds the work tree in the middle of one: it is killed before each of its own steps, and the one after it ends."""
    command = ("query", "apply_edit", "--apply", "--file-path", "other.py", "--old-text", "untouched", "--new-text", "touched")
    middle, before = 0, state(make(tmp_path / "first"))
    for middle in range(1, 200):
        root = make(tmp_path / "work")
        _dies(middle, APPLY, root, json.dumps(everything(root)))
        found = state(root)
        shutil.rmtree(root)
        if found["open.py"] != before["open.py"]:
            break
    for step in range(1, 200):
        root = make(tmp_path / "work")
        _dies(middle, APPLY, root, json.dumps(everything(root)))
        assert is_pending(Scope(root))
        assert state(root) != before
        status = _dies(step, command, root, "")
        if status == 0:
            break
        touched = {**before, "other.py": (before["other.py"][0], b"touched\n")}
        done = lspidx(*command, cwd=root)
        assert done.returncode == 0 or "is not in 'other.py'" in done.stderr  # where the killed one was through
        assert state(root) == touched
        assert leftovers(root) == []
        shutil.rmtree(root)
    assert status == 0
    assert step > 20


def _interrupted(root: Path, scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves the work tree as a process does that was killed after its last file."""
    plan = plan_edit(scope, everything(root))
    with monkeypatch.context() as patched:
        patched.setattr(journal.Record, "end", lambda record: (_ for _ in ()).throw(SystemExit))
        patched.setattr(applying, "_take_back", lambda *given: None)
        with pytest.raises(SystemExit):
            apply(scope, plan)


def test_what_somebody_changed_after_the_kill_is_left_alone_and_its_past_is_kept(root: Path, scope: Scope, monkeypatch: pytest.MonkeyPatch):
    before = state(root)
    _interrupted(root, scope, monkeypatch)
    assert state(root) == expected(before)
    (root / "bom.py").write_bytes(b"mine\n")
    answer = call(None, "apply_edit", {"file_path": "other.py", "old_text": "untouched", "new_text": "touched", "apply": True}, root=root)
    assert answer.completeness.reasons[0].code == "interrupted_edit"
    assert answer.completeness.reasons[0].paths == ["bom.py"]
    assert {"crlf.py", "pkg/secret", "pkg/gone.py", "pkg/new.py"} < set(answer.result.undone)
    assert state(root) == {
        **before, "bom.py": (before["bom.py"][0], b"mine\n"), "other.py": (before["other.py"][0], b"touched\n")
    }  # fmt: skip
    [kept] = [path for path in (root / ".lspidx/edits").iterdir() if path.is_dir()]
    assert FILES["bom.py"] in [path.read_bytes() for path in kept.iterdir()]
    assert recover(scope) == journal.Recovery()


def test_a_preview_says_that_an_edit_was_cut_short_and_writes_nothing(root: Path, scope: Scope, monkeypatch: pytest.MonkeyPatch):
    _interrupted(root, scope, monkeypatch)
    middle = state(root)
    answer = call(None, "apply_edit", {"file_path": "other.py", "old_text": "untouched", "new_text": "x"}, root=root)
    assert [reason.code for reason in answer.completeness.reasons] == ["interrupted_edit"]
    assert state(root) == middle
    assert is_pending(scope)


def test_a_journal_that_came_with_a_repository_reaches_nothing(root: Path, scope: Scope, tmp_path: Path):
    """Neither git's folder nor anything outside, nor contents that are not the recorded ones, nor links in place of contents."""
    write_tree(tmp_path, {"outside": "mine\n", "work/.git/hooks/post-checkout": "mine\n"})
    place = root / ".lspidx/edits/0123456789abcdef"
    mine, evil = blob_digest(b"mine\n"), blob_digest(b"evil\n")
    paths = ["../outside", ".git/hooks/post-checkout", str(tmp_path / "outside"), "other.py", "crlf.py"]
    steps = [{"path": path, "before": evil, "after": mine, "temporary": "../../outside"} for path in paths]
    steps[3]["after"] = blob_digest(b"untouched\n")
    steps[4] |= {"after": blob_digest((root / "crlf.py").read_bytes()), "before": mine, "temporary": ".x.lspidx"}
    record = {"steps": steps, "made_folders": ["..", ".git/hooks"], "gone_folders": [["../made", 0o777], [".git/made", 0o777]]}
    write_tree(place, {"journal.json": json.dumps(record), "applying": "", **{str(number): "evil\n" for number in range(3)}})
    (place / "3").write_text("not what is said\n")
    (place / "4").symlink_to(tmp_path / "outside")
    before = state(root)
    found = recover(scope)
    assert (found.restored, len(found.kept)) == ([], 5)
    assert state(root) == before
    assert (tmp_path / "outside").read_text() == "mine\n"
    assert not (tmp_path / "made").exists()


def test_a_state_folder_that_is_a_link_is_refused(root: Path, scope: Scope, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (root / ".lspidx/edits").symlink_to(tmp_path / "elsewhere")
    before = state(root)
    with pytest.raises(EditRefused, match="is a link"):
        apply(scope, plan_match(scope, "crlf.py", "one", "uno"))
    assert state(root) == before
    assert list((tmp_path / "elsewhere").iterdir()) == []


# ---- others at the same moment


def test_edits_of_one_workspace_come_one_after_the_other(root: Path, scope: Scope):
    """Ten at once, of one file, each made for the same text: one is written, the others are told that the file has changed."""
    plans = [plan_match(scope, "other.py", "untouched", f"touched by {number}") for number in range(10)]
    said: list[str] = []

    def run(plan: Plan) -> None:
        try:
            apply(scope, plan)
        except EditRefused as error:
            said.append(str(error))

    threads = [threading.Thread(target=run, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 9
    assert all("has changed since" in text for text in said)
    assert (root / "other.py").read_text().startswith("touched by ")


def test_who_waits_too_long_is_told_so(root: Path):
    folder = root / ".lspidx/edits"
    with journal.locked(folder), pytest.raises(LspidxError, match="another lspidx is changing files"), journal.locked(folder, wait_s=0.0):
        pass


# ---- the tool


def test_the_answer_has_all_that_was_done(root: Path):
    answer = call(None, "apply_edit", {"workspace_edit": everything(root), "exclude_globs": ["wide.*"], "apply": True}, root=root)
    found = answer.result
    assert (found.applied, found.excluded, answer.completeness.status, answer.total) == (True, ["wide.txt"], "complete", 8)
    by_path = {item.path: item for item in found.files}
    assert {path: item.status for path, item in by_path.items() if item.status != "changed"} == {
        "far/away/made.py": "renamed", "pkg/gone.py": "deleted", "pkg/new.py": "created",
    }  # fmt: skip
    assert "-one = 1" in by_path["latin.py"].diff
    assert " # caf\ufffd" in by_path["latin.py"].diff
    crlf = by_path["crlf.py"]
    assert (crlf.edits, crlf.added, crlf.removed, crlf.before_digest) == (2, 3, 1, blob_digest(b"one = 1\r\ntwo = 2\r\n"))
    assert crlf.after_digest == blob_digest((root / "crlf.py").read_bytes())
    assert crlf.diff.startswith("--- a/crlf.py\n+++ b/crlf.py\n@@ -1,2 +1,4 @@\n+a")
    moved = by_path["far/away/made.py"]
    assert (moved.renamed_from, moved.before_digest, moved.diff.split("\n")[0]) == ("pkg/secret", blob_digest(b"one\n"), "--- a/pkg/secret")
    assert (found.edits, found.added, found.removed) == (9, 10, 7)
    with pytest.raises(EditRefused, match="has changed since the edit was made"):
        call(None, "apply_edit", {"workspace_edit": {**everything_again(root)}, "apply": True}, root=root)


def everything_again(root: Path) -> dict[str, Any]:
    return {"changes": {(root / "crlf.py").as_uri(): [put(0, 0, 0, "x")]}, "lspidxDigests": {(root / "crlf.py").as_uri(): "0" * 40}}


def test_a_preview_answers_the_same_and_writes_nothing(root: Path):
    before = state(root)
    tried = call(None, "apply_edit", {"workspace_edit": everything(root)}, root=root, edits=False)
    assert state(root) == before
    assert not (root / ".lspidx/edits").exists()
    done = call(None, "apply_edit", {"workspace_edit": everything(root), "apply": True}, root=root)
    assert (tried.result.applied, tried.result.files) == (False, done.result.files)


def test_where_edits_are_off_nothing_is_written(root: Path):
    before = state(root)
    with pytest.raises(EditsOff):
        call(None, "apply_edit", {"workspace_edit": everything(root), "apply": True}, root=root, edits=False)
    assert state(root) == before


@pytest.mark.parametrize("given", [{}, {"file_path": "x", "workspace_edit": {"changes": {}}}, {"old_text": "x", "new_text": "y"}])
def test_one_of_the_two_ways_must_be_taken(root: Path, given: dict[str, Any]):
    with pytest.raises(UsageError):
        call(None, "apply_edit", given, root=root)


def test_a_long_diff_is_cut_and_says_by_how_much(root: Path):
    (root / "long.py").write_text("x\n" * 3_000)
    edit = {"changes": {(root / "long.py").as_uri(): [put(line, 0, 1, "y") for line in range(3_000)]}}
    [item] = call(None, "apply_edit", {"workspace_edit": edit}, root=root).result.files
    assert (len(item.diff.split("\n")), item.diff_lines_left_out, item.added) == (200, 6_003 - 200, 3_000)


def test_on_the_command_line_an_edit_is_text_a_file_or_standard_input(root: Path, tmp_path: Path):
    edit = json.dumps({"changes": {(root / "other.py").as_uri(): [put(0, 0, 0, "new\n")]}})
    (tmp_path / "edit.json").write_text(edit)
    for given in (edit, f"@{tmp_path / 'edit.json'}"):
        done = lspidx("query", "apply_edit", "--workspace-edit", given, cwd=root)
        assert done.returncode == 0, done.stderr
        assert "1 file, +1 -0, 1 edit" in done.stdout
        assert "  +new" in done.stdout.split("\n")
    done = lspidx(
        "query",
        "apply_edit",
        "--file-path",
        "other.py",
        "--old-text",
        " untouched",
        "--new-text",
        " done",
        "--compact",
        "--apply",
        cwd=root,
    )
    assert "applied: 1 file, +1 -1, 1 edit, found by indentation" in done.stdout
    assert (root / "other.py").read_text() == "done\n"
    for given, words in (("{", "no JSON"), ("edit.json", "a file is given as @FILE"), ("@nowhere", "No such file"), ("[]", "object")):
        done = lspidx("query", "apply_edit", "--workspace-edit", given, cwd=root)
        assert (done.returncode, words in done.stderr) == (2, True), (given, done.stderr)
    done = lspidx("query", "apply_edit", "--file-path", "other.py", "--old-text", "nowhere", "--new-text", "x", "--json", cwd=root)
    assert (done.returncode, json_of(done)["error"]["code"]) == (6, "edit_refused")
    assert "JSON, @FILE, or - for standard input" in " ".join(lspidx("query", "apply_edit", "--help", cwd=root).stdout.split())
