"""Builds a project or runs its tests: chooses, starts, reads. What could not be done or understood is a note, never an empty success."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from indexer.languages import record_of
from indexer.store.generations import Home
from query.toolchain.choose import Chosen, Surroundings, choose
from query.toolchain.diagnostics import read_problems
from query.toolchain.model import Note, Problem, Results, Run, Used
from query.toolchain.output import excerpt, lines_of, write_log
from query.toolchain.places import Places
from query.toolchain.project import Project
from query.toolchain.results import read_results
from query.toolchain.select import select_words
from query.toolchain.start import MAX_OUTPUT_BYTES, Finished, run_command
from query.toolchain.table import Kind, Toolchain

_CHECKER = Path(__file__).with_name("check_syntax.py")


class NotChosen(msgspec.Struct, kw_only=True):
    """No toolchain could be run: why each that might have been was not."""

    reasons: list[str]


def run(kind: Kind, project: Project, *, selectors: Sequence[str], timeout_s: float, home: Home | None) -> Run | NotChosen:
    """Runs the project's toolchain.

    Args:
        selectors: single tests; none for all. timeout_s: for all commands together.
        home: lspidx's folder of the workspace, for the log; None for the folder for temporary files.
    Raises:
        UsageError: selectors that the runner does not take.
    """
    chosen, refused, around = choose(kind, project)
    if chosen is None:
        return NotChosen(reasons=refused)
    scratch = Path(tempfile.mkdtemp(prefix="lspidx-run-"))
    try:
        return _run(chosen, project, around, selectors, timeout_s, home, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _run(
    chosen: Chosen, project: Project, around: Surroundings, selectors: Sequence[str], timeout_s: float, home: Home | None, scratch: Path
) -> Run:
    entry = chosen.entry
    notes = [Note(code="tool_missing", detail=text) for text in chosen.passed_over]
    began, began_ns = time.monotonic(), time.time_ns()
    environment = {**around.environment(), **entry.environment}
    report = scratch / "report"
    build = _build_folder(entry, project, home)
    commands = [_command(step, chosen, project, around, selectors, report, build) for step in entry.steps]
    done: list[Finished] = []
    for command in commands:
        left = timeout_s - (time.monotonic() - began)
        done.append(run_command(command, cwd=project.folder, environment=environment, timeout_s=max(0.0, left), into=scratch))
        if done[-1].exit_code != 0:
            break
    notes += _faults(done[-1], commands[len(done) - 1], timeout_s)
    if cut := sum(item.cut for item in done):
        notes.append(Note(code="output_cut", detail=f"{cut} bytes of output beyond {MAX_OUTPUT_BYTES} were not kept"))
    places = Places(project.root, project.folder, entry.columns, tuple(_cargo_workspaces(project)))
    results = _read(entry, done, len(commands), report, began_ns, project, places)
    results.problems = _unique(results.problems)
    exit_code = done[-1].exit_code
    if results.unread:
        notes.append(Note(code="unread_output", detail=f"{entry.name}: {results.unread}"))
    elif exit_code not in (0, None) and str(exit_code) not in entry.exit_codes and not results.problems and not results.failures:
        notes.append(Note(code="unread_output", detail=f"{entry.name} ended with {exit_code}, and nothing in its output has a known form"))
    if any("too many errors" in line for item in done for line in lines_of(item.stderr)):
        notes.append(Note(code="errors_cut", detail=f"{entry.name} stopped after its own limit of errors; there are more"))
    if (said := entry.exit_codes.get(str(exit_code))) is not None:
        notes.append(Note(code="not_all_ran", detail=f"{entry.name} ended with {exit_code}: {said}"))
    if entry.tried == "untested":
        notes.append(
            Note(code="untested_tool", detail=f"what {entry.name} prints is read by its documentation; no test of lspidx has run it")
        )
    if project.scope and entry.scope == "none":
        where = os.path.relpath(project.folder, project.root)
        notes.append(Note(code="wider_than_asked", detail=f"{entry.name} takes whole projects: '{where}' was taken, not only the path"))
    log = write_log(commands, done, home.path if home else None, f"{entry.kind}-{entry.name}")
    used = Used(
        name=entry.name,
        version=chosen.version,
        language=project.language,
        why="; ".join(filter(None, [project.why, chosen.why])),
        folder=os.path.relpath(project.folder, project.root).replace(os.sep, "/"),
        commands=commands[: len(done)],
        tried=entry.tried,
    )
    return Run(
        used=used,
        exit_code=exit_code,
        elapsed_ms=int((time.monotonic() - began) * 1000),
        results=results,
        raw=excerpt(log),
        log_file=str(log),
        notes=notes,
    )


# ---- commands


def _command(
    step: Sequence[str], chosen: Chosen, project: Project, around: Surroundings, selectors: Sequence[str], report: Path, build: str
) -> list[str]:
    """A step of the table with its words filled in."""
    entry = chosen.entry
    interpreter = around.python.interpreter if record_of(project.language).has_environment else None
    single = {
        "program": chosen.program,
        "python": str(interpreter or "python3"),
        "report": str(report),
        "build": build,
        "checker": str(_CHECKER),
    }
    several = {
        "scope": _scope(entry, project, bool(selectors)),
        "select": select_words(entry, selectors, [project.top, project.root], project.folder),
        "script": chosen.script,
    }
    words: list[str] = []
    for word in step:
        name = word[1:-1] if word.startswith("{") and word.endswith("}") else ""
        if name in several:
            words += several[name]
        else:
            for key, value in single.items():
                word = word.replace(f"{{{key}}}", value)
            words.append(word)
    return words


def _build_folder(entry: Toolchain, project: Project, home: Home | None) -> str:
    """Where a tool that wants a folder of its own builds: beside the index, one for each project. Empty for all others."""
    if not any("{build}" in word for step in entry.steps for word in step):
        return ""
    home = home or Home(project.root)
    home.create()
    name = os.path.relpath(project.folder, home.root).replace(os.sep, "-")
    return str(home.folder("toolchain") / ("root" if name == "." else name))


def _scope(entry: Toolchain, project: Project, selected: bool) -> list[str]:
    scope, place = project.scope, project.folder / project.scope
    if entry.scope == "package" and scope:
        package = scope if place.is_dir() else os.path.dirname(scope)
        return [f"./{package}/..." if place.is_dir() else f"./{package}"]
    if entry.scope in ("path", "filter") and scope:
        if selected and entry.select in ("pytest", "path"):
            return []  # they name files themselves
        end = "/" if entry.scope == "filter" and place.is_dir() else ""
        return [f"./{scope}{end}" if scope.startswith("-") else f"{scope}{end}"]
    return [entry.whole] if entry.whole else []


def _cargo_workspaces(project: Project) -> Iterator[Path]:
    """Folders above a crate, which Cargo prints paths from where they are a workspace."""
    if record_of(project.language).manager == "cargo":
        for folder in project.folder.parents:
            if folder == project.root or project.root in folder.parents:
                yield folder


# ---- what came of it


def _faults(last: Finished, command: Sequence[str], timeout_s: float) -> Iterator[Note]:
    shown = " ".join(command)[:300]
    if last.problem:
        yield Note(code="not_started", detail=last.problem)
    elif last.timed_out:
        yield Note(code="timeout", detail=f"'{shown}' was ended: all together may take {timeout_s:g} s (timeout_s)")
    elif last.exit_code is not None and last.exit_code < 0:
        yield Note(code="crashed", detail=f"'{shown}' was ended by signal {-last.exit_code}")
    if last.survivors and not last.timed_out:
        yield Note(code="left_behind", detail=f"{last.survivors} processes that it had left behind were ended")


def _read(entry: Toolchain, done: Sequence[Finished], steps: int, report: Path, began_ns: int, project: Project, places: Places) -> Results:
    """What the commands printed and wrote, as the table says that it is read."""

    def printed() -> Iterator[str]:
        for item in done:
            yield from lines_of(item.stdout)
            yield from lines_of(item.stderr)

    if entry.kind == "build":
        return Results(problems=list(read_problems(entry.reads, printed(), places)))
    if len(done) < steps:  # what the tests need could not be built
        return Results(problems=list(read_problems("any", printed(), places)), unread="what the tests need could not be built")
    reports = _reports(entry, report, began_ns, project)
    found = read_results(entry.reads, printed, reports, places)
    if not reports and entry.reads in ("junit", "surefire", "jest"):
        found.problems = list(read_problems("any", printed(), places))
    return found


def _reports(entry: Toolchain, report: Path, began_ns: int, project: Project) -> list[Path]:
    """Files that this run has written: where we asked for them, else where the tool always does."""
    if not entry.reports:
        return [report] if report.is_file() else []
    found = {path for pattern in entry.reports for path in project.folder.glob(pattern)}
    return sorted(path for path in found if path.is_file() and path.stat().st_mtime_ns >= began_ns)


def _unique(problems: Sequence[Problem]) -> list[Problem]:
    """Each once: Cargo reports a file for each target that it is compiled into."""
    return list({msgspec.json.encode(problem): problem for problem in problems}.values())
