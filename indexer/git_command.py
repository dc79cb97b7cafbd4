"""The one door to git: nothing else in lspidx starts it, and nothing that a repository says starts a program or reaches the network.

Before the first command in a folder git lists all settings that hold there (one call, kept until one of the files differs); what of
them could start something is overridden by name (`git_settings`). That call shows as well that this git takes overrides, so that an
old one is refused and not trusted. The environment is the caller's without git's own variables. ADR 0024 has the table.
"""

from __future__ import annotations

import functools
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from indexer.errors import Bug, UsageError
from indexer.git_places import check_place, common_directory, directory, holder, line_of
from indexer.git_settings import FIXED, OF_REPOSITORY, Setting, as_variables, filters, for_fetching, overrides, parse

if TYPE_CHECKING:
    import subprocess

    import git

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "cat-file": (),
    "check-attr": (),
    "check-ignore": (),
    "checkout-index": (),
    "diff": ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"),
    "hash-object": (),
    "log": ("--no-ext-diff", "--no-textconv", "--no-show-signature"),
    "ls-files": (),
    "ls-tree": (),
    "merge-base": (),
    "read-tree": (),
    "rev-list": (),
    "rev-parse": (),
    "status": ("--ignore-submodules=dirty",),
    "symbolic-ref": (),
    "worktree": (),
}
"""The commands that are ever run, and what each is told first. Into a submodule git would look with the settings of that: it never does."""

_KEPT = frozenset(
    {
        "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_TEST_ASSUME_DIFFERENT_OWNER",  # only refuses more
    }
)  # fmt: skip
"""Variables of git that the user may set for us. All others are dropped: hooks set them for one repository, and some start programs."""

_OF_ONE_REPOSITORY = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_EXTERNAL_DIFF", "GIT_INDEX_FILE",
        "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_WORK_TREE",
    }
)  # fmt: skip
"""What git gives its hooks, and what would go before our settings."""

