"""What the answers of `run_build` and `run_tests` share: where the project is, envelope, lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

import msgspec

from query.answers.envelope import Answer, Provenance, Reason, completeness_from, unindexed
from query.answers.pages import Extent
from query.answers.style import Style, one_line, printable
from query.context import Workspace
from query.toolchain.model import Problem, Run, Used
from query.toolchain.project import Project, find_project
from query.toolchain.run import NotChosen
from query.toolchain.table import Kind

R = TypeVar("R")


class Outcome(Protocol):
    """What both results have."""

    tool: Used | None
    raw: str
    raw_file: str
    also: list[str]


def project_of(kind: Kind, workspace: Workspace, workspace_dir: str, path: str, language: str) -> Project:
    """The project that is meant; nothing outside the folder that lspidx was started in, or the index's root, is built.

    Raises:
        UsageError: as `find_project`.
    """
    root = workspace.root if workspace.index is None else workspace.index.root
    return find_project(kind, [root, workspace.root], workspace.root, workspace_dir, path, language)


def ended(run: Run) -> bool:
    """Whether all its commands ended by themselves, with 0."""
    return run.exit_code == 0


def of_run(workspace: Workspace, ask: msgspec.Struct, result: R, extent: Extent, run: Run | NotChosen) -> Answer[R]:
    """The answer that tells of a run: partial with the reasons that the run has."""
    if isinstance(run, NotChosen):
        looked = "; ".join(run.reasons)
        reasons = [Reason(code="tool_missing", detail=f"nothing was run: {looked}")]
        servers, elapsed_ms = [], 0
    else:
        reasons = [Reason(code=note.code, detail=note.detail) for note in run.notes]
        servers, elapsed_ms = [f"{run.used.name} {run.used.version}"], run.elapsed_ms
    return workspace.answer(ask, result, extent, completeness_from(reasons), unindexed(servers, elapsed_ms))


def run_lines(
    verdict: str, good: bool, counts: str, result: Outcome, problems: Sequence[Problem], provenance: Provenance, style: Style
) -> Iterator[str]:
    """The verdict, each problem with its place, and the output where there is none to say what went wrong."""
    shown = style.good(verdict) if good else style.warning(verdict)
    yield f"{shown}{f': {counts}' if counts else ''}"
    if result.tool is not None:
        used = result.tool
        yield style.dim(f"{used.name} {used.version} in {one_line(used.folder)}, {provenance.elapsed_ms} ms; {one_line(used.why)}")
        for command in used.commands:
            yield style.dim(f"$ {one_line(' '.join(command))}")
    for item in problems:
        first, *rest = printable(item.message).split("\n")
        place = f"{style.place(item.path, item.line, item.col)}  " if item.path else ""
        code = f"  {style.dim(f'[{one_line(item.code)}]')}" if item.code else ""
        yield f"{place}{style.kind(item.severity)} {first}{code}"
        yield from (f"    {line}" for line in rest)
    if result.raw and not good and not problems:
        yield ""
        yield from printable(result.raw.replace("\r", "")).rstrip("\n").split("\n")
    if result.raw_file:
        yield style.dim(f"all of the output: {result.raw_file}")
    if result.also:
        yield f"not looked at, though it has one of its own: {', '.join(result.also)}"
