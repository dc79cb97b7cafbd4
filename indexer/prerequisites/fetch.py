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
import uuid
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from indexer.drive.process import MARK, clean_environment, end_marked, prepare_child
from indexer.git_command import environment_for_fetching
from indexer.model import Trust
from indexer.prerequisites import Step
from indexer.sandbox import safe_path

log = logging.getLogger(__name__)

_TAIL_CHARS = 1_500


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a step: `problem` is empty where it succeeded."""

    language: str
    command: list[str]
    problem: str = ""


def fetch(steps: Sequence[Step], trust: Trust, *, avoid: Sequence[str], say: Callable[[str], None]) -> list[Outcome]:
    """Runs the steps in order; a failed one does not keep the others from being run.

    Args:
        avoid: folders of the workspace: no program of theirs is taken for the command.
        say: told what runs, and what went wrong.
    """
    outcomes: list[Outcome] = []
    for step in steps:
        problem = _run(step, trust, avoid, say)
        if problem:
            say(f"fetch {step.language}: {problem}")
        outcomes.append(Outcome(language=step.language, command=step.command, problem=problem))
    return outcomes


def _run(step: Step, trust: Trust, avoid: Sequence[str], say: Callable[[str], None]) -> str:
    shown = " ".join(step.command)
    if not trust.covers(step.level):
        return f"'{shown}' is not run: it would execute {step.executes}; to allow that: --trust {step.level}"
    environment = environment_for_fetching(step.cwd, clean_environment(step.environment))
    environment["PATH"] = safe_path(environment.get("PATH", ""), avoid)
    program = shutil.which(step.command[0], path=environment["PATH"])
    if program is None:
        return f"'{step.command[0]}' is not on PATH; install it, or run yourself: {shown}"
    for folder in step.writes:
        folder.mkdir(parents=True, exist_ok=True)
    for relative, text in step.files.items():
        path = step.cwd / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    say(f"fetch {step.language}: {shown}")
    mark = ".".join(filter(None, (os.environ.get(MARK, ""), uuid.uuid4().hex)))
    try:
        with subprocess.Popen(
            [program, *step.command[1:]],
            cwd=step.cwd,
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