_DROPPED = ("SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "PAGER", "EDITOR", "VISUAL")

_OURS: Mapping[str, str] = {
    "GIT_ALLOW_PROTOCOL": "none",  # goes before protocol.*.allow, under whatever name
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
    "LANGUAGE": "C",
}

_PATIENCE_S = 600.0
_PATIENCE_WITH_SETTINGS_S = 60.0
_OWN_FILES = ("HEAD", "index", "commondir", "gitdir", "info/sparse-checkout")
_PATTERNS = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
_LOOKS_AFTER_S = 2.0
_COMMON_FILES = (
    "packed-refs", "shallow", "info/attributes", "info/exclude", "info/grafts", "objects/info/alternates", "objects/info/commit-graph",
)  # fmt: skip
_MOST_MEMORY_KB = 4_000_000
_SHELL = "/bin/sh"
_MOST_OVERRIDES = 5_000
_DUBIOUS = ("dubious ownership", "unsafe repository")
_TOO_OLD = "git does not take settings from its environment; lspidx needs git 2.31 or newer"


class GitFailed(UsageError):
    """Git ended with an error. `status`: its exit code; `said`: its own words."""

    def __init__(self, message: str, *, status: int, said: str) -> None:
        super().__init__(message)
        self.status = status
        self.said = said


class OfAnother(UsageError):
    """Git refuses a repository that belongs to another user; the message has its remedy."""


class Endless(UsageError):
    """Git waits for a pipe among the files that it reads, and was ended; the message names it."""


class _Door(NamedTuple):
    """What is known of a folder: git's program, all variables for it, and the settings that hold there."""

    program: str
    variables: dict[str, str]
    settings: list[Setting]
    stamp: object
    """Of the files that the settings are from; None where they may change unseen, so that they are read again each time."""


_doors: dict[str, _Door] = {}


def run(folder: Path, *words: str, stdin: bytes | None = None, listing: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Runs one of `COMMANDS` in a folder. Where there is no repository around it, git is not even started.

    Args:
        stdin: what git reads.
        listing: a file in place of the repository's own index, which then stays as it is.
    Raises:
        UsageError: there is no git, or it is too old, or cannot read its settings, or does not answer, or refuses a repository that
            somebody else owns; then with git's own remedy.
    """
    import subprocess  # here and below: who only asks for the root of a workspace starts nothing, and 10 ms count in a question

    command = _told(words)
    if holder(folder) is None:
        return subprocess.CompletedProcess(command, 128, b"", b"fatal: not a git repository (or any of the parent directories): .git\n")
    door = _door(folder)
    variables = {**door.variables, **({"GIT_INDEX_FILE": str(listing)} if listing else {})}
    done = _start([door.program, *command], folder, variables, stdin=stdin, patience_s=_PATIENCE_S)
    if done.returncode == 128:
        _refuse_of_others(done.stderr.decode("utf-8", "replace"))
    return done


def text(folder: Path, *words: str) -> str | None:
    """What git says, as text; None where it fails or there is no repository."""
    done = run(folder, *words)
    return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else None


def gitpython(folder: Path) -> git.Git:
    """GitPython's commands in a folder, behind the same door: `gitpython(root).ls_files("-z")`. They raise GitFailed.

    Of GitPython only this is used. Its `Repo` finds repositories and reads their settings by itself, and follows where they lead.
    """
    door = _door(folder)
    return _class(door.program)(str(folder), door.variables)


def switched_off(folder: Path) -> set[str]:
    """Names of the filters that git would run here, were it not for us: git-lfs, for one."""
    return filters(_door(folder).settings) if holder(folder) is not None else set()


def environment_for_fetching(folder: Path, caller: Mapping[str, str]) -> dict[str, str]:
    """Of a build tool outside of the fence, which may start git in the workspace: what a repository says starts no program there.

    What the user's own settings say about ssh, credentials and protocols stays in force. What points git to one repository is dropped.

    Args:
        caller: the tool's environment.
    """
    kept = {name: value for name, value in caller.items() if name not in _OF_ONE_REPOSITORY}
    try:
        settings = _door(folder).settings if holder(folder) is not None else []
    except UsageError:  # no git, which whoever needs it says better
        return kept
    return {**kept, **as_variables(for_fetching(settings), after=caller), "GIT_TERMINAL_PROMPT": "0"}


def variables_within_the_fence() -> dict[str, str]:
    """For a server that may start git where it is confined: the fixed settings. They cost no call, and the fence holds without them."""
    return {**as_variables(FIXED, after={}), "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


# ---- what holds in a folder


def _door(folder: Path) -> _Door:
    key = os.path.realpath(folder)
    top = holder(folder)
    known = _doors.get(key)
    if known is not None and known.stamp is not None and known.stamp == _stamp(top):
        return known
    found = _doors[key] = _look(folder, top)
    return found


def _look(folder: Path, top: Path | None) -> _Door:
    """Asks git for all settings, with includes and those of this work tree, under the fixed overrides."""
    from indexer.sandbox import lies_in, safe_path

    stamp = _stamp(top)
    avoid = [os.path.abspath(folder), *([str(top)] if top else [])]
    path = safe_path(os.environ.get("PATH", os.defpath), avoid)
    program = shutil.which("git", path=path)
    if program is None or lies_in(program, avoid):
        raise UsageError("git is not installed, so nothing is known of commits and changes; install git")
    base = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    base = {name: value for name, value in base.items() if name not in _DROPPED} | {"PATH": path, **_OURS}
    listed = _start(
        [program, "config", "--list", "-z", "--show-scope"],
        folder,
        {**base, **as_variables(FIXED, after=os.environ)},
        stdin=None,
        patience_s=_PATIENCE_WITH_SETTINGS_S,
    )
    said = listed.stderr.decode("utf-8", "replace").strip()
    if listed.returncode:
        _refuse_of_others(said)
        raise UsageError(_TOO_OLD if listed.returncode == 129 else f"git cannot read its settings in '{folder}': {said}")
    found = parse(listed.stdout)
    settings, ours = found[: -len(FIXED)], found[-len(FIXED) :]  # those of the command line come last
    if ours != [Setting("command", key.lower(), value) for key, value in FIXED]:
        raise UsageError(_TOO_OLD)
    pairs = [*overrides(settings), *_files_of(settings, top)]
    if len(pairs) > _MOST_OVERRIDES:
        raise UsageError(f"the settings of the repository around '{folder}' name {len(pairs)} programs; lspidx does not touch it")
    variables = {**base, **as_variables(pairs, after=os.environ), **_places(settings, top)}
    own = [item for item in settings if item.scope in OF_REPOSITORY]
    may_change = not own or any(item.key.split(".")[0].lower() in ("include", "includeif") for item in own)
    return _Door(program, variables, settings, None if may_change else stamp)


def _files_of(settings: Sequence[Setting], top: Path | None) -> list[tuple[str, str]]:
    """Lists of patterns that the repository names: as the user's own say, where they are no plain files of the work tree."""
    from indexer.sandbox import lies_in

    pairs: list[tuple[str, str]] = []
    for key, name in (("core.excludesfile", "ignore"), ("core.attributesfile", "attributes")):
        said = [item for item in settings if item.key == key]
        if not said or said[-1].scope not in OF_REPOSITORY:
            continue
        place = os.path.join(top or "", said[-1].value)
        if top is None or not (lies_in(place, [str(top)]) and os.path.isfile(place) and os.path.realpath(place) == os.path.abspath(place)):
            users = [item.value for item in said if item.scope not in OF_REPOSITORY]
            pairs.append((key, users[-1] if users else _users_file(name)))
    return pairs


def _users_file(name: str) -> str:
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.environ.get("HOME", "/"), ".config")
    return os.path.join(folder, "git", name)


def _places(settings: Sequence[Setting], top: Path | None) -> dict[str, str]:
    """The work tree is where its `.git` lies, whatever `core.worktree` says; a hook's index counts for its own repository only."""
    variables: dict[str, str] = {}
    if top is None:
        return variables
    if any(item.key == "core.worktree" and item.scope in OF_REPOSITORY for item in settings):
        variables["GIT_WORK_TREE"] = str(top)
    listing = os.environ.get("GIT_INDEX_FILE")
    if listing:
        place = os.path.join(top, listing)
        if os.path.realpath(os.path.dirname(place)) == os.path.realpath(directory(top)):
            variables["GIT_INDEX_FILE"] = place
    return variables


def _stamp(top: Path | None) -> object:
    """Of the files that settings are from, by which a change of them is seen.

    Raises:
        UsageError: one of the repository's is no plain file, so that reading it might never end.
    """
    home = os.environ.get("HOME", "/")
    users = (
        os.environ.get("GIT_CONFIG_GLOBAL"),
        os.path.join(home, ".gitconfig"),
        os.path.join(os.path.dirname(_users_file("")), "config"),
    )
    stamps = [_stamp_of(path) for path in users if path]
    if top is not None:
        own = directory(top)
        for path in (top / ".git", own / "config", own / "config.worktree", common_directory(own) / "config"):
            found = _stamp_of(path)
            if found and not stat.S_ISREG(found[0]) and not (stat.S_ISDIR(found[0]) and path == top / ".git"):
                raise _no_plain_file(path, top)
            stamps.append(found)
        _check_own_files(top, own)
        check_place(top, own)
    names = (*_KEPT, "PATH", "GIT_INDEX_FILE", "GIT_CONFIG_COUNT")
    return (*stamps, *(os.environ.get(name) for name in names))


def _check_own_files(top: Path, own: Path) -> None:
    """Git reads some files of its own to their end, whatever they are: a pipe has none, nor has a link to `/dev/zero`."""
    common = common_directory(own)
    head = line_of(own / "HEAD")
    named = [head.removeprefix("ref:").strip()] if head.startswith("ref:") else []
    for path in (*(own / name for name in _OWN_FILES), *(common / name for name in (*_COMMON_FILES, *named))):
        found = _stamp_of(path)
        if found and not stat.S_ISREG(found[0]) and not stat.S_ISDIR(found[0]):
            raise _no_plain_file(path, top)


def _no_plain_file(path: Path, top: Path) -> UsageError:
    return UsageError(f"'{path}' is no plain file, so git cannot be asked about '{top}'")


def _stamp_of(path: str | Path) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ()
    if stat.S_ISDIR(found.st_mode):  # its own time changes with each command of git's
        return (found.st_mode, found.st_ino)
    return (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


# ---- starting it


def _told(words: Sequence[str]) -> list[str]:
    if not words or words[0] not in COMMANDS:
        raise Bug(f"no command of git that may be run: {words[:1]}; see indexer.git_command.COMMANDS")
    return [words[0], *COMMANDS[words[0]], *words[1:]]


def _start(
    command: Sequence[str], folder: Path, variables: Mapping[str, str], *, stdin: bytes | None, patience_s: float
) -> subprocess.CompletedProcess[bytes]:
    import subprocess

    given = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    try:
        process = subprocess.Popen(
            [*_bounded(), *command], cwd=folder, env=variables, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as error:
        raise UsageError(f"git cannot be started in '{folder}': {error.strerror}") from error
    with process:
        try:
            out, said = _ended(process, folder, stdin, patience_s)
        except subprocess.TimeoutExpired as error:
            raise UsageError(f"git {command[1]} has not ended after {patience_s:.0f} s in '{folder}'") from error
        finally:
            process.kill()  # without effect on one that has ended
    return subprocess.CompletedProcess(command, process.returncode, out, said)


def _ended(process: subprocess.Popen[bytes], folder: Path, stdin: bytes | None, patience_s: float) -> tuple[bytes, bytes]:
    """What git printed. One that takes long is perhaps waiting for a pipe in the work tree that is called as what it reads."""
    import subprocess

    try:
        return process.communicate(stdin, timeout=min(_LOOKS_AFTER_S, patience_s))
    except subprocess.TimeoutExpired:
        top = holder(folder)
        found = _endless(top) if top is not None else None
        if top is not None and found is not None:
            raise Endless(str(_no_plain_file(found, top))) from None
        return process.communicate(timeout=max(0.0, patience_s - _LOOKS_AFTER_S))


def _endless(top: Path) -> Path | None:
    """A file of patterns in the work tree that is a pipe, a socket or a device, or a pipe among git's own files.

    Of its own git reads far more than `_check_own_files` looks at each time: objects, parts of an index, submodules' settings.
    """
    for folder, _, names in os.walk(top):
        for name in _PATTERNS.intersection(names):
            place = Path(folder, name)
            try:
                mode = place.lstat().st_mode
            except OSError:  # gone since it was listed
                continue
            if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
                return place
    own = directory(top)
    for kept in dict.fromkeys((own, common_directory(own))):
        for folder, _, names in os.walk(kept):
            for name in names:
                place = Path(folder, name)
                if (found := _stamp_of(place)) and stat.S_ISFIFO(found[0]):
                    return place
    return None


def _bounded() -> list[str]:
    """What goes before git, so that a file of its own without an end (a link to `/dev/zero`) does not take all of the machine's memory."""
    if not os.access(_SHELL, os.X_OK):
        return []
    return [_SHELL, "-c", f'ulimit -d {_MOST_MEMORY_KB} 2>/dev/null; exec "$@"', "sh"]


def _refuse_of_others(said: str) -> None:
    """Git's own safeguard against what another user has put there is kept, and its remedy is shown as it is."""
    if any(mark in said for mark in _DUBIOUS):
        raise OfAnother(f"git refuses this repository, since it belongs to another user. {said.removeprefix('fatal: ').strip()}")


@functools.cache
def _class(program: str) -> Any:
    """GitPython's class of commands, made ours. At its import GitPython starts `git version`: this program, not the PATH's first."""
    before = os.environ.get("GIT_PYTHON_GIT_EXECUTABLE")
    os.environ["GIT_PYTHON_GIT_EXECUTABLE"] = program
    try:
        import git
    finally:
        if before is None:
            del os.environ["GIT_PYTHON_GIT_EXECUTABLE"]
        else:
            os.environ["GIT_PYTHON_GIT_EXECUTABLE"] = before

    class Commands(git.Git):
        """Runs in one folder, with the variables of the door and no other ones of git's."""

        GIT_PYTHON_GIT_EXECUTABLE = program
        __slots__ = ("_variables",)

        def __init__(self, folder: str, variables: Mapping[str, str]) -> None:
            super().__init__(folder)
            self._variables = variables

        def execute(self, command: Any, *args: Any, **options: Any) -> Any:
            """In place of GitPython's, which hands down all of our own environment and waits by its own rules."""
            istream, strips = options.pop("istream", None), options.pop("strip_newline_in_stdout", True)
            with_exceptions = options.pop("with_exceptions", True)
            if args or options:
                raise Bug(f"no option of a command of git here: {sorted(options)}")
            told, folder = [program, *_told(list(command)[1:])], Path(str(self.working_dir))
            stdin = istream.read() if istream is not None else None
            done = _start(told, folder, self._variables, stdin=stdin, patience_s=_PATIENCE_S)
            if done.returncode:
                said = done.stderr.decode("utf-8", "replace").strip()
                _refuse_of_others(said)
                if with_exceptions:
                    raise GitFailed(f"git {told[1]} failed in '{folder}': {said}", status=done.returncode, said=said)
            text = done.stdout.decode("utf-8", "surrogateescape")
            return text.removesuffix("\n") if strips else text

    return Commands
