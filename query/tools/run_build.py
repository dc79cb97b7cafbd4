"""Builds the project with its own tools, which run its code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Workspace
from query.surface.registry import workspace_tool
from query.toolchain.answers import ended, of_run, project_of, run_lines
from query.toolchain.model import Problem, Used
from query.toolchain.run import NotChosen, run
from query.toolchain.table import languages, tried_text

MAX_PROBLEMS = 200


class RunBuild(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    workspace_dir: Annotated[str, msgspec.Meta(description="root of the project; empty: the current folder")] = ""
    path: Annotated[
        str, msgspec.Meta(description="only this folder or file, relative to workspace_dir, where the tool can; else its project")
    ] = ""
    language: Annotated[
        str,
        msgspec.Meta(
            description=f"{', '.join(languages('build'))}; by default what project files and sources say; {tried_text('build')}",
        ),
    ] = ""
    timeout_s: Annotated[int, msgspec.Meta(ge=1, le=7_200, description="after which the build is ended")] = 600


class BuildResult(msgspec.Struct, kw_only=True):
    """`success`: the tool ended with 0. At most 200 `errors` and `warnings` each of `counts`, in the tool's order.

    `tool` is None where none could be run: the reasons say why. `raw`: head and tail of the output, all of it is in `raw_file`.
    """

    success: bool
    tool: Used | None
    errors: list[Problem]
    warnings: list[Problem]
    counts: dict[str, int]
    exit_code: int | None = None
    raw: str = ""
    raw_file: str = ""
    also: list[str] = []


def _text(answer: Answer[BuildResult], style: Style) -> Iterator[str]:
    result = answer.result
    verdict = "no build was run" if result.tool is None else "built" if result.success else "the build failed"
    counts = ", ".join(f"{number} {name}" for name, number in result.counts.items() if number)
    yield from run_lines(verdict, result.success, counts, result, [*result.errors, *result.warnings], answer.provenance, style)


@workspace_tool(
    "run_build",
    parameters=RunBuild,
    result=BuildResult,
    positional="path",
    example="run_build shortcuts.py",
    task="run",
    hint="compile does it compile check types make cargo go tsc mypy",
    text=_text,
    bare=True,
    read_only=False,
    destructive=True,
    concurrency_safe=False,
    runs=True,
)
def TOOL(workspace: Workspace, ask: RunBuild) -> Answer[BuildResult]:
    """Builds or type-checks the project with its own tools (this runs its code), and says where it fails."""
    project = project_of("build", workspace, ask.workspace_dir, ask.path, ask.language)
    done = run("build", project, selectors=[], timeout_s=ask.timeout_s, home=workspace.index.home if workspace.index else None)
    if isinstance(done, NotChosen):
        result = BuildResult(success=False, tool=None, errors=[], warnings=[], counts={"errors": 0, "warnings": 0}, also=project.also)
        return of_run(workspace, ask, result, all_of(0), done)
    errors = [item for item in done.results.problems if item.severity == "error"]
    warnings = [item for item in done.results.problems if item.severity == "warning"]
    result = BuildResult(
        success=ended(done),
        tool=done.used,
        errors=errors[:MAX_PROBLEMS],
        warnings=warnings[:MAX_PROBLEMS],
        counts={"errors": len(errors), "warnings": len(warnings)},
        exit_code=done.exit_code,
        raw=done.raw,
        raw_file=done.log_file,
        also=project.also,
    )
    cut = max(len(errors), len(warnings)) > MAX_PROBLEMS
    return of_run(workspace, ask, result, all_of(len(errors), cut_short=cut), done)
