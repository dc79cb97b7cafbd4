"""`--fetch`: runs the download steps of a workspace's build tools, with the user's consent and outside of the fence.

A step names what it may execute and the trust that this takes; a step that would execute more than is trusted is not run, and its
outcome says so. A step gets the user's variables (registries ask for tokens) and no open file of this process; processes that it leaves
running are ended with it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from indexer import plain_files
from indexer.drive.process import MARK, clean_environment, end_marked, prepare_child
from indexer.errors import UnsafeIndex
from indexer.git_command import environment_for_fetching
from indexer.model import Trust
from indexer.prerequisites import Step
from indexer.sandbox import lies_in, safe_path

log = logging.getLogger(__name__)

_TAIL_CHARS = 1_500
_PROTOCOLS = "http:https:ssh:git"
"""Of git, unless the user says so by GIT_ALLOW_PROTOCOL: no manifest brings the text of a repository on this machine (`file`)."""


_LEFT = (
    "'{command}' is not run, since what came before took more than {most_s:g} s (max_fetch_s); the next --fetch begins with it; without a "
    "limit: LSPIDX_MAX_FETCH_S=0"
)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a step: `problem` is empty where it succeeded."""

    language: str
    command: list[str]
    problem: str = ""


def fetch(
    steps: Iterable[Step],
    trust: Trust,
    *,
    avoid: Sequence[str],
    say: Callable[[str], None],
    most_s: float = 0.0,
    clock: Callable[[], float] = time.monotonic,
) -> list[Outcome]:
    """Runs each step before it takes the next one; a failed one does not keep the others from being run.

    Args:
        avoid: folders of the workspace: no program of theirs is taken for the command.
        say: told what runs, and what went wrong.
        most_s: seconds after which no step is begun for a project beside the first; 0 for no limit.
    """
    outcomes: list[Outcome] = []
    left: set[Path] = set()
    begun = clock()
    for step in steps:
        is_left = step.is_beside and 0 < most_s < clock() - begun
        problem = _LEFT.format(command=" ".join(step.command), most_s=most_s) if is_left else _run(step, trust, avoid, say)
        if problem and not (is_left and step.cwd in left):  # what would have been tried next there is left with it
            say(f"fetch {step.language}: {problem}")
        left.update({step.cwd} if is_left else ())
        outcomes.append(Outcome(language=step.language, command=step.command, problem=problem))
    return outcomes


def _prepare(step: Step) -> None:
    """Makes the folders and files that the command needs.

    Raises:
        OSError: they cannot be made. UnsafeIndex: a link leads out of the folders that the step may change.
    """
    for folder in filter(None, (*step.writes, step.runs_in)):
        folder.mkdir(parents=True, exist_ok=True)
    own = [os.path.realpath(folder) for folder in step.writes]
    for relative, text in step.files.items():
        path = step.cwd / relative
        if not lies_in(os.path.realpath(path.parent), own):
            raise UnsafeIndex(f"'{path.parent}' leads out of what the step may change; remove it")
        path.parent.mkdir(parents=True, exist_ok=True)
        plain_files.write_whole(path, text.encode("utf-8", "replace"))


def _run(step: Step, trust: Trust, avoid: Sequence[str], say: Callable[[str], None]) -> str:
    shown = " ".join(step.command)
    if not trust.covers(step.level):
        return f"'{shown}' is not run: it would execute {step.executes}; to allow that: --trust {step.level}"
    environment = environment_for_fetching(step.cwd, clean_environment(step.environment))
    environment.setdefault("GIT_ALLOW_PROTOCOL", _PROTOCOLS)
    environment["PATH"] = safe_path(environment.get("PATH", ""), avoid)
    program = shutil.which(step.command[0], path=environment["PATH"])
    if program is None:
        return f"'{step.command[0]}' is not on PATH; install it, or run yourself: {shown}"
    try:
        _prepare(step)
    except (OSError, UnsafeIndex) as error:
        return f"'{shown}' is not run: {error}"
    if step.without:
        say(f"fetch {step.language}: not fetched, since it comes from no registry: {', '.join(step.without)}")
    say(f"fetch {step.language}: {shown}")
    mark = ".".join(filter(None, (os.environ.get(MARK, ""), uuid.uuid4().hex)))
    try:
        with subprocess.Popen(
            [program, *step.command[1:]],
            cwd=step.runs_in or step.cwd,
            env={**environment, MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # no terminal to type into, and a group that can be ended
            preexec_fn=partial(prepare_child, None),
        ) as process:
            try:
                output, _ = process.communicate(timeout=step.timeout_s)
            finally:
                if process.returncode is None:  # afterwards the number may be another's
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.killpg(process.pid, signal.SIGKILL)
                end_marked(mark)
    except (OSError, subprocess.SubprocessError) as error:
        return f"'{shown}' failed: {error}"
    if process.returncode:
        tail = output.decode("utf-8", "replace")[-_TAIL_CHARS:].strip()
        log.warning("fetch failed: command=%s status=%d output=%s", shown, process.returncode, tail)
        return f"'{shown}' ended with {process.returncode}: {tail}"
    return ""
