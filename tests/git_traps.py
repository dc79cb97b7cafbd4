"""A repository whose settings of git start a program in every way that is known; each leaves a mark, and plain git springs each.

Nothing of it is a secret of ours: these are git's own features, which are harmless in a repository of one's own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from support import write_tree

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_ODD = "a=b.c"
"""A filter's name with all that makes it hard to name on a command line."""


@dataclass(frozen=True, kw_only=True)
class Repository:
    """`root`: the work tree. `marks`: the folder of marks; each file in it is a trap that was sprung."""

    root: Path
    marks: Path

    def sprung(self) -> set[str]:
        return {mark.name for mark in self.marks.iterdir()}

    def forget(self) -> None:
        for mark in self.marks.iterdir():
            mark.unlink()

    def program(self, name: str, ends: str = 'exec cat "$@" 2>/dev/null') -> str:
        """A program that leaves a mark and hands on what it reads, as a filter does."""
        place = self.marks.parent / "programs" / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\n: > '{self.marks / name}'\n{ends}\n", encoding="utf-8")
        place.chmod(0o755)
        return str(place)

    def copy(self, destination: Path) -> Repository:
        """The same elsewhere: as from an archive, no file has the times that git knows."""
        root = shutil.copytree(self.root, destination / self.root.name, symlinks=True, copy_function=shutil.copy)
        return Repository(root=root, marks=self.marks)


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Of a git that knows no settings but the repository's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") and name not in ("EDITOR", "VISUAL", "PAGER")}
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "TERM": "xterm",
        **(more or {}),
    }


def git(root: Path, *words: str, check: bool = True, stdin: str = "") -> str:
    done = subprocess.run(
        ["git", *IDENTITY, *words], cwd=root, env=environment(), input=stdin, capture_output=True, text=True, check=check, timeout=60
    )
    return done.stdout.strip()


def make(root: Path, files: Mapping[str, str | bytes], changed: Mapping[str, str]) -> Repository:
    """Two commits and a change that is in none, with all traps of `SETTINGS` set.

    Args:
        changed: files as the second commit has them.
    """
    marks = root.parent / "marks"
    marks.mkdir()
    made = Repository(root=root, marks=marks)
    write_tree(root, {**files, "included.txt": "1\n", "own.txt": "1\n", "empty.txt": "1\n"})
    library = write_tree(root.parent / "library", {"lib.py": "def lib():\n    return 1\n"})
    git(library, "init", "-q")
    git(library, "add", "-A")
    git(library, "commit", "-q", "-m", "library")
    git(root, "init", "-q")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "library")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    write_tree(root, dict(changed))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "second")
    _sign_head(root)
    for trap in SETTINGS:
        trap.set(made)
    return made


def _sign_head(root: Path) -> None:
    """Gives the newest commit a signature, which is not good but is one."""
    head, _, message = git(root, "cat-file", "commit", "HEAD").partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----"
    signed = git(root, "hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{head}\n{signature}\n\n{message}\n")
    git(root, "update-ref", "HEAD", signed)


def _config(root: Path, *pairs: tuple[str, str], file: str = "") -> None:
    for key, value in pairs:
        git(root, "config", *(("--file", file) if file else ()), "--add", key, value)


def _attributes(root: Path, *lines: str) -> None:
    """Where no commit has them, so that they hold for all."""
    with (root / ".git" / "info" / "attributes").open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


@dataclass(frozen=True, kw_only=True)
class Trap:
    """One way to have a program started. `springs`: what to do with plain git so that it leaves its mark."""

    name: str
    set: Callable[[Repository], None]
    springs: Callable[[Repository], object]


def _program_in(key: str) -> Callable[[str], Callable[[Repository], None]]:
    return lambda name: lambda at: _config(at.root, (key, at.program(name)))


def _plain(*words: str, stdin: str = "") -> Callable[[Repository], object]:
    return lambda at: git(at.root, *words, check=False, stdin=stdin)


