"""Runs the project's tests with its own runner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style, one_line
from query.context import Workspace
from query.surface.registry import workspace_tool
from query.toolchain.answers import ended, of_run, project_of, run_lines
from query.toolchain.model import Counts, Failure, Note, Problem, Used
from query.toolchain.run import NotChosen, run
from query.toolchain.table import languages, tried_text

MAX_FAILURES = 200


class RunTests(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    workspace_dir: Annotated[str, msgspec.Meta(description="root of the project; empty: the current folder")] = ""
    path: Annotated[
        str, msgspec.Meta(description="only this folder or file, relative to workspace_dir, where the runner can; else its project")
    ] = ""
    language: Annotated[
        str,
        msgspec.Meta(
            description=f"{', '.join(languages('test'))}; by default what project files and sources say; {tried_text('test')}",
        ),
    ] = ""
    selectors: Annotated[
        list[str],
        msgspec.Meta(
            description="only these tests, as detect_changes names them: tests/test_a.py::test_b, TestB/TestC, geo::tests::adds, a.test.ts"
        ),
    ] = []
    timeout_s: Annotated[int, msgspec.Meta(ge=1, le=7_200, description="after which the run is ended")] = 600


class TestRun(msgspec.Struct, kw_only=True):
    """`passed`: the runner ended with 0, at least one test ran, none failed. At most 200 `failures` of counts.failed.

    `counts` is None where it could not be told how many tests ran. `errors`: what could not be compiled, so that tests could not run.
    `tool` is None where none could be run: the reasons say why. `raw`: head and tail of the output, all of it is in `raw_file`.
    """

    __test__ = False  # no test case for pytest

    passed: bool
    tool: Used | None
    counts: Counts | None
    failures: list[Failure]
    errors: list[Problem]
    exit_code: int | None = None
    raw: str = ""
    raw_file: str = ""
    also: list[str] = []


def _text(answer: Answer[TestRun], style: Style) -> Iterator[str]:
    result = answer.result
    verdict = "no tests were run" if result.tool is None else "passed" if result.passed else "not passed"
    counts = "" if result.counts is None else ", ".join(f"{number} {name}" for name, number in msgspec.to_builtins(result.counts).items())
    failures = [
        Problem(severity="error", message=f"{item.test_name}: {item.message}", path=item.path, line=item.line, col=item.col)
        for item in result.failures
    ]
    yield from run_lines(verdict, result.passed, counts, result, [*result.errors, *failures], answer.provenance, style)


@workspace_tool(
    "run_tests",
    parameters=RunTests,
    result=TestRun,
    positional="path",
    example="run_tests tests",
    task="run",
    hint="test suite pytest go test cargo test vitest jest failures",
    text=_text,
    bare=True,
    read_only=False,
    destructive=True,
    concurrency_safe=False,
    runs=True,
)
def TOOL(workspace: Workspace, ask: RunTests) -> Answer[TestRun]:
    """Runs the project's tests with its own runner (this runs its code): counts, and each failure with its place."""
    project = project_of("test", workspace, ask.workspace_dir, ask.path, ask.language)
    home = workspace.index.home if workspace.index else None
    done = run("test", project, selectors=ask.selectors, timeout_s=ask.timeout_s, home=home)
    if isinstance(done, NotChosen):
        result = TestRun(passed=False, tool=None, counts=None, failures=[], errors=[], also=project.also)
        return of_run(workspace, ask, result, all_of(0), done)
    counts, failures = done.results.counts, done.results.failures
    errors = [item for item in done.results.problems if item.severity == "error"]
    if counts is not None and not counts.ran and not errors:
        skipped = f"; {counts.skipped} were skipped" if counts.skipped else ""
        done.notes.append(Note(code="no_tests_ran", detail=f"{one_line(done.used.name)} ran no test{skipped}"))
    result = TestRun(
        passed=ended(done) and counts is not None and counts.ran > 0 and counts.failed == 0,
        tool=done.used,
        counts=counts,
        failures=failures[:MAX_FAILURES],
        errors=errors[:MAX_FAILURES],
        exit_code=done.exit_code,
        raw=done.raw,
        raw_file=done.log_file,
        also=project.also,
    )
    total = counts.failed if counts is not None else len(failures)
    cut = max(len(failures), len(errors), total) > MAX_FAILURES
    return of_run(workspace, ask, result, all_of(total, cut_short=cut), done)