def _setting(name: str, key: str, springs: Callable[[Repository], object]) -> Trap:
    return Trap(name=name, set=_program_in(key)(name), springs=springs)


def _set_hooks(at: Repository) -> None:
    folder = at.marks.parent / "hooks"
    folder.mkdir(exist_ok=True)
    for name in ("post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"):
        shutil.copy(at.program("hooks_path"), folder / name)
    _config(at.root, ("core.hooksPath", str(folder)))


def _set_own_hook(at: Repository) -> None:
    for name in ("post-index-change", "post-checkout"):
        shutil.copy(at.program("own_hook"), at.root / ".git" / "hooks" / name)


def _set_filter(at: Repository) -> None:
    clean, smudge = at.program("clean"), at.program("smudge")
    with (at.root / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write(f'[filter "{_ODD}"]\n\tclean = {clean}\n\tsmudge = {smudge}\n\trequired = true\n')
    _attributes(at.root, f"shop/*.py filter={_ODD}")


def _set_process(at: Repository) -> None:
    _config(at.root, ("filter.proc.process", at.program("process")))
    _attributes(at.root, "test_*.py filter=proc")


def _set_included(at: Repository) -> None:
    """Settings that lie in the work tree, where no `git config` of the user's looks."""
    _config(at.root, ("filter.inc.clean", at.program("included")), file=str(at.root / "traps.cfg"))
    _config(at.root, ("include.path", "../traps.cfg"))
    _attributes(at.root, "included.txt filter=inc")


def _set_of_work_tree(at: Repository) -> None:
    _config(at.root, ("extensions.worktreeConfig", "true"))
    _config(at.root, ("filter.own.clean", at.program("of_work_tree")), file=str(at.root / ".git" / "config.worktree"))
    _attributes(at.root, "own.txt filter=own")


def _set_without_name(at: Repository) -> None:
    """`[filter ""]`: a name that is there, and empty."""
    with (at.root / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write(f'[filter ""]\n\tclean = {at.program("without_name")}\n')
    _attributes(at.root, "empty.txt filter=")


def _set_submodule(at: Repository) -> None:
    folder = at.root / ".git" / "modules" / "library"
    _config(at.root, ("core.fsmonitor", at.program("submodule_fsmonitor")), file=str(folder / "config"))
    _config(at.root, ("filter.sub.clean", at.program("submodule_filter")), file=str(folder / "config"))
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info" / "attributes").write_text("*.py filter=sub\n", encoding="utf-8")


def _set_alternate(at: Repository) -> None:
    _config(at.root, ("core.alternateRefsCommand", at.program("alternate_refs")))
    info = at.root / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{at.root.parent / 'library' / '.git' / 'objects'}\n", encoding="utf-8")


def _touch(at: Repository) -> None:
    for path in at.root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, ns=(1_000_000_000, 1_000_000_000))


def _status(*options: str) -> Callable[[Repository], object]:
    def spring(at: Repository) -> None:
        _touch(at)
        git(at.root, *options, "status", "--porcelain", check=False)

    return spring


def _with_terminal(*words: str) -> Callable[[Repository], object]:
    def spring(at: Repository) -> None:
        main, terminal = os.openpty()
        try:
            process = subprocess.Popen(
                ["git", *_QUIET, *words], cwd=at.root, env=environment(), stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal
            )
            assert process.wait(60) is not None
        finally:
            os.close(terminal)
            os.close(main)

    return spring


def _checkout(at: Repository) -> None:
    git(at.root, *_QUIET, "checkout-index", "--all", f"--prefix={at.marks.parent / 'smudged'}/", check=False)


def _ask_for_what_is_missing(at: Repository) -> None:
    git(at.root, "cat-file", "-e", "1234567890123456789012345678901234567890", check=False)


SETTINGS: Sequence[Trap] = (
    _setting("fsmonitor", "core.fsmonitor", _plain("status")),
    Trap(name="hooks_path", set=_set_hooks, springs=_status("-c", "core.fsmonitor=false")),
    Trap(name="own_hook", set=_set_own_hook, springs=_status("-c", "core.fsmonitor=false", "-c", "core.hooksPath=.git/hooks")),
    Trap(name="clean", set=_set_filter, springs=_status(*_QUIET)),
    Trap(name="smudge", set=lambda at: None, springs=_checkout),
    Trap(name="process", set=_set_process, springs=_status(*_QUIET)),
    Trap(name="included", set=_set_included, springs=_status(*_QUIET)),
    Trap(name="of_work_tree", set=_set_of_work_tree, springs=_status(*_QUIET)),
    Trap(name="without_name", set=_set_without_name, springs=_status(*_QUIET)),
    Trap(name="submodule_fsmonitor", set=_set_submodule, springs=_plain("status")),
    Trap(name="submodule_filter", set=lambda at: None, springs=_status()),
    Trap(
        name="textconv",
        set=lambda at: (_config(at.root, ("diff.tc.textconv", at.program("textconv"))), _attributes(at.root, "shop/service.py diff=tc"))[0],
        springs=_plain(*_QUIET, "diff", "--no-ext-diff", "HEAD~1", "HEAD"),
    ),
    Trap(
        name="diff_command",
        set=lambda at: (_config(at.root, ("diff.cmd.command", at.program("diff_command"))), _attributes(at.root, "shop/utils.py diff=cmd"))[
            0
        ],
        springs=_plain(*_QUIET, "diff", "HEAD~1", "HEAD", "--", "shop/utils.py"),
    ),
    _setting("external_diff", "diff.external", _plain(*_QUIET, "diff", "HEAD~1", "HEAD")),
    Trap(
        name="gpg",
        set=lambda at: _config(at.root, ("gpg.program", at.program("gpg")), ("log.showSignature", "true")),
        springs=_plain(*_QUIET, "log", "-1"),
    ),
    _setting("pager", "core.pager", _with_terminal("log", "--no-show-signature")),
    _setting("pager_of_status", "pager.status", _with_terminal("status")),
    _setting("editor", "core.editor", _plain("branch", "--edit-description")),
    _setting("credential", "credential.helper", _plain("credential", "fill", stdin="protocol=https\nhost=example.org\n\n")),
    _setting(
        "askpass", "core.askPass", _plain("-c", "credential.helper=", "credential", "fill", stdin="protocol=https\nhost=example.org\n\n")
    ),
    Trap(name="alternate_refs", set=_set_alternate, springs=lambda at: git(at.root, "receive-pack", ".", check=False, stdin="0000")),
    Trap(name="alias", set=lambda at: _config(at.root, ("alias.trap", f"!{at.program('alias')}")), springs=_plain("trap")),
)
"""All that a repository's own settings start where every object is there."""


def _set_remote(name: str, url: str, *more: tuple[str, str]) -> Callable[[Repository], None]:
    def put(at: Repository) -> None:
        own = [(key, value.replace("PROGRAM", at.program(name))) for key, value in more]
        address = url.replace("PROGRAM", at.program(name, "exit 1"))
        _config(
            at.root,
            (f"remote.{name}.url", address),
            (f"remote.{name}.promisor", "true"),
            (f"remote.{name}.partialclonefilter", "blob:none"),
            *own,
        )

    return put


REMOTES: Sequence[Trap] = (
    Trap(name="ext", set=_set_remote("ext", "ext::PROGRAM", ("protocol.ext.allow", "always")), springs=_ask_for_what_is_missing),
    Trap(name="ssh", set=_set_remote("ssh", "ssh://h.example/x", ("core.sshCommand", "PROGRAM")), springs=_ask_for_what_is_missing),
    Trap(name="proxy", set=_set_remote("proxy", "git://h.example/x", ("core.gitProxy", "PROGRAM")), springs=_ask_for_what_is_missing),
    Trap(name="upload", set=_set_remote("upload", "file:///x", ("remote.upload.uploadpack", "PROGRAM")), springs=_ask_for_what_is_missing),
)
"""What it starts where an object is missing, of a clone that says it is a partial one."""
